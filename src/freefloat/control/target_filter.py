"""Target filter: pose, tumble and inertia ratios of a free client, from pictures of one of its frames alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.control.measured import own_frame_pose
from freefloat.control.picture_update import (
    Disturbance,
    Picture,
    PictureNoise,
    TargetEstimate,
    TargetView,
    correct_estimate,
    innovation,
    innovation_gate,
    predict_estimate,
)
from freefloat.control.target_errors import error_channels, error_values, true_target_state
from freefloat.control.target_guess import TargetGuess
from freefloat.control.target_motion import POSE_ERRORS, AssumedBody, TargetState, point_velocity, propagate_state
from freefloat.control.visual_servo import TICK_ROUNDING, PastPoses
from freefloat.dynamics import composite_inertia, frame_pose
from freefloat.model import Clock, Measurements, Software, Spacecraft, Truth
from freefloat.model.part_kinds import ticks_in
from freefloat.spatial.rotations import quaternion_conjugate, quaternion_multiply, rotation_matrix
from freefloat.values import SoftwareError, record, static
from freefloat.values.arrays import Flag, Numeric, Scalar, Vec3
from freefloat.values.channels import NOT_SEEN_YET, Channel, flag
from freefloat.values.checks import require_all, require_bounds
from freefloat.values.tracing import cond

CONDITIONS = ("tracking", NOT_SEEN_YET, "lost", "pictures refused")


@record
class FilterMemory:
    """Past poses of the camera, the estimate, and the record of the pictures."""

    past: PastPoses
    belief: TargetEstimate
    started: Flag
    looked: Scalar  # when the latest picture was taken that was evaluated [s]
    used: Scalar  # when the latest picture was taken that was used [s]
    refused: Numeric  # int32: pictures rejected since
    nis: Scalar  # normalised innovation squared of the latest picture


@record
class TargetFilter(Software[FilterMemory]):
    """Estimates a free, rigid client from a camera on `frame`; other software reads the estimate like measurements.

    Its messages are position, attitude, velocity and rate of the client's base and of `target`,
    `target.inertia_ratios` (xx, yy, zz, xy, xz, yz of the inertia over its trace) and `target.sigma` (20,) of the
    errors in `target_motion`. Own position, attitude and joints are taken as measured.

    A late picture is used at the time when it was taken: the estimate stays there, and the messages are predicted to
    now by free motion. The camera's poses at the last `slots` ticks are stored, and a picture is used if it was taken
    at one of them: choose a `period` that divides the camera's, and `slots` of them longer than its latency. A picture
    that a good filter meets with probability `false_alarm` only is rejected; after `most_refused` in a row the filter
    restarts from the last one. Without a picture for `patience` the messages are not valid.
    """

    craft: Spacecraft  # model of the own spacecraft
    client: Spacecraft  # its model: where the frame is on it, centre of mass, inertia
    frame: str = static()  # that carries the camera
    target: str = static()  # frame of the client that the camera looks at, such as "client.ring"
    noise: PictureNoise
    camera: str = static(default="camera")  # name of the camera's measurements
    guess: TargetGuess = TargetGuess()  # at the start; without a pose it waits for its first picture
    anew: TargetGuess = TargetGuess()  # for a restart after a start with a pose; wide enough for any tumble
    disturbance: Disturbance = Disturbance()
    false_alarm: float = static(default=1e-4)
    most_refused: int = static(default=5)
    patience: Numeric | float = 5.0  # [s]
    slots: int = static(default=16)

    def __post_init__(self) -> None:
        require_all(
            lambda: self.craft.frame(self.frame),
            self._require_target,
            self._require_rigid_client,
            lambda: require_bounds(self, {"false_alarm": ""}, above=0.0, most=0.5),
            lambda: require_bounds(self, {"patience": "s"}, above=0.0),
            lambda: require_bounds(self, {"slots": "", "most_refused": ""}, least=1.0),
        )

    def _require_target(self) -> None:
        owner, _, frame = self.target.partition(".")
        if not owner or not frame or frame == "base":
            raise SoftwareError(
                f"TargetFilter.target '{self.target}' must name a frame of a client, such as 'client.ring'."
            )
        self.client.frame(frame)

    def _require_rigid_client(self) -> None:
        layout, name = self.client.layout, self.client.name
        if layout.nv == 6:
            return
        bends = "Give its rigid model, client.rigid(). " if layout.modal_velocities else ""
        moves = layout.moving_joints or layout.wheels
        whole = "Give a client of one body with the inertia of the whole: Spacecraft.from_base(...). " if moves else ""
        raise SoftwareError(
            f"TargetFilter follows a rigid client, but '{name}' has joints, modes or wheels. {bends}{whole}".rstrip()
        )

    @property
    def body(self) -> AssumedBody:
        """Properties of the client that are taken as known."""
        frame = self.target.partition(".")[2]
        inertia = composite_inertia(self.client, np.zeros(0)).about_com()
        return AssumedBody.from_inertia(frame_pose(self.client, np.zeros(0), frame), inertia)

    # ---- memory

    def begin(self, y: Measurements) -> FilterMemory:
        """Memory at the start: the guess, or waiting for a picture."""
        guess, known = self.guess, self.guess.position is not None
        position = jnp.asarray(guess.position) if known else jnp.zeros(3)
        quaternion = jnp.asarray(guess.attitude) if known else jnp.array([1.0, 0.0, 0.0, 0.0])
        state = guess.state(quaternion, position, self._com)
        never = jnp.asarray(-jnp.inf)
        return FilterMemory(
            past=PastPoses.empty(self.slots),
            belief=TargetEstimate(state, jnp.diag(guess.variances()), jnp.zeros(())),
            started=jnp.asarray(known),
            looked=never,
            used=never,
            refused=jnp.zeros((), jnp.int32),
            nis=jnp.zeros(()),
        )

    def remember(self, memory: FilterMemory, y: Measurements, clock: Clock) -> FilterMemory:
        """Memory with the camera's present pose, and with the latest picture if it is new."""
        ticks = 1 if self.period is None else ticks_in(self.title, self.period, clock.dt)
        past = memory.past.with_pose(own_frame_pose(self.craft, y, self.frame), clock.t, clock.tick // ticks)
        taken, valid = y.taken(f"{self.camera}.position"), y.valid(f"{self.camera}.position")
        X_NK, known = past.at(jnp.where(valid, taken, 0.0))
        new = valid & known & (taken > memory.looked) & (~memory.started | (taken >= memory.belief.time - 1e-9))
        memory = self._predict_to(
            dataclasses.replace(memory, past=past), jnp.where(new, taken, clock.t - self._oldest_picture_age(clock))
        )
        seen = TargetView(
            quaternion_multiply(X_NK.quaternion, y[f"{self.camera}.attitude"]), X_NK.apply(y[f"{self.camera}.position"])
        )
        picture = Picture(seen, X_NK.p)
        return cond(new, lambda: self._use_picture(memory, picture, taken), lambda: memory)

    def _oldest_picture_age(self, clock: Clock) -> float:
        """Age of the oldest picture that can still be used [s]: the estimate is never older than that."""
        return (self.slots - 1) * (clock.dt if self.period is None else self.period)

    def _predict_to(self, memory: FilterMemory, time: Scalar) -> FilterMemory:
        """Memory with the estimate predicted to a time, if that is later."""
        later = cond(
            memory.started & (time > memory.belief.time),
            lambda: predict_estimate(self.body, memory.belief, time, self.disturbance),
            lambda: memory.belief,
        )
        return dataclasses.replace(memory, belief=later)

    def _use_picture(self, memory: FilterMemory, picture: Picture, taken: Scalar) -> FilterMemory:
        """Memory after a picture: it is used, rejected, or the filter restarts from it."""
        new = innovation(self.body, memory.belief, picture, self.noise)
        nis, begun = new.normalised_square(), self._restart_from(picture, taken)
        good = nis <= innovation_gate(self.false_alarm)
        anew = ~memory.started | (~good & (memory.refused + 1 >= self.most_refused))
        better = correct_estimate(memory.belief, new)

        def choose(fresh: Numeric, used: Numeric, old: Numeric) -> Numeric:
            return jnp.where(anew, fresh, jnp.where(good, used, old))

        return FilterMemory(
            past=memory.past,
            belief=jax.tree.map(choose, begun, better, memory.belief),
            started=jnp.asarray(True),
            looked=taken,
            used=jnp.where(good | anew, taken, memory.used),
            refused=jnp.where(good | anew, 0, memory.refused + 1),
            nis=jnp.where(anew, 0.0, nis),
        )

    def _restart_from(self, picture: Picture, taken: Scalar) -> TargetEstimate:
        """Estimate from one picture: pose and its errors from the picture, the rest from the guess."""
        guess = self.guess if self.guess.position is None else self.anew
        quat_TB = quaternion_conjugate(jnp.asarray(self.body.frame.quaternion))
        state = guess.state(quaternion_multiply(picture.seen.quaternion, quat_TB), picture.seen.position, self._com)
        P = jnp.diag(guess.variances())
        new = innovation(self.body, TargetEstimate(state, P, taken), picture, self.noise)
        H = new.H[:, POSE_ERRORS]  # a rotation: the error of a pose shows in a picture as it is, in other axes
        return TargetEstimate(state, P.at[POSE_ERRORS, POSE_ERRORS].set(H.T @ new.noise @ H), taken)

    @property
    def _com(self) -> Vec3:
        return jnp.asarray(composite_inertia(self.client, np.zeros(0)).com)

    # ---- messages and channels

    def current_state(self, memory: FilterMemory, clock: Clock) -> TargetState:
        """Estimated state now, predicted from the latest picture."""
        return propagate_state(self.body, memory.belief.state, self._estimate_age(memory, clock))

    def current_estimate(self, memory: FilterMemory, clock: Clock) -> TargetEstimate:
        """Estimate now with its covariance, predicted from the latest picture."""
        time = memory.belief.time + self._estimate_age(memory, clock)
        return predict_estimate(self.body, memory.belief, time, self.disturbance)

    def _estimate_age(self, memory: FilterMemory, clock: Clock) -> Scalar:
        return jnp.where(memory.started, clock.t - memory.belief.time, 0.0)

    def tell(self, memory: FilterMemory, y: Measurements, clock: Clock) -> Mapping[str, Numeric]:
        """Messages with the estimate: base velocity and rate in base axes, those of the frame in N axes."""
        state, body = self.current_state(memory, clock), self.body
        owner, valid = self.target.partition(".")[0], self._is_valid(memory, clock)
        R_NB = rotation_matrix(state.quaternion)
        inertia = body.inertia(state.shape)
        return {
            f"{owner}.base.position": state.position - R_NB @ body.frame.p,
            f"{owner}.base.attitude": state.quaternion,
            f"{owner}.base.velocity": point_velocity(state, jnp.zeros(3)),
            f"{owner}.base.rate": state.rate,
            f"{owner}.base.valid": valid,
            f"{self.target}.position": state.position,
            f"{self.target}.attitude": quaternion_multiply(state.quaternion, jnp.asarray(body.frame.quaternion)),
            f"{self.target}.velocity": R_NB @ point_velocity(state, body.frame.p),
            f"{self.target}.rate": R_NB @ state.rate,
            f"{self.target}.valid": valid,
            "target.inertia_ratios": inertia[np.array([0, 1, 2, 0, 0, 1]), np.array([0, 1, 2, 1, 2, 2])],
            "target.sigma": jnp.sqrt(jnp.diagonal(memory.belief.covariance)),
        }

    def _is_valid(self, memory: FilterMemory, clock: Clock) -> Flag:
        return memory.started & (clock.t - memory.used <= self.patience + TICK_ROUNDING)

    def channels(self) -> tuple[Channel, ...]:
        """Channels for the errors, their estimated size, and the condition of the filter."""
        return (*error_channels(), flag("target.condition", "Target filter", CONDITIONS))

    def observe(self, memory: FilterMemory, y: Measurements, clock: Clock, truth: Truth) -> tuple[Numeric, ...]:
        """Values of the channels: errors, their estimated size, and the condition of the filter."""
        belief = self.current_estimate(memory, clock)
        true = true_target_state(self.body, truth, self.target)
        lost = jnp.where(self._is_valid(memory, clock), 0.0, jnp.where(jnp.isfinite(memory.used), 2.0, 1.0))
        condition = jnp.where((lost == 0.0) & (memory.refused > 0), 3.0, lost)
        return (*error_values(belief, true), memory.nis, condition)

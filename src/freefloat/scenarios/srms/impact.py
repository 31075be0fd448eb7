"""The Shuttle arm grasps a payload of 10 t: soft or hard, along its side or head on, and the motion that follows.

Cyril, Jaar and Misra (1993). The grasp is an event of the run: the payload is a spacecraft of its own, and the effect
of the impact on both is in `run.events`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field

from freefloat.scenarios.scenario import Scenario, ScenarioError
from freefloat.scenarios.settings import Positive, Seconds, Unit
from freefloat.scenarios.srms.claims import impact_claims, runs_to_compare
from freefloat.sim.record.description import Figure

if TYPE_CHECKING:
    import numpy as np

    from freefloat.model import Part, Spacecraft, World
    from freefloat.scenarios.srms.meeting import ContactVelocities
    from freefloat.sim import Experiment, Run
    from freefloat.values.claims import Claim

InPlane = Annotated[tuple[float, float], Unit("m/s")]  # along the payload's normal and along its side
_PAPER = "Cyril, Jaar and Misra 1993"
_SPIN = math.pi / 60.0  # 0.5 rpm [rad/s]
_SLANT = (-0.1 * math.sin(math.radians(22.7)), 0.1 * math.cos(math.radians(22.7)))  # 22.7 deg off the side [m/s]
_NOTE = (
    "The paper prints neither parameters nor numbers: arm, posture and payload are ours (library/srms.py), and so are "
    "the reference numbers. Rates right after an impact do not converge with the number of modes: compare at equal "
    "modes."
)
_PERIOD = 1e-3  # of the joint loops and their encoders [s]
_REACH = 0.02  # of the latch that closes by itself [m]
_RECORD, _LONG_RECORD = 1e-3, 5e-3  # between records, of runs up to 10 s and longer ones [s]


@dataclass(frozen=True)
class _Srms(Scenario):
    """Base of both impacts. Velocities are those at contact, (normal, along the side), in inertial axes."""

    source = _PAPER
    note = _NOTE
    figures = (
        Figure("shuttle.joints.position", title="Joint angles"),
        Figure("shuttle.base.roll_pitch_yaw", title="Attitude of the base"),
        Figure("shuttle.boom.1.tip.displacement", "mm", title="Tip of the first boom"),
        Figure("shuttle.boom.2.tip.displacement", "mm", title="Tip of the second boom"),
        Figure("connection.grasp.force", title="Force in the grasp"),
    )

    hand_velocity: InPlane = (0.0, 0.0)
    hand_rate: Annotated[float, Unit("rad/s")] = 0.0
    payload_velocity: InPlane = (0.0, 0.0)  # of the point that is grasped
    payload_spin: Annotated[float, Unit("rad/s")] = 0.0
    payload_across: Annotated[float, Unit("m/s")] = 0.0  # out of the plane, for the spatial arm
    payload_roll: Annotated[float, Unit("rad/s")] = 0.0  # about the normal, for the spatial arm
    joints: Literal["free", "braked", "hold", "reactionless"] = "free"  # after the grasp; brakes are on before it too
    spatial: bool = False  # six joints, booms that bend both ways; otherwise three, in the plane
    modes: Annotated[int, Field(ge=0, le=8)] = 1  # of each boom, in each plane in which it bends
    approach: Annotated[float, Field(ge=0.0), Unit("s")] = 0.0  # before contact; 0: the run begins with the grasp
    hold_frequency: Annotated[Positive, Unit("rad/s")] = 0.05  # of the joints that are held by PD
    damping_rate: Annotated[Positive, Unit("1/s")] = 0.05  # of the damping without reaction
    duration: Seconds = 10.0
    dt: Seconds = 2e-4

    def __post_init__(self) -> None:
        if not self.spatial and (self.payload_across or self.payload_roll):
            raise ScenarioError("The planar arm cannot follow a payload out of its plane: set spatial=true.")
        if self.approach and self.joints != "braked":
            raise ScenarioError("Only braked joints stand still while the payload comes: set approach=0.")
        if self.joints == "braked" and (any(self.hand_velocity) or self.hand_rate):
            raise ScenarioError("Braked joints do not move the hand: set hand_velocity=0,0 and hand_rate=0.")

    # ---- building

    def meeting(self) -> ContactVelocities:
        """Velocities at contact."""
        import numpy as np

        from freefloat.scenarios.srms.meeting import ContactVelocities

        return ContactVelocities(
            hand=np.array([*self.hand_velocity, 0.0]),
            hand_rate=np.array([0.0, 0.0, self.hand_rate]),
            contact=np.array([*self.payload_velocity, self.payload_across]),
            spin=np.array([self.payload_roll, 0.0, self.payload_spin]),
        )

    def world(self) -> World:
        """World with arm and payload, the latch between them, and brakes if they are on."""
        from freefloat.library import srms, srms_payload
        from freefloat.model import World
        from freefloat.scenarios.srms.meeting import GRASP, latch_pose
        from freefloat.spatial import Pose

        planar, by_gap = not self.spatial, self.approach > 0.0
        world = World(shuttle=srms(modes=self.modes, planar=planar), payload=srms_payload(planar=planar))
        world = world.connection(
            GRASP,
            "shuttle.hand",
            "payload.grip",
            automatic=by_gap,
            reach=(_REACH, 0.1),  # [m], [rad]
            at=latch_pose(self.meeting(), _REACH, spatial=self.spatial) if by_gap else Pose(),
        )
        for joint in world.crafts[0].layout.moving_joints if self.joints == "braked" else ():
            world = world.brake(f"shuttle.{joint}", on=True)
        return world

    def software(self) -> tuple[Part, ...]:
        """Software that closes the latch, and software and sensors of the motors afterwards."""
        from freefloat.control import JointHold, ReactionlessDamping, TimedGrasp
        from freefloat.scenarios.srms.meeting import GRASP, SHUTTLE
        from freefloat.sensors import JointEncoder

        parts: list[Part] = []
        if not self.approach:
            parts.append(TimedGrasp(connection=GRASP, period=self.dt, on=SHUTTLE))
        if self.joints in ("hold", "reactionless"):
            craft = self.controller_model()
            timing: dict[str, Any] = {"period": _PERIOD, "smoothing": _PERIOD, "on": SHUTTLE}
            parts.append(JointEncoder(period=_PERIOD, on=SHUTTLE))
            if self.joints == "reactionless":
                parts.append(ReactionlessDamping(craft=craft, rate=self.damping_rate, **timing))
            else:
                inertia = self._joint_inertia(craft)
                w = self.hold_frequency
                parts.append(
                    JointHold(craft=craft, stiffness=w**2 * inertia, damping=1.4 * w * inertia, **timing)
                )  # 0.7 of critical
        return tuple(parts)

    def controller_model(self) -> Spacecraft:
        """Model in the motors' software: a rigid arm with the payload in its hand."""
        from freefloat.library import srms, srms_payload

        planar = not self.spatial
        arm, payload = srms(modes=0, planar=planar), srms_payload(planar=planar)
        return arm.grasp(payload, name="payload", hand="hand", grip="grip")

    def _joint_inertia(self, craft: Spacecraft) -> np.ndarray:
        """Inertia that each motor moves at the start, the diagonal of M* [kg m2]."""
        import numpy as np

        from freefloat.control.joint_damping import floating_joint_inertia
        from freefloat.scenarios.srms.meeting import posture

        return np.array(np.diag(np.asarray(floating_joint_inertia(craft, posture(craft, spatial=self.spatial).q))))

    def build(self) -> Experiment:
        """Experiment in which the hand meets the payload."""
        from freefloat.dynamics import inertial_frame_pose
        from freefloat.scenarios.srms.meeting import PAYLOAD, SHUTTLE, arm_at_contact, payload_before_contact
        from freefloat.sim import Experiment

        world, meeting = self.world(), self.meeting()
        arm = world.crafts[0]
        start = arm_at_contact(arm, meeting, spatial=self.spatial)
        hand = inertial_frame_pose(arm, start, "hand")
        coming = payload_before_contact(hand, meeting, spatial=self.spatial, early=self.approach)
        return Experiment.of(
            world,
            *self.software(),
            duration=self.duration,
            dt=self.dt,
            record_dt=max(self.dt, _RECORD if self.duration <= 10.0 else _LONG_RECORD),
            state={SHUTTLE: start, PAYLOAD: coming},
        )

    # ---- judging

    @classmethod
    def outcome(cls, run: Run) -> str:
        """Sentence with impulse, lost energy and deflections of the grasp."""
        import numpy as np

        from freefloat.scenarios.measures import first_event

        latched = first_event(run, "latched")
        if latched is None:
            return "The payload was not grasped."
        tips = [1e3 * np.linalg.norm(run[f"shuttle.boom.{k}.tip.displacement"].values, axis=-1).max() for k in (1, 2)]
        return (
            f"Grasped after {latched['time']:g} s with an impulse of {np.linalg.norm(latched['impulse']):.3g} N s; "
            f"{latched['energy_lost']:.3g} J were lost. The booms bent by up to {tips[0]:.3g} and {tips[1]:.3g} mm."
        )

    @classmethod
    def needed_runs(cls, variant: str) -> tuple[str, ...]:
        """Soft for hard, and free joints for motors."""
        return runs_to_compare(variant)

    def claims(self, variant: str, run: Run, others: Mapping[str, Run]) -> list[Claim]:
        """Claims of our reference numbers, of the paper's statements, and of conserved momentum."""
        return impact_claims(self.name, variant, self.world(), run, others)


def _with_brakes(hard: Any, relative: tuple[float, float]) -> Any:
    """Variant with the arm at rest, its brakes on; the payload comes with its velocity relative to the hand."""
    return replace(
        hard,
        hand_velocity=(0.0, 0.0),
        payload_velocity=relative,
        joints="braked",
        approach=1.0,
        duration=31.0,
        dt=5e-4,
    )


@dataclass(frozen=True)
class SrmsTangential(_Srms):
    """A payload that turns at 0.5 rpm is grasped at its side: matched in speed, or hit at 0.1 m/s and 22.7 deg."""

    name = "srms-tangential"
    title = "Shuttle arm: tangential impact of a spinning payload"
    source = f"{_PAPER}, figure 3"

    hand_velocity: InPlane = (0.0, 0.052)
    payload_velocity: InPlane = _SLANT
    payload_spin: Annotated[float, Unit("rad/s")] = -_SPIN

    @classmethod
    def variants(cls) -> dict[str, Self]:
        """Variants: hard; soft as in the paper, and with the hand turning too; brakes on; an arm with six joints."""
        hard, (normal, along) = cls(), _SLANT
        soft = replace(hard, payload_velocity=(0.0, _SPIN))
        return {
            "hard": hard,
            "soft": soft,
            "soft-matched": replace(soft, hand_velocity=(0.0, _SPIN), hand_rate=-_SPIN),
            "braked": _with_brakes(hard, (normal, along - 0.052)),
            "spatial": replace(hard, spatial=True, payload_across=0.02, payload_roll=0.01, dt=5e-4),
        }


@dataclass(frozen=True)
class SrmsNormal(_Srms):
    """A payload comes head on: as fast as the hand that follows it, or 0.15 m/s faster."""

    name = "srms-normal"
    title = "Shuttle arm: normal impact of a payload"
    source = f"{_PAPER}, figure 4"

    hand_velocity: InPlane = (-0.1, 0.0)
    payload_velocity: InPlane = (-0.25, 0.0)

    @classmethod
    def variants(cls) -> dict[str, Self]:
        """Variants: hard and soft as in the paper; brakes on; six joints; motors that bring the arm to rest."""
        hard = cls()
        off_axis: dict[str, Any] = {"spatial": True, "payload_across": 0.05, "payload_roll": 0.02}
        braked, long = _with_brakes(hard, (-0.15, 0.0)), replace(hard, duration=40.0, dt=5e-4)
        damped = replace(long, joints="reactionless")
        return {
            "hard": hard,
            "soft": replace(hard, payload_velocity=(-0.1, 0.0)),
            "braked": braked,
            "spatial": replace(hard, dt=5e-4, **off_axis),
            "spatial-braked": replace(braked, **off_axis),
            "free-40-s": long,
            "joint-hold": replace(long, joints="hold"),
            "reactionless": damped,
            "spatial-free-40-s": replace(long, **off_axis),
            "spatial-reactionless": replace(damped, **off_axis),
        }

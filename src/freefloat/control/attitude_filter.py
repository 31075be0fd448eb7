"""Attitude filter on gyro and star tracker, and attitude control by its estimate instead of the truth.

The multiplicative filter with the steady gains of a single axis (Farrenkopf, J. Guidance and Control 1, 1978):
between stars the attitude follows the gyro less its estimated bias, each star fix corrects attitude and bias.
"""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np

from freefloat.control.attitude import AttitudeHold, wheel_force
from freefloat.model import Spacecraft, State
from freefloat.sensors import Gyro, StarTracker
from freefloat.sensors.imperfection import sample_number
from freefloat.spatial import angular
from freefloat.spatial.rotations import quaternion_conjugate, quaternion_exp, quaternion_log, quaternion_multiply
from freefloat.values import ModelError, record
from freefloat.values.arrays import Numeric, Quaternion, Scalar, Vec3, Vector
from freefloat.values.channels import Channel, flag, vector


@record
class Estimate:
    """What the filter estimates."""

    quaternion: Quaternion  # quat_NB
    bias: Vec3  # of the gyro [rad/s]
    rate: Vec3  # measured less bias, base axes [rad/s]
    tick: Numeric  # int32: gyro samples so far
    star: Numeric  # int32: number of the last star fix
    fixed_at: Scalar  # time of the last star fix that came [s]


@record
class AttitudeFilter:
    """Gains for attitude and bias; with both zero the gyro is integrated alone."""

    gyro: Gyro
    stars: StarTracker
    attitude_gain: Numeric | float = 0.2  # share of a star fix in the attitude
    bias_gain: Numeric | float = 0.01  # share of a star fix, per second, in the bias [1/s]

    @staticmethod
    def steady(gyro: Gyro, stars: StarTracker, gyro_noise: float, bias_walk: float) -> AttitudeFilter:
        """Gains of the steady Kalman filter: gyro noise [rad/s^0.5], bias walk [rad/s^1.5], noise of `stars`."""
        T, sigma = float(stars.period), max(float(stars.cross_noise), 1e-12)
        Q = np.array(
            [[gyro_noise**2 * T + bias_walk**2 * T**3 / 3, -(bias_walk**2) * T**2 / 2], [0.0, bias_walk**2 * T]]
        )
        Q[1, 0] = Q[0, 1]
        F, P = np.array([[1.0, -T], [0.0, 1.0]]), np.diag([sigma**2, (sigma / T) ** 2])
        K = np.zeros(2)
        for _ in range(20000):
            P = F @ P @ F.T + Q
            K = P[:, 0] / (P[0, 0] + sigma**2)
            P = P - np.outer(K, P[0])
        return AttitudeFilter(gyro=gyro, stars=stars, attitude_gain=float(K[0]), bias_gain=float(-K[1]))

    def start(self, quat_NB: Quaternion) -> Estimate:
        """Start at an attitude, with a bias of zero."""
        return Estimate(
            quaternion=jnp.asarray(quat_NB),
            bias=jnp.zeros(3),
            rate=jnp.zeros(3),
            tick=jnp.zeros((), jnp.int32),
            star=jnp.asarray(-1, jnp.int32),
            fixed_at=jnp.zeros(()),
        )

    def update(self, estimate: Estimate, state: State, t: Scalar, hold: float) -> Estimate:
        """One gyro sample at time t, `hold` seconds after the last, and a star fix where one is due."""
        # Where the base has turned to since the last sample, by the mean of the two rates.
        measured = self.gyro.measure(angular(state.V_NB), estimate.tick) - estimate.bias
        first = estimate.tick == 0
        turn = jnp.where(first, 0.0, 0.5 * hold) * (estimate.rate + measured)
        predicted = quaternion_multiply(estimate.quaternion, quaternion_exp(turn))
        number = sample_number(t, self.stars.period)
        seen, there = self.stars.measure(state.quat_NB, number)
        use = (number != estimate.star) & there
        error = quaternion_log(quaternion_multiply(quaternion_conjugate(predicted), seen))
        error = jnp.where(use, 1.0, 0.0) * error
        corrected = quaternion_multiply(predicted, quaternion_exp(self.attitude_gain * error))
        shift = self.bias_gain * error
        return Estimate(
            quaternion=corrected / jnp.sqrt(corrected @ corrected),
            bias=estimate.bias - shift,
            rate=measured + shift,
            tick=estimate.tick + 1,
            star=number,
            fixed_at=jnp.where(use, t, estimate.fixed_at),
        )


@record
class EstimatedAttitudeHold:
    """Attitude PD on the filter's estimate instead of the truth."""

    hold: AttitudeHold
    filter: AttitudeFilter
    patience: Numeric | float = 10.0  # without a star fix for longer than this is reported [s]
    now: Estimate | None = None

    def __post_init__(self) -> None:
        if self.hold.feed_forward is not None or self.hold.switch is not None:
            raise ModelError("EstimatedAttitudeHold does PD only: its hold must have no feed_forward and no switch.")

    def begin(self, state: State) -> EstimatedAttitudeHold:
        """Start the filter at the true attitude."""
        return dataclasses.replace(self, hold=self.hold.begin(state), now=self.filter.start(state.quat_NB))

    def memory(self) -> Estimate:
        """The estimate at the start."""
        if self.now is None:
            raise RuntimeError("EstimatedAttitudeHold has not begun: call begin(state) first, as `simulate` does.")
        return self.now

    def remember(self, memory: Estimate, state: State, t: Scalar, hold: float) -> Estimate:
        """Update the filter."""
        return self.filter.update(memory, state, t, hold)

    def recall(self, memory: Estimate) -> EstimatedAttitudeHold:
        """The law at this estimate."""
        return dataclasses.replace(self, now=memory)

    def force(self, state: State, t: Scalar, hold: float) -> Vector:
        """Generalised force of the wheels."""
        return self._wheels(state)[0]

    def _wheels(self, state: State) -> tuple[Vector, Vector]:
        believed = self.memory()
        return wheel_force(self.hold.craft, state, self.hold.torque(believed.quaternion, believed.rate))

    def channels(self) -> tuple[Channel, ...]:
        """Errors of the filter, wheels, and whether stars are seen."""
        return (
            vector("filter.attitude_error", "Estimated attitude from the true one", "rad", "B"),
            vector("filter.bias", "Estimated gyro bias", "rad/s", "B"),
            flag("filter.condition", "Attitude filter", ("stars seen", "no stars, gyro only")),
            self.hold.channels()[0],
        )

    def observe(self, craft: Spacecraft, state: State, t: Scalar) -> tuple[Numeric, ...]:
        """How wrong the filter is."""
        believed = self.memory()
        error = quaternion_log(
            quaternion_multiply(quaternion_conjugate(jnp.asarray(state.quat_NB)), believed.quaternion)
        )
        lost = jnp.where(t - believed.fixed_at > self.patience, 1.0, 0.0)
        return error, believed.bias, lost, self._wheels(state)[1]

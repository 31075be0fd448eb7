"""Attitude filter on gyro and star tracker: its estimates replace the measurements for the software after it.

The multiplicative filter with the steady gains of a single axis (Farrenkopf, J. Guidance and Control 1, 1978):
between stars the attitude follows the gyro less its estimated bias, each star fix corrects attitude and bias.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.model.part_kinds import Clock, Measurements, Software, Truth
from freefloat.spatial.rotations import quaternion_conjugate, quaternion_exp, quaternion_log, quaternion_multiply
from freefloat.values import ModelError, record
from freefloat.values.arrays import Numeric, Quaternion, Scalar, Vec3
from freefloat.values.channels import Channel, flag, vector
from freefloat.values.checks import require_all, require_bounds, require_quantity


@record
class AttitudeEstimate:
    """Attitude, gyro bias and rate as the filter estimates them."""

    quaternion: Quaternion  # quat_NB
    bias: Vec3  # of the gyro [rad/s]
    rate: Vec3  # measured less bias, base axes [rad/s]
    tick: Numeric  # int32: gyro samples so far
    star: Scalar  # when the last star fix was taken [s]
    fixed_at: Scalar  # when the filter received it [s]


@record
class AttitudeFilter(Software[AttitudeEstimate]):
    """Reads `base.rate` and `base.attitude` and reports estimates of both; zero gains integrate the gyro alone.

    Its period is that of the gyro. A late star fix is propagated to now by the measured rate.
    """

    attitude_gain: Numeric | float = 0.2  # share of a star fix in the attitude
    bias_gain: Numeric | float = 0.01  # share of a star fix, per second, in the bias [1/s]
    patience: Numeric | float = 10.0  # time without a star fix after which that is reported [s]

    def __post_init__(self) -> None:
        require_all(
            self._require_period,
            lambda: require_bounds(self, {"attitude_gain": "", "bias_gain": "1/s", "patience": "s"}, least=0.0),
        )

    def _require_period(self) -> None:
        if self.period is None:
            raise ModelError("AttitudeFilter integrates samples of the gyro: give it the gyro's period, period=0.1.")
        require_bounds(self, {"period": "s"}, above=0.0)

    @staticmethod
    def steady(
        star_period: float, star_noise: float, gyro_noise: float, bias_walk: float, **fields: Any
    ) -> AttitudeFilter:
        """Filter with steady Kalman gains: star noise [rad], gyro noise [rad/s^0.5], bias walk [rad/s^1.5].

        More fields, at least `period`, must follow.
        """
        T, star, gyro, walk, _ = require_all(
            lambda: require_quantity("The period of the star tracker", star_period, "s", above=0.0),
            lambda: require_quantity("The noise of the star tracker", star_noise, "rad", least=0.0),
            lambda: require_quantity("The noise of the gyro", gyro_noise, "rad/s^0.5", least=0.0),
            lambda: require_quantity("The walk of the gyro's bias", bias_walk, "rad/s^1.5", least=0.0),
            lambda: AttitudeFilter(**fields),
        )
        K = steady_gains(T, max(star, 1e-12), gyro, walk)
        return AttitudeFilter(attitude_gain=float(K[0]), bias_gain=float(-K[1]), **fields)

    # ---- its memory: the estimate

    def begin(self, y: Measurements) -> AttitudeEstimate:
        """Estimate at the start: the measured attitude and a bias of zero."""
        return AttitudeEstimate(
            quaternion=jnp.asarray(y["base.attitude"]),
            bias=jnp.zeros(3),
            rate=jnp.zeros(3),
            tick=jnp.zeros((), jnp.int32),
            star=jnp.asarray(-jnp.inf, dtype=float),
            fixed_at=jnp.zeros(()),
        )

    def remember(self, memory: AttitudeEstimate, y: Measurements, clock: Clock) -> AttitudeEstimate:
        """Estimate after one gyro sample, and after a star fix where a new one has come."""
        measured = y["base.rate"] - memory.bias
        predicted = _predicted_attitude(memory, measured, clock.hold)
        taken = y.taken("base.attitude")
        use = y.valid("base.attitude") & (taken != memory.star)
        age = jnp.where(use, clock.t - taken, 0.0)
        seen = quaternion_multiply(jnp.asarray(y["base.attitude"]), quaternion_exp(age * measured))
        error = quaternion_log(quaternion_multiply(quaternion_conjugate(predicted), seen))
        error = jnp.where(use, 1.0, 0.0) * error
        corrected = quaternion_multiply(predicted, quaternion_exp(self.attitude_gain * error))
        shift = self.bias_gain * error
        return AttitudeEstimate(
            quaternion=corrected / jnp.sqrt(corrected @ corrected),
            bias=memory.bias - shift,
            rate=measured + shift,
            tick=memory.tick + 1,
            star=jnp.where(use, taken, memory.star),
            fixed_at=jnp.where(use, clock.t, memory.fixed_at),
        )

    # ---- messages and channels

    def tell(self, memory: AttitudeEstimate, y: Measurements, clock: Clock) -> Mapping[str, Numeric]:
        """Estimated attitude and rate, in place of the measured ones."""
        return {"base.attitude": memory.quaternion, "base.rate": memory.rate}

    def channels(self) -> tuple[Channel, ...]:
        """Channels for the errors of the filter, and for whether stars are seen."""
        return (
            vector("filter.attitude_error", "Estimated attitude from the true one", "rad", "B"),
            vector("filter.bias", "Estimated gyro bias", "rad/s", "B"),
            flag("filter.condition", "Attitude filter", ("stars seen", "no stars, gyro only")),
        )

    def observe(self, memory: AttitudeEstimate, y: Measurements, clock: Clock, truth: Truth) -> tuple[Numeric, ...]:
        """Values of the channels: attitude error, bias, and whether star fixes are missing."""
        back = quaternion_conjugate(jnp.asarray(truth.state.quat_NB))
        error = quaternion_log(quaternion_multiply(back, memory.quaternion))
        lost = jnp.where(clock.t - memory.fixed_at > self.patience, 1.0, 0.0)
        return error, memory.bias, lost


def _predicted_attitude(memory: AttitudeEstimate, measured: Vec3, elapsed: float) -> Quaternion:
    """Attitude of the base at this sample, from the last one and the mean of the two rates."""
    turn = jnp.where(memory.tick == 0, 0.0, 0.5 * elapsed) * (memory.rate + measured)
    return quaternion_multiply(memory.quaternion, quaternion_exp(turn))


def steady_gains(period: float, star_noise: float, gyro_noise: float, bias_walk: float) -> np.ndarray:
    """Kalman gain (attitude, bias) of one axis, after many star fixes."""
    T, sigma = period, star_noise
    Q = np.array([[gyro_noise**2 * T + bias_walk**2 * T**3 / 3, -(bias_walk**2) * T**2 / 2], [0.0, bias_walk**2 * T]])
    Q[1, 0] = Q[0, 1]
    F, P = np.array([[1.0, -T], [0.0, 1.0]]), np.diag([sigma**2, (sigma / T) ** 2])
    K = np.zeros(2)
    for _ in range(20000):
        P = F @ P @ F.T + Q
        K = P[:, 0] / (P[0, 0] + sigma**2)
        P = P - np.outer(K, P[0])
    return K

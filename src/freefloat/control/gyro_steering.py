"""Steering of control-moment gyros: gimbal rates that give the base a wanted torque, also near singular states.

Gyros with spin momenta h_i and directions A (gimbal axis x spin axis as columns) give the torque
-(A diag(h) rates) - w x (their momentum) on a base that turns with w. The rates come from the generalised
singularity-robust inverse A^T (A A^T + lambda E)^-1 with lambda = lambda_0 exp(-10 det(A A^T)), and E = 1 with small
sines beside the diagonal, which lead out of states that the plain inverse stays in (Wie, Bailey and Heiberg, J.
Guidance, Control, and Dynamics 24, 2001). Far from singular states it gives the wanted torque; near them it misses.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.actuators.control_moment_gyros import ControlMomentGyros
from freefloat.control.measured import measured_positions
from freefloat.dynamics import spd_solve
from freefloat.dynamics.gyro_axes import gyro_directions, singularity_measure, spin_axes
from freefloat.model import Clock, Measurements, PortCommand, Software, Spacecraft, Truth
from freefloat.spatial.rotations import cross
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Mat3, Matrix, Numeric, Scalar, Vec3, Vector
from freefloat.values.channels import Channel, vector
from freefloat.values.checks import require_all, require_bounds

_SHARPNESS = 10.0  # of lambda in det(A A^T), as in the paper
_DITHER_RATE = 0.5 * np.pi  # [rad/s], as in the paper
_DITHER_PHASES = np.array([0.0, 0.5 * np.pi, np.pi])
_WRENCH = "base.wrench"


@record
class GyroSteering(Software[Any]):
    """Gives the torque that other software commands as a base wrench, such as AttitudeHold, by gimbal rates.

    `craft` is its own model. It reads joints.position, wheels.speed and base.rate; its memory is that of the other.
    """

    craft: Spacecraft
    gyros: ControlMomentGyros
    attitude: Software[Any]  # whose torque is wanted: AttitudeHold(actuator="base torque")
    robustness: Numeric | float = 0.01  # lambda_0
    dither: Numeric | float = 0.1  # size of the sines beside the diagonal; 0: the plain inverse
    period: float | None = static(default=0.1, kw_only=True)  # between two ticks [s]

    def __post_init__(self) -> None:
        require_all(
            lambda: self.gyros.check(self.craft),
            lambda: require_bounds(self, {"robustness": ""}, above=0.0),
            lambda: require_bounds(self, {"dither": ""}, least=0.0, most=0.4),  # E stays positive definite
            self._require_period,
        )

    def _require_period(self) -> None:
        if self.period is None:
            raise ModelError(
                "GyroSteering needs a period: it reads rates, so its commands cannot be continuous. Give period=0.1."
            )

    def begin(self, y: Measurements) -> Any:
        """Memory of the software for the attitude."""
        return self.attitude.begin(y)

    def remember(self, memory: Any, y: Measurements, clock: Clock) -> Any:
        """Memory of the software for the attitude after a tick."""
        return self.attitude.remember(memory, y, clock)

    def command(self, memory: Any, y: Measurements, clock: Clock) -> PortCommand:
        """Rates of the gimbals."""
        rates = self.steer(self.wanted_torque(memory, y, clock), y, clock.t)
        return PortCommand(self.gyros.rate_port, rates, unit="rad/s")

    def wanted_torque(self, memory: Any, y: Measurements, clock: Clock) -> Vec3:
        """Torque on the base that the other software commands, base axes [N m]."""
        given = self.attitude.command(memory, y, clock)
        for command in given if isinstance(given, tuple) else (given,):
            if command.port == _WRENCH:
                return jnp.asarray(command.numbers)[3:]
        raise ModelError(
            f"GyroSteering: {self.attitude.title} commands no torque on the base. Give AttitudeHold with "
            "actuator='base torque', or software that commands a BaseWrench."
        )

    def steer(self, torque: Vec3, y: Measurements, t: Scalar) -> Vector:
        """Gimbal rates [rad/s] for a torque on the base, base axes [N m]."""
        directions, spins, carried = self._cluster(y)
        size = jnp.sqrt(jnp.mean(spins**2))
        size = jnp.where(size > 0.0, size, 1.0)
        A = directions * (spins / size)
        strength = self.robustness * jnp.exp(-_SHARPNESS * singularity_measure(A))
        return -A.T @ spd_solve(A @ A.T + strength * self._weight(t), (torque + carried) / size)

    def given_torque(self, rates: Vector, y: Measurements) -> Vec3:
        """Torque that gimbal rates give the base, without that of their change, base axes [N m]."""
        directions, spins, carried = self._cluster(y)
        return -directions @ (spins * rates) - carried

    def _cluster(self, y: Measurements) -> tuple[Matrix, Vector, Vec3]:
        """Directions, spin momenta [N m s], and the torque by which the base must turn the spins with it [N m]."""
        craft, gyros, q = self.craft, self.gyros, measured_positions(self.craft, y)
        places = np.array([craft.wheel_names.index(wheel) for wheel in gyros.wheels], dtype=int)
        inertias = jnp.stack([jnp.asarray(craft.wheels[k].inertia, dtype=float) for k in places])
        spins = inertias * jnp.asarray(y["wheels.speed"])[places]
        carried = cross(jnp.asarray(y["base.rate"]), spin_axes(craft, q, gyros.wheels) @ spins)
        return gyro_directions(craft, q, gyros.gimbals, gyros.wheels), spins, carried

    def _weight(self, t: Scalar) -> Mat3:
        """The matrix E at a time."""
        a, b, c = self.dither * jnp.sin(_DITHER_RATE * t + _DITHER_PHASES)
        one = jnp.ones(())
        return jnp.stack([jnp.stack([one, c, b]), jnp.stack([c, one, a]), jnp.stack([b, a, one])])

    def channels(self) -> tuple[Channel, ...]:
        """Channels for the wanted torque and for what the gimbals' rates leave of it."""
        name = self.gyros.name
        return (
            vector(f"{name}.wanted_torque", "Torque wanted from the gyros", "N m", "B"),
            vector(f"{name}.missed_torque", "Wanted torque that the gyros do not give", "N m", "B"),
        )

    def observe(self, memory: Any, y: Measurements, clock: Clock, truth: Truth) -> tuple[Numeric, ...]:
        """Values of the channels."""
        wanted = self.wanted_torque(memory, y, clock)
        return wanted, wanted - self.given_torque(self.steer(wanted, y, clock.t), y)

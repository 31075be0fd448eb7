"""Quantities for software from measurements by name, and their rates along the motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import frame_pose
from freefloat.dynamics.elastic import flexible_bodies
from freefloat.model import Spacecraft, State
from freefloat.model.part_kinds import Clock, Measurements
from freefloat.sensors.quantity_lookup import measured_rate
from freefloat.spatial import Pose, six
from freefloat.values import record
from freefloat.values.arrays import Flag, Numeric, Quaternion, Scalar, Vec3, Vec6, Vector


@record
class Motion:
    """Pose, joint positions and momentum, without rates: the input of software that prescribes joint rates.

    Such rates are differentiated along the motion to find the accelerations, and the rates of all these quantities are
    known beforehand: those of the velocities are not.
    """

    p_NB: Vec3  # base origin in N [m]
    quat_NB: Quaternion
    q: Vector  # joint positions and modes [rad, m], tree order
    momentum: Vec6  # (P, L_0) of the whole, about the inertial origin, N axes [N s, N m s]
    wheel_momentum: Vector  # axial, absolute: I (speed + axis . rate) of each wheel [N m s]

    @property
    def X_NB(self) -> Pose:
        """Pose of the base in N."""
        return Pose.from_quaternion(self.quat_NB, self.p_NB)


def measured_motion(craft: Spacecraft, y: Measurements) -> Motion:
    """Measured motion, arranged as in the software's own model."""
    return Motion(
        p_NB=y["base.position"],
        quat_NB=y["base.attitude"],
        q=measured_positions(craft, y),
        momentum=six(y["momentum.linear"], y["momentum.angular"]),
        wheel_momentum=y["wheels.absolute_momentum"],
    )


def measured_state(craft: Spacecraft, y: Measurements) -> State:
    """Measured state, arranged as in the software's own model."""
    return State(
        p_NB=y["base.position"], quat_NB=y["base.attitude"], q=measured_positions(craft, y), v=measured_speeds(craft, y)
    )


def measured_positions(craft: Spacecraft, y: Measurements) -> Vector:
    """Measured joint positions and modes [rad, m], tree order."""
    layout, q = craft.layout, jnp.zeros(craft.layout.nq)
    if layout.joint_positions:
        q = q.at[np.array(layout.joint_positions, dtype=int)].set(y["joints.position"])
        q = _with_motors(q, layout.motor_positions, layout.position, layout.flexible_joints)
    for body in flexible_bodies(craft):
        q = q.at[layout.position(f"{body.name}.modes")].set(y[f"{body.name}.modes"])
    return q


def measured_speeds(craft: Spacecraft, y: Measurements) -> Vector:
    """Measured twist of the base, joint rates, wheel speeds and modal rates, tree order."""
    layout = craft.layout
    v = jnp.zeros(layout.nv).at[:6].set(six(y["base.velocity"], y["base.rate"]))
    for name, places in (("joints.rate", layout.joint_velocities), ("wheels.speed", layout.wheel_velocities)):
        v = v.at[np.array(places, dtype=int)].set(y[name]) if places else v
    v = _with_motors(v, layout.motor_velocities, layout.velocity, layout.flexible_joints)
    for body in flexible_bodies(craft):
        v = v.at[layout.velocity(f"{body.name}.modes")].set(y[f"{body.name}.modal_rates"])
    return v


def _with_motors(
    vector: Vector, motors: tuple[int, ...], place: Callable[[str], slice], joints: tuple[str, ...]
) -> Vector:
    """Vector with the motors of flexible joints set to the joints' values; exact ones are in `motors.position`."""
    if not motors:
        return vector
    return vector.at[np.array(motors, dtype=int)].set(vector[np.array([place(j).start for j in joints], dtype=int)])


def own_frame_pose(craft: Spacecraft, y: Measurements, frame: str) -> Pose:
    """Pose in N of a frame on the own spacecraft, from measured base and joints and the software's model."""
    X_NB = Pose.from_quaternion(y["base.attitude"], y["base.position"])
    return X_NB @ frame_pose(craft, measured_positions(craft, y), frame)


def measured_pose(y: Measurements, frame: str) -> Pose:
    """Pose in N of a frame that is measured, such as `client.ring`."""
    return Pose.from_quaternion(y[f"{frame}.attitude"], y[f"{frame}.position"])


# ---- rates along the motion


@jax.custom_jvp
def attach_rate(value: Numeric, rate: Numeric, s: Scalar) -> Numeric:
    """Value that moves with a rate as s grows from zero: only its derivative depends on the rate."""
    return value


@attach_rate.defjvp
def _(primals: tuple, tangents: tuple) -> tuple[Numeric, Numeric]:
    value, rate, _ = primals
    return value, tangents[0] + rate * tangents[2]


class MovingMeasurements:
    """Measurements that change with time, each with its rate."""

    def __init__(self, y: Measurements, s: Scalar, rate: Callable[[Measurements, str], Numeric | None]) -> None:
        self._y, self._s, self._rate = y, s, rate

    def __getitem__(self, name: str) -> Any:
        value, rate = self._y[name], self._rate(self._y, name)
        return value if rate is None else attach_rate(value, rate, self._s)

    def valid(self, name: str) -> Flag:
        """Whether the name has a value now."""
        return self._y.valid(name)

    def taken(self, name: str) -> Scalar:
        """Time of the latest measurement now [s]."""
        return self._y.taken(name)


def value_and_rate(
    answer: Callable[[Measurements, Clock], Any],
    y: Measurements,
    clock: Clock,
    rate: Callable[[Measurements, str], Numeric | None] = measured_rate,
) -> tuple[Any, Any]:
    """Value of a function of measurements and time, and its rate as both move on."""

    def after(s: Scalar) -> Any:
        later = Clock(t=clock.t + s, tick=clock.tick, dt=clock.dt, hold=clock.hold)
        return answer(MovingMeasurements(y, s, rate), later)

    return jax.jvp(after, (jnp.zeros(()),), (jnp.ones(()),))


def clock_at(clock: Clock, t: Scalar) -> Clock:
    """Clock at time t, for an answer that is not held."""
    return Clock(t=t, tick=clock.tick, dt=clock.dt)


class ReplacedMeasurements:
    """Measurements of which some are replaced, by name, to evaluate software at other values."""

    def __init__(self, y: Measurements, values: Mapping[str, Numeric]) -> None:
        self._y, self._values = y, values

    def __getitem__(self, name: str) -> Any:
        return self._values[name] if name in self._values else self._y[name]

    def valid(self, name: str) -> Flag:
        """Whether the original measurement has a value."""
        return self._y.valid(name)

    def taken(self, name: str) -> Scalar:
        """Time of the original measurement [s]."""
        return self._y.taken(name)

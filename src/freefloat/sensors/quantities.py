"""The library's quantities: one table of what can be measured, with name, unit, axes, value and rate along the motion.

A row has one name, `base.rate`, or one for each of its owners, `hand.position`. Users add rows of their own as parts.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import inertial_frame_pose, inertial_frame_twist, momentum_about_origin, wheel_momentum
from freefloat.dynamics.elastic import flexible_bodies
from freefloat.model import Spacecraft, State
from freefloat.model.part_kinds import Measurements, Truth
from freefloat.model.quantity import Quantity
from freefloat.model.world import World
from freefloat.sensors.quantity_row import QuantityRow, RateAlongMotion, ValueOf
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import quaternion_multiply, rotation_matrix
from freefloat.values import record
from freefloat.values.arrays import Numeric, Vector
from freefloat.values.channels import Channel, mode, quaternion, vector


@record
class ConnectionHolds(Quantity):
    """Whether a connection of the world holds, `connection.grasp`: 1 or 0."""

    def world_channels(self, world: World) -> tuple[Channel, ...]:
        """A channel for each connection."""
        return tuple(
            mode(f"connection.{c.name}", f"{c.name}: {c.a.title} and {c.b.title}", ("off", "latched"))
            for c in world.connections
        )

    def value(self, truth: Truth, name: str) -> Numeric:
        """1 while the connection holds, else 0."""
        return 1.0 * truth.is_latched(name.removeprefix("connection."))


# ---- values and rates


def _values_at(values: Numeric, places: tuple[int, ...]) -> Numeric:
    return jnp.asarray(values)[np.array(places, dtype=int)]


def _frame_attitude(craft: Spacecraft, state: State, frame: str) -> Numeric:
    """Attitude of a frame, quat_NF; on the base without the rotation matrix, which costs less."""
    where = craft.frame(frame)
    if where.body != craft.body_names[0] or where.node:
        return inertial_frame_pose(craft, state, frame).quaternion
    return quaternion_multiply(jnp.asarray(state.quat_NB), jnp.asarray(where.X_BF.quaternion))


def _modes(craft: Spacecraft, state: State, body: str) -> Numeric:
    return jnp.asarray(state.q)[craft.layout.position(f"{body}.modes")]


def _modal_rates(craft: Spacecraft, state: State, body: str) -> Numeric:
    return jnp.asarray(state.v)[craft.layout.velocity(f"{body}.modes")]


def _base_velocity_in_N(y: Measurements, name: str) -> Numeric:
    owner = name.rpartition(".")[0]
    return rotation_matrix(jnp.asarray(y[f"{owner}.attitude"])) @ y[f"{owner}.velocity"]


def _spin(y: Measurements, name: str) -> Numeric:
    return jnp.concatenate([jnp.zeros(1), y[f"{name.rpartition('.')[0]}.rate"]])


def _base_quaternion_rate(y: Measurements, name: str) -> Numeric:
    spin, quat = _spin(y, name), jnp.asarray(y[name])
    return 0.5 * quaternion_multiply(quat, spin)  # the rate is in base axes


def _quaternion_rate(y: Measurements, name: str) -> Numeric:
    spin, quat = _spin(y, name), jnp.asarray(y[name])
    return 0.5 * quaternion_multiply(spin, quat)  # the rate is in N axes


def _measured_under(word: str) -> RateAlongMotion:
    """Rate that is measured itself, under another word of the same owner: `hand.velocity` for `hand.position`."""
    return lambda y, name: y[f"{name.rpartition('.')[0]}.{word}"]


def _wheel_torques(craft: Spacecraft, state: State, force: Vector) -> Numeric:
    return force[np.array(craft.layout.wheel_velocities, dtype=int)]


# ---- channels


def joint_unit(craft: Spacecraft) -> str:
    """Unit of the positions of all joints together: rad, m, or both."""
    kinds = {"revolute" if craft.joint(name).kind == "revolute" else "prismatic" for name in craft.layout.moving_joints}
    return {frozenset({"prismatic"}): "m", frozenset({"revolute"}): "rad"}.get(frozenset(kinds), "rad, m")


def joint_rate_unit(craft: Spacecraft) -> str:
    """Unit of the rates of all joints together."""
    return "/s, ".join(joint_unit(craft).split(", ")) + "/s"


def _same_everywhere(channel: Channel) -> Callable[[Spacecraft, str], Channel]:
    return lambda craft, name: channel


def _modal_channel(unit: str, label: str) -> Callable[[Spacecraft, str], Channel]:
    def channel(craft: Spacecraft, name: str) -> Channel:
        body = next(body for body in flexible_bodies(craft) if body.name == name.rpartition(".")[0])
        modes = body.mode_names or tuple(str(k + 1) for k in range(body.modes))
        return Channel(name, f"{body.name}: {label}", unit, "", f"{body.name}.mode", modes)

    return channel


def _frame_names(craft: Spacecraft) -> tuple[str, ...]:
    """All frames but the base's own, which has rows of its own: its velocity is in base axes."""
    return tuple(name for name in craft.frame_names if name != "base")


def _flexible_names(craft: Spacecraft) -> tuple[str, ...]:
    return tuple(body.name for body in flexible_bodies(craft))


def _on_base(
    name: str, label: str, unit: str, frame: str, value: ValueOf, along: RateAlongMotion | None = None
) -> QuantityRow:
    return QuantityRow(name, unit, _same_everywhere(vector(name, label, unit, frame)), value, along=along)


def _of_frames(word: str, label: str, unit: str, value: ValueOf, along: RateAlongMotion | None = None) -> QuantityRow:
    def channel(craft: Spacecraft, name: str) -> Channel:
        owner = name.rpartition(".")[0]
        return vector(name, f"{owner}: {label}", unit, "N")

    return QuantityRow(word, unit, channel, value, owners=_frame_names, along=along)


def _momentum(name: str, label: str, unit: str, half: Callable[[Numeric], Numeric]) -> QuantityRow:
    return QuantityRow(
        name,
        unit,
        _same_everywhere(vector(name, label, unit, "N")),
        lambda craft, state, _: half(momentum_about_origin(craft, state)),
        by_forces=lambda craft, state, force: half(state.X_NB.wrench_to_A(force[:6])),
    )


_BASE = (
    _on_base("base.position", "Base position", "m", "N", lambda craft, state, _: state.p_NB, _base_velocity_in_N),
    QuantityRow(
        "base.attitude",
        "1",
        _same_everywhere(quaternion("base.attitude", "Base attitude (quaternion)")),
        lambda craft, state, _: state.quat_NB,
        along=_base_quaternion_rate,
    ),
    _on_base("base.velocity", "Base velocity", "m/s", "B", lambda craft, state, _: linear(state.V_NB)),
    _on_base("base.rate", "Base angular rate", "rad/s", "B", lambda craft, state, _: angular(state.V_NB)),
)
_JOINTS = (
    QuantityRow(
        "joints.position",
        "rad, m",
        lambda craft, name: Channel(name, "Joint position", joint_unit(craft), "", "joint", craft.layout.moving_joints),
        lambda craft, state, _: _values_at(state.q, craft.layout.joint_positions),
        along=_measured_under("rate"),
    ),
    QuantityRow(
        "joints.rate",
        "rad/s, m/s",
        lambda craft, name: Channel(
            name, "Joint rate", joint_rate_unit(craft), "", "joint", craft.layout.moving_joints
        ),
        lambda craft, state, _: _values_at(state.v, craft.layout.joint_velocities),
    ),
    QuantityRow(
        "motors.position",
        "rad, m",
        lambda craft, name: Channel(
            name, "Motor position, at the joint", joint_unit(craft), "", "motor", craft.layout.flexible_joints
        ),
        lambda craft, state, _: _values_at(state.q, craft.layout.motor_positions),
        along=_measured_under("rate"),
    ),
    QuantityRow(
        "motors.rate",
        "rad/s, m/s",
        lambda craft, name: Channel(
            name, "Motor rate, at the joint", joint_rate_unit(craft), "", "motor", craft.layout.flexible_joints
        ),
        lambda craft, state, _: _values_at(state.v, craft.layout.motor_velocities),
    ),
)
_WHEELS = (
    QuantityRow(
        "wheels.speed",
        "rad/s",
        lambda craft, name: Channel(name, "Wheel speed", "rad/s", "", "wheel", craft.layout.wheels),
        lambda craft, state, _: _values_at(state.v, craft.layout.wheel_velocities),
    ),
    QuantityRow(
        "wheels.absolute_momentum",
        "N m s",
        lambda craft, name: Channel(name, "Wheel momentum in space", "N m s", "", "wheel", craft.layout.wheels),
        lambda craft, state, _: wheel_momentum(craft, state.q, state.v),
        by_forces=_wheel_torques,
    ),
)
_MOMENTA = (
    _momentum("momentum.linear", "Linear momentum", "N s", linear),
    _momentum("momentum.angular", "Angular momentum about the inertial origin", "N m s", angular),
)
_FRAMES = (
    _of_frames(
        "position",
        "position",
        "m",
        lambda craft, state, frame: inertial_frame_pose(craft, state, frame).p,
        _measured_under("velocity"),
    ),
    QuantityRow(
        "attitude",
        "1",
        lambda craft, name: quaternion(name, f"{name.rpartition('.')[0]}: attitude (quaternion)"),
        _frame_attitude,
        owners=_frame_names,
        along=_quaternion_rate,
    ),
    _of_frames(
        "velocity", "velocity", "m/s", lambda craft, state, frame: linear(inertial_frame_twist(craft, state, frame))
    ),
    _of_frames(
        "rate", "angular rate", "rad/s", lambda craft, state, frame: angular(inertial_frame_twist(craft, state, frame))
    ),
)
_MODES = (
    QuantityRow(
        "modes",
        "1",
        _modal_channel("1", "modal coordinates"),
        _modes,
        owners=_flexible_names,
        along=_measured_under("modal_rates"),
    ),
    QuantityRow("modal_rates", "1/s", _modal_channel("1/s", "modal rates"), _modal_rates, owners=_flexible_names),
)

ROWS: tuple[QuantityRow, ...] = (*_BASE, *_JOINTS, *_WHEELS, *_MOMENTA, *_FRAMES, *_MODES)
QUANTITIES: tuple[Quantity, ...] = (*ROWS, ConnectionHolds())

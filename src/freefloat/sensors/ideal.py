"""The ideal sensor: reports true values, without delay and without error, under the names of the run's channels."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import inertial_frame_pose, inertial_frame_twist, momentum_about_origin, wheel_momentum
from freefloat.dynamics.elastic import flexible_bodies
from freefloat.model import Spacecraft, State
from freefloat.model.part_kinds import Part, Truth
from freefloat.model.world import World
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import quaternion_multiply
from freefloat.values import SoftwareError, record, static
from freefloat.values.arrays import Flag, Numeric, Scalar


@record
class Ideal(Part):
    """True values in place of sensors: for every name that no other sensor measures, or for some names only."""

    names: tuple[str, ...] = static(default=())  # none: every name


# Quantities of one spacecraft, by name.
_CRAFT_VALUES: dict[str, Callable[[Spacecraft, State], Numeric]] = {
    "base.position": lambda craft, state: state.p_NB,
    "base.attitude": lambda craft, state: state.quat_NB,
    "base.velocity": lambda craft, state: linear(state.V_NB),
    "base.rate": lambda craft, state: angular(state.V_NB),
    "joints.position": lambda craft, state: _values_at(state.q, craft.layout.joint_positions),
    "joints.rate": lambda craft, state: _values_at(state.v, craft.layout.joint_velocities),
    "motors.position": lambda craft, state: _values_at(state.q, craft.layout.motor_positions),
    "motors.rate": lambda craft, state: _values_at(state.v, craft.layout.motor_velocities),
    "wheels.speed": lambda craft, state: _values_at(state.v, craft.layout.wheel_velocities),
    "wheels.absolute_momentum": lambda craft, state: wheel_momentum(craft, state.q, state.v),
    "momentum.linear": lambda craft, state: linear(momentum_about_origin(craft, state)),
    "momentum.angular": lambda craft, state: angular(momentum_about_origin(craft, state)),
}
# Quantities of one of its frames, as in `hand.position`; N axes.
_FRAME_VALUES: dict[str, Callable[[Spacecraft, State, str], Numeric]] = {
    "position": lambda craft, state, frame: inertial_frame_pose(craft, state, frame).p,
    "attitude": lambda craft, state, frame: _frame_attitude(craft, state, frame),
    "velocity": lambda craft, state, frame: linear(inertial_frame_twist(craft, state, frame)),
    "rate": lambda craft, state, frame: angular(inertial_frame_twist(craft, state, frame)),
}


def _frame_attitude(craft: Spacecraft, state: State, frame: str) -> Numeric:
    """Attitude of a frame, quat_NF; on the base without the rotation matrix, which costs less."""
    where = craft.frame(frame)
    if where.body != craft.body_names[0] or where.node:
        return inertial_frame_pose(craft, state, frame).quaternion
    return quaternion_multiply(jnp.asarray(state.quat_NB), jnp.asarray(where.X_BF.quaternion))


def true_value(truth: Truth, name: str) -> Numeric:
    """True value under a name, as a part on its own spacecraft uses it: `base.rate`, `client.ring.position`."""
    number, rest = truth.world.locate(name, truth.own)
    craft, state = truth.world.crafts[number], truth.states[number]
    if rest in _CRAFT_VALUES:
        return _CRAFT_VALUES[rest](craft, state)
    owner, _, kind = rest.rpartition(".")
    if kind in _FRAME_VALUES and owner in craft.frame_names:
        return _FRAME_VALUES[kind](craft, state, owner)
    if kind in ("modes", "modal_rates") and owner in {body.name for body in flexible_bodies(craft)}:
        places = craft.layout.position if kind == "modes" else craft.layout.velocity
        return jnp.asarray(state.q if kind == "modes" else state.v)[places(f"{owner}.modes")]
    raise SoftwareError(f"'{name}' is nothing that can be measured. {measurable_text(craft)}")


def measurable_text(craft: Spacecraft) -> str:
    """Sentence that lists what can be measured on a spacecraft."""
    modes = [f"{body.name}.{kind}" for body in flexible_bodies(craft) for kind in ("modes", "modal_rates")]
    frames = ", ".join(craft.frame_names)
    return (
        f"Measurements of spacecraft '{craft.name}': {', '.join((*_CRAFT_VALUES, *modes))}; and position, attitude, "
        f"velocity and rate of each frame, such as '{craft.frame_names[-1]}.position' (frames: {frames})."
    )


def _values_at(values: Numeric, places: tuple[int, ...]) -> Numeric:
    return jnp.asarray(values)[np.array(places, dtype=int)]


class IdealMeasurements:
    """Every quantity that can be measured, as it truly is: input of software where no other sensors are given."""

    def __init__(self, truth: Truth, t: Scalar | float = 0.0) -> None:
        self._truth, self._t = truth, t

    @staticmethod
    def of(craft: Spacecraft, state: State, t: Scalar | float = 0.0) -> IdealMeasurements:
        """Measurements of one spacecraft, to try software on a state: `pilot.command(pilot.begin(y), y, clock)`."""
        return IdealMeasurements(Truth(World.of(craft), (state,)), t)

    def __getitem__(self, name: str) -> Numeric:
        return true_value(self._truth, name)

    def valid(self, name: str) -> Flag:
        """Whether the name has a value: always true here."""
        return jnp.asarray(True)

    def taken(self, name: str) -> Scalar:
        """Time of measurement [s]: always now."""
        return jnp.asarray(self._t)

"""The ideal sensor: hands over the truth, now and without error, under the names of the run's channels."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import inertial_frame_pose, inertial_frame_twist, momentum_about_origin, wheel_momentum
from freefloat.dynamics.elastic import flexible_bodies
from freefloat.model import Spacecraft, State
from freefloat.model.ports import Part, Truth
from freefloat.model.world import World
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import quaternion_multiply
from freefloat.values import LawError, record, static
from freefloat.values.arrays import Flag, Numeric, Scalar


@record
class Ideal(Part):
    """Truth in place of sensors: of everything that no other sensor measures, or of some names only."""

    names: tuple[str, ...] = static(default=())  # none: every name


# Of one spacecraft, by name.
_OF_THE_CRAFT: dict[str, Callable[[Spacecraft, State], Numeric]] = {
    "base.position": lambda craft, state: state.p_NB,
    "base.attitude": lambda craft, state: state.quat_NB,
    "base.velocity": lambda craft, state: linear(state.V_NB),
    "base.rate": lambda craft, state: angular(state.V_NB),
    "joints.position": lambda craft, state: _at(state.q, craft.layout.joint_positions),
    "joints.rate": lambda craft, state: _at(state.v, craft.layout.joint_velocities),
    "motors.position": lambda craft, state: _at(state.q, craft.layout.motor_positions),
    "motors.rate": lambda craft, state: _at(state.v, craft.layout.motor_velocities),
    "wheels.speed": lambda craft, state: _at(state.v, craft.layout.wheel_velocities),
    "wheels.absolute_momentum": lambda craft, state: wheel_momentum(craft, state.q, state.v),
    "momentum.linear": lambda craft, state: linear(momentum_about_origin(craft, state)),
    "momentum.angular": lambda craft, state: angular(momentum_about_origin(craft, state)),
}
# Of one of its frames, as `hand.position`; N axes.
_OF_A_FRAME: dict[str, Callable[[Spacecraft, State, str], Numeric]] = {
    "position": lambda craft, state, frame: inertial_frame_pose(craft, state, frame).p,
    "attitude": lambda craft, state, frame: _attitude(craft, state, frame),
    "velocity": lambda craft, state, frame: linear(inertial_frame_twist(craft, state, frame)),
    "rate": lambda craft, state, frame: angular(inertial_frame_twist(craft, state, frame)),
}


def _attitude(craft: Spacecraft, state: State, frame: str) -> Numeric:
    """Of a frame; on the base by its quaternion, which is cheaper than by way of the rotation matrix."""
    where = craft.frame(frame)
    if where.body != craft.body_names[0] or where.node:
        return inertial_frame_pose(craft, state, frame).quaternion
    return quaternion_multiply(jnp.asarray(state.quat_NB), jnp.asarray(where.X_BF.quaternion))


def true_value(truth: Truth, name: str) -> Numeric:
    """What is true under that name, as a part on its own spacecraft calls it: `base.rate`, `client.ring.position`."""
    number, rest = truth.world.locate(name, truth.own)
    craft, state = truth.world.crafts[number], truth.states[number]
    if rest in _OF_THE_CRAFT:
        return _OF_THE_CRAFT[rest](craft, state)
    owner, _, kind = rest.rpartition(".")
    if kind in _OF_A_FRAME and owner in craft.frame_names:
        return _OF_A_FRAME[kind](craft, state, owner)
    if kind in ("modes", "modal_rates") and owner in {body.name for body in flexible_bodies(craft)}:
        places = craft.layout.position if kind == "modes" else craft.layout.velocity
        return jnp.asarray(state.q if kind == "modes" else state.v)[places(f"{owner}.modes")]
    raise LawError(f"'{name}' is nothing that can be measured. {measurable(craft)}")


def measurable(craft: Spacecraft) -> str:
    """A sentence with what there is to measure on a spacecraft."""
    modes = [f"{body.name}.{kind}" for body in flexible_bodies(craft) for kind in ("modes", "modal_rates")]
    frames = ", ".join(craft.frame_names)
    return (
        f"Measurements of spacecraft '{craft.name}': {', '.join((*_OF_THE_CRAFT, *modes))}; and position, attitude, "
        f"velocity and rate of each frame, such as '{craft.frame_names[-1]}.position' (frames: {frames})."
    )


def _at(values: Numeric, places: tuple[int, ...]) -> Numeric:
    return jnp.asarray(values)[np.array(places, dtype=int)]


class IdealMeasurements:
    """Everything that can be measured, as it is: what software sees where no other sensors are given."""

    def __init__(self, truth: Truth, t: Scalar | float = 0.0) -> None:
        self._truth, self._t = truth, t

    @staticmethod
    def of(craft: Spacecraft, state: State, t: Scalar | float = 0.0) -> IdealMeasurements:
        """Of one spacecraft, to try software on a state: `law.command(law.begin(y), y, clock)`."""
        return IdealMeasurements(Truth(World.of(craft), (state,)), t)

    def __getitem__(self, name: str) -> Numeric:
        return true_value(self._truth, name)

    def valid(self, name: str) -> Flag:
        """Always."""
        return jnp.asarray(True)

    def taken(self, name: str) -> Scalar:
        """Now."""
        return jnp.asarray(self._t)

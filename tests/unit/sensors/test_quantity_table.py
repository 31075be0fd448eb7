"""The library's table of quantities: names, units, values, rates along the motion; one row for one name."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.dynamics import momentum_about_origin, retract
from freefloat.dynamics.state_rate import state_rate
from freefloat.model import State, World
from freefloat.sensors import IdealMeasurements
from freefloat.sensors.quantities import ROWS
from freefloat.sensors.quantity_lookup import find_quantity, measured_rate, row_called
from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_exp
from support.ports import truth_of

PANEL = ff.flex.beam(length=3.0, mass=4.0, bending_stiffness=90.0, modes=2)
CRAFT = (
    ff.Spacecraft.from_base("hub", mass=20.0, inertia=(3.0, 4.0, 5.0))
    .with_link("elbow", parent="base", joint="revolute", axis=(0.0, 1.0, 0.0), mass=2.0, inertia=(0.1, 0.2, 0.2))
    .with_flexible_joint("elbow", ff.JointFlexibility(stiffness=100.0, motor_inertia=1e-3, ratio=100.0))
    .with_link("slide", parent="elbow", joint="prismatic", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0.0, 0.0))
    .with_frame("hand", body="slide", at=Pose(position=(0.2, 0.1, 0.0), rotation=np.asarray(rotation_exp(jnp.ones(3)))))
    .with_frame("eye", body="base", at=Pose(rotation=np.asarray(rotation_exp(jnp.array([0.3, 0.1, 0.2])))))
    .with_wheel("wheel", axis=(0.0, 0.0, 1.0), inertia=0.1)
    .mount(PANEL, name="panel", at=Pose(position=(0.0, 1.0, 0.0)))
)


def state(rng: np.random.Generator) -> State:
    layout = CRAFT.layout
    quat = rng.normal(size=4)
    return State(
        rng.normal(size=3), quat / np.linalg.norm(quat), 0.1 * rng.normal(size=layout.nq), rng.normal(size=layout.nv)
    )


def moved(at: State, s: Any) -> State:
    """The state after a time s in which its speeds do not change."""
    rate = state_rate(CRAFT, at, jnp.zeros(CRAFT.layout.nv))
    return retract(at, jax.tree.map(lambda x: s * x, rate))


WITH_RATES = [
    *("base.position", "base.attitude", "joints.position", "motors.position", "panel.modes"),
    *(f"{frame}.{kind}" for frame in ("hand", "eye", "panel.tip", "elbow") for kind in ("position", "attitude")),
]


@pytest.mark.parametrize("name", WITH_RATES)
def test_a_rate_along_the_motion_is_the_derivative_of_the_value(name: str, rng: np.random.Generator) -> None:
    """Of speeds that do not change in their own axes: only positions matter for these rates."""
    at = state(rng)

    def value(s: Any) -> Any:
        return IdealMeasurements.of(CRAFT, moved(at, s))[name]

    exact = (np.asarray(value(1e-5)) - np.asarray(value(-1e-5))) / 2e-5
    rate = measured_rate(IdealMeasurements.of(CRAFT, at), name)
    np.testing.assert_allclose(rate, exact, atol=2e-9)  # rounding over 1e-5, 1e-10, and third order of the step
    assert np.max(np.abs(exact)) > 1e-4


@pytest.mark.parametrize("name", ["momentum.linear", "momentum.angular", "wheels.absolute_momentum"])
def test_a_conserved_quantity_changes_by_forces_alone(name: str, rng: np.random.Generator) -> None:
    at, force = state(rng), rng.normal(size=CRAFT.layout.nv)
    found = find_quantity(World.of(CRAFT), (), name)
    assert found is not None
    assert found.quantity.is_conserved(name)
    assert not found.quantity.has_rate(name)

    def value(s: Any) -> Any:
        vdot = ff.dynamics.forward_dynamics(CRAFT, at.q, at.v, jnp.asarray(force))
        later = retract(at, jax.tree.map(lambda x: s * x, state_rate(CRAFT, at, vdot)))
        return IdealMeasurements.of(CRAFT, later)[name]

    exact = (np.asarray(value(1e-5)) - np.asarray(value(-1e-5))) / 2e-5
    rate = found.quantity.rate_from_forces(truth_of(CRAFT, at), jnp.asarray(force), name)
    np.testing.assert_allclose(rate, exact, atol=1e-6)  # second order of the step times the largest momentum


def test_every_row_has_a_channel_of_the_size_of_its_value(rng: np.random.Generator) -> None:
    truth, seen = truth_of(CRAFT, state(rng)), set()
    for row in ROWS:
        for channel in row.channels(CRAFT):
            assert row.has(CRAFT, channel.name)
            assert channel.name not in seen
            seen.add(channel.name)
            assert np.shape(row.value(truth, channel.name)) == (len(channel.components),)
            assert row.is_called(f"client.{channel.name}")
            assert channel.unit == row.unit or row.unit in ("rad, m", "rad/s, m/s")
    assert {"panel.tip.attitude", "panel.modal_rates", "elbow.rate", "base.rate", "motors.rate"} <= seen
    np.testing.assert_array_equal(
        IdealMeasurements(truth)["momentum.angular"], momentum_about_origin(CRAFT, truth.state)[3:]
    )


def test_units_of_joints_depend_on_the_joints_but_not_in_contracts() -> None:
    turning = ff.Spacecraft.from_base("hub", mass=1.0, inertia=(1.0, 1.0, 1.0)).with_link(
        "rod", parent="base", joint="revolute", mass=1.0, inertia=(0.1, 0.1, 0.1)
    )
    found = find_quantity(World.of(turning), (), "joints.rate")
    assert found is not None
    assert (found.channel.unit, found.quantity.contract_unit(turning, "joints.rate")) == ("rad/s", "rad/s, m/s")


def test_a_name_without_a_world_is_known_by_its_last_words() -> None:
    for name, unit in (("orbit.rate", "rad/s"), ("client.joints.position", "rad, m"), ("client.ring.position", "m")):
        row = row_called(name)
        assert row is not None
        assert row.unit == unit
    assert row_called("filter.bias") is None
    assert measured_rate(IdealMeasurements.of(CRAFT, CRAFT.at_rest()), "x") is None

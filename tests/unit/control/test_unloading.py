"""Momentum unloading: when it works, and what it asks of the thrusters."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.actuators import Thrusters, torque_pairs
from freefloat.control.unloading import MomentumUnloading
from freefloat.model import Spacecraft
from freefloat.sensors import IdealMeasurements
from freefloat.values import ModelError
from support.ports import clock_at

HUB = Spacecraft.from_base("hub", mass=500.0, inertia=(200.0, 300.0, 250.0))  # [kg], [kg m2]
for _letter, _axis in zip("xyz", np.eye(3), strict=True):
    HUB = HUB.with_wheel(f"wheel.{_letter}", axis=_axis, inertia=0.05)
THRUSTERS = Thrusters.from_nozzles(torque_pairs(arm=1.0, thrust=1.0), name="coarse")
SOFTWARE = MomentumUnloading(craft=HUB, thrusters=THRUSTERS, start=3.0, stop=0.3, torque=0.1)
NOW = clock_at(0.0)


def holding(momentum: float) -> IdealMeasurements:
    """The wheel about y holds this much [N m s]."""
    state = dataclasses.replace(HUB.at_rest(), v=np.array([0, 0, 0, 0, 0, 0, 0, momentum / 0.05, 0], float))
    return IdealMeasurements.of(HUB, state)


def test_it_starts_above_and_stops_below() -> None:
    memory, seen = SOFTWARE.begin(holding(0.0)), []
    for momentum in (2.9, 3.1, 1.0, 0.31, 0.29, 2.9, -3.1):
        memory = SOFTWARE.remember(memory, holding(momentum), NOW)
        seen.append(float(memory))
    assert seen == [0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0]


def test_it_asks_for_a_torque_against_what_is_stored() -> None:
    for momentum, torque in ((4.0, -0.1), (-4.0, 0.1)):
        command = SOFTWARE.command(jnp.ones(()), holding(momentum), NOW)
        assert command.thrusters == "coarse"
        np.testing.assert_allclose(THRUSTERS.wrench(command.duty), [0, 0, 0, 0, torque, 0], atol=1e-14)
    np.testing.assert_array_equal(SOFTWARE.command(jnp.zeros(()), holding(4.0), NOW).duty, 0.0)
    np.testing.assert_array_equal(SOFTWARE.command(jnp.ones(()), holding(0.0), NOW).duty, 0.0)


def test_it_knows_what_is_stored() -> None:
    np.testing.assert_allclose(SOFTWARE.wheel_momentum(holding(4.0)), [0.0, 4.0, 0.0], atol=1e-14)


def test_it_must_stop_below_where_it_starts() -> None:
    with pytest.raises(ModelError, match="must stop below where it starts, 2 > 1 N m s"):
        MomentumUnloading(craft=HUB, thrusters=THRUSTERS, start=1.0, stop=2.0)

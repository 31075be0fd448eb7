"""A compensator from the linear model of an experiment, run as software in the nonlinear one."""

import dataclasses

import numpy as np
import pytest

import freefloat as ff
from freefloat.analysis import linearise
from freefloat.control import HoldJoints
from freefloat.control.lqr import (
    LinearController,
    StateSpace,
    close_loop,
    design_kalman,
    design_lqg,
    design_lqr,
    sample,
    simulate_linear,
)
from freefloat.spatial.rotations import quaternion_exp

PERIOD = 0.1  # [s]
READS = ("base.attitude", "base.rate")
REFERENCE = np.array([1.0, 0, 0, 0, 0, 0, 0])


def hub() -> ff.Spacecraft:
    craft = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 25.0, 30.0)).with_link(
        "rod", parent="base", joint="revolute", mass=5.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42)
    )
    for axis, direction in zip("xyz", np.eye(3), strict=True):
        craft = craft.with_wheel(f"wheel.{axis}", axis=direction, inertia=0.05)  # [kg m2]
    return craft


@pytest.fixture(scope="module")
def design():
    craft = hub()
    experiment = ff.Experiment.of(craft, HoldJoints(("rod",)), duration=1.0, dt=PERIOD)
    wheels = tuple(craft.wheel_names)
    linear = linearise(experiment, inputs=wheels, outputs=READS)
    turning = [f"base.{kind}.{axis}" for kind in ("rotation", "rate") for axis in "xyz"]
    plant = sample(StateSpace.of(linear.submodel(states=turning)), PERIOD)
    regulator = design_lqr(plant, 1.0, 0.01)
    return craft, plant, design_lqg(regulator, design_kalman(plant, 1e-4, 1e-4))


def test_a_small_turn_goes_as_the_linear_loop_says(design):
    craft, plant, controller = design
    turn = 1e-4 * np.array([1.0, -2.0, 0.5])  # [rad]
    state = dataclasses.replace(craft.at_rest(np.zeros(1)), quat_NB=np.asarray(quaternion_exp(turn)))
    software = LinearController.of(controller, craft, READS, reference=REFERENCE)
    run = ff.simulate(craft, HoldJoints(("rod",)), software, state=state, duration=20.0, dt=PERIOD)
    loop = close_loop(plant, controller)
    expected = simulate_linear(loop, np.concatenate([turn, np.zeros(len(loop.A) - 3)]), PERIOD, 20.0)
    seen = 2.0 * run["base.attitude"].values[:, 1:]
    predicted = np.column_stack([2.0 * expected[f"base.attitude.{k}"] for k in (2, 3, 4)])
    assert np.max(np.abs(seen - predicted)) < 1e-3 * np.max(np.abs(turn))  # second order, and RK4 at 0.1 s
    assert np.max(np.abs(seen[-1])) < 0.05 * np.max(np.abs(turn))


def test_commands_and_measurements_must_fit(design):
    craft, _, controller = design
    with pytest.raises(ff.ModelError, match="must be 7 numbers"):
        LinearController.of(controller, craft, READS, reference=np.zeros(3))
    with pytest.raises(ff.ModelError, match="takes no command 'u1'"):
        LinearController.of(
            StateSpace([[0.0]], [[1.0]], [[1.0]], None, (), (), ("u1",), PERIOD), craft, (), reference=[0]
        )
    with pytest.raises(ff.ModelError, match="`sample` the plant"):
        LinearController.of(StateSpace([[0.0]], [[1.0]]), craft, (), reference=[0])

"""Runge-Kutta on the group: orders, tolerances, unit quaternions, and reversibility."""

import dataclasses

import numpy as np
import pytest

import freefloat as ff
from freefloat.model import State
from freefloat.sim.motion.integrators import dormand_prince_step
from freefloat.sim.system.world_state import WorldState
from support import swinging, trees
from support.compiling import compiled

DURATION = 1.6  # [s]


def draw(rng, name="chain of 2"):
    """A tree under smooth torques and friction, moving with about 1 rad/s."""
    craft, software = swinging.draw_swinging(rng, trees.draw_tree(rng, name))
    state = trees.draw_state(rng, craft)
    return craft, software, dataclasses.replace(state, v=0.5 * state.v)


def distance(a: State, b: State) -> float:
    """Largest difference of two states; a quaternion and its opposite are the same attitude."""
    flip = np.sign(np.asarray(a.quat_NB) @ np.asarray(b.quat_NB))
    pairs = ((a.p_NB, b.p_NB), (a.quat_NB, flip * np.asarray(b.quat_NB)), (a.q, b.q), (a.v, b.v))
    return max(float(np.max(np.abs(np.asarray(x) - np.asarray(y)), initial=0.0)) for x, y in pairs)


def reached(craft, software, state, h):
    return swinging.advance(craft, (software,), swinging.starting(state), 0.0, h, round(DURATION / h))


def test_order_of_the_fixed_step_method(rng):
    """Slope 4 within 0.2 (style.md) over three halvings; the reference has 16 times finer steps, so its own error is
    1e-5 of the finest one measured. The books are integrated along: 1e-8 J at 12.5 ms, of some joules."""
    craft, software, state = draw(rng)
    steps = DURATION / 2.0 ** np.arange(4, 8)  # 0.1 s ... 0.0125 s
    fine = reached(craft, software, state, steps[-1] / 16.0)
    plants = [reached(craft, software, state, h) for h in steps]
    errors = np.array([distance(plant.state, fine.state) for plant in plants])
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    trees.report("errors:", errors, "slope:", slope)
    assert abs(slope - 4.0) < 0.2
    assert abs(float(plants[-1].ledger.work - fine.ledger.work)) < 1e-8


def test_attitude_is_of_fourth_order_too(rng):
    """A tumbling body alone, its attitude against a fine run: dexp cut after second order would show here if wrong."""
    craft = trees.draw_tree(rng, "free body")
    state = dataclasses.replace(trees.draw_state(rng, craft), v=np.array([0.1, 0.2, -0.1, 1.5, -1.0, 2.0]))

    def attitude(h):
        plant = swinging.advance(craft, (), swinging.starting(state), 0.0, h, round(DURATION / h))
        return np.asarray(plant.state.quat_NB)

    steps = DURATION / 2.0 ** np.arange(4, 8)
    fine = attitude(steps[-1] / 16.0)
    slope = np.polyfit(np.log(steps), np.log([np.linalg.norm(attitude(h) - fine) for h in steps]), 1)[0]
    trees.report("attitude slope:", slope)
    assert abs(slope - 4.0) < 0.2


def test_quaternions_stay_unit(rng):
    """10000 steps of a fast tumble: the norm is renewed at each step, so rounding (1e-15) is all there is."""
    craft = trees.draw_tree(rng, "free body")
    state = dataclasses.replace(trees.draw_state(rng, craft), v=np.array([0.0, 0.0, 0.0, 3.0, -2.0, 4.0]))
    plant = swinging.advance(craft, (), swinging.starting(state), 0.0, 0.05, 10000)
    assert abs(np.linalg.norm(plant.state.quat_NB) - 1.0) < 1e-15


def test_time_runs_backwards_too(rng):
    """Without friction, a step of -h undoes a step of h up to the error of the step: fifth order, 1e-9 at 10 ms."""
    craft, software, state = draw(rng)
    craft = dataclasses.replace(craft, joints=tuple(dataclasses.replace(j, damping=0.0) for j in craft.joints))
    there = swinging.advance(craft, (software,), swinging.starting(state), 0.0, 0.01, 20)
    back = swinging.advance(craft, (software,), there, 0.2, -0.01, 20)
    assert distance(back.state, state) < 1e-8
    assert distance(there.state, state) > 1e-2


@compiled
def attempt(craft, effects, plant, t, h):
    """One step of Dormand and Prince, its error in units of 1e-9."""
    rate = swinging.rates_of(craft, effects, plant.state)
    (after,), error = dormand_prince_step(rate, WorldState((plant,)), t, h, 1e-9)
    return after, error


def test_orders_of_the_embedded_pair(rng):
    """One step errs with the sixth power of its length, and its own estimate of the error with the fifth; 0.3 on
    each, since the steps cannot be made so small that rounding shows."""
    craft, software, state = draw(rng)
    start = swinging.starting(state)
    steps = np.array([0.08, 0.04, 0.02])  # [s]
    errors, estimates = [], []
    for h in steps:
        plant, estimate = attempt(craft, (software,), start, np.float64(0.0), np.float64(h))
        fine = swinging.advance(craft, (software,), start, 0.0, h / 256.0, 256)
        errors.append(distance(plant.state, fine.state))
        estimates.append(float(estimate) * 1e-9)
    orders = [np.polyfit(np.log(steps), np.log(values), 1)[0] for values in (errors, estimates)]
    trees.report("errors:", errors, "estimates:", estimates, "orders:", orders)
    assert orders[0] == pytest.approx(6.0, abs=0.3)
    assert orders[1] == pytest.approx(5.0, abs=0.3)


def test_the_adaptive_run_meets_its_tolerance(rng):
    """A tolerance is for one step; the whole of these two seconds errs by at most 30 of them."""
    craft, software, state = draw(rng)
    exact = swinging.advance(craft, (software,), swinging.starting(state), 0.0, 0.0005, 4000).state  # 1e-13 from RK4
    errors = []
    for tolerance in (1e-6, 1e-9):
        run = ff.simulate(
            craft, software, state=state, duration=2.0, dt=0.5, integrator="adaptive", tolerance=tolerance
        )
        end = State(
            p_NB=run["base.position"].values[-1],
            quat_NB=run["base.attitude"].values[-1],
            q=run["joints.position"].values[-1],
            v=run["state.v"].values[-1],
        )
        errors.append(distance(end, exact))
        assert errors[-1] < 30.0 * tolerance
    trees.report("adaptive:", errors)
    assert errors[0] > 100.0 * errors[1]


def test_the_adaptive_step_follows_the_attitude_too():
    """A ball under a constant torque in its own axes: its rate is linear in time, which both formulas of the pair get
    exactly, and it does not move. Only the attitude errs: about axes that turn, by 30 tolerances at most."""
    ball = ff.Spacecraft.from_base("ball", mass=1.0, inertia=(1.0, 1.0, 1.0))
    push = ff.effects.WrenchPulse(frame="base", wrench=(0.0, 0.0, 0.0, 0.0, 1.5, -1.0))
    start = dataclasses.replace(ball.at_rest(), v=np.array([0.0, 0.0, 0.0, 3.0, 0.0, 1.0]))
    fine = swinging.advance(ball, (push,), swinging.starting(start), 0.0, 0.0005, 4000).state  # 1e-13 from RK4
    run = ff.simulate(ball, push, state=start, duration=2.0, dt=1.0, integrator="adaptive", tolerance=1e-9)
    error = np.min([np.linalg.norm(run["base.attitude"].values[-1] - s * fine.quat_NB) for s in (1.0, -1.0)])
    trees.report("attitude:", error)
    assert error < 30.0 * 1e-9

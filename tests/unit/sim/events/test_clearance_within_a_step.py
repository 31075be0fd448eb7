"""Clearances that close and open within one step: both instants, batches, the end of a run, what is unseen."""

import dataclasses

import jax
import numpy as np
import pytest

import freefloat as ff
from freefloat import engine
from freefloat.model.shapes import Shape
from freefloat.sim.kernel import step

RADIUS, LIMIT, SPEED, AHEAD = 0.3, 0.1, 7.0, 1.2345  # [m], [m], [m/s], [m]
NEAR = 2.0 * RADIUS + LIMIT  # of the centres [m]
BALL = ff.Spacecraft.from_base("ball", mass=2.0, inertia=(0.1, 0.1, 0.1))
BALL = BALL.with_shapes("base", Shape.ball((0.0, 0.0, 0.0), RADIUS))
WORLD = ff.World(a=BALL, b=BALL)


def passing(beside, craft=BALL, rate=0.0):
    """Comes along -x, beside the other one."""
    return dataclasses.replace(
        craft.at_rest(), p_NB=np.array([AHEAD, beside, 0.0]), v=np.array([-SPEED, 0.0, 0.0, 0.0, 0.0, rate])
    )


def instants(beside):
    """When the centres are NEAR apart: on a straight line, exactly."""
    half = np.sqrt(NEAR**2 - beside**2)
    return [(AHEAD - half) / SPEED, (AHEAD + half) / SPEED]


def run_of(beside, dt, **more):
    part = ff.Clearance(limit=LIMIT, **more)
    return ff.simulate(WORLD, part, state={"b": passing(beside)}, duration=0.5, dt=dt)


@pytest.mark.parametrize("dt", [0.5, 0.1, 0.05])
@pytest.mark.parametrize("beside", [0.0, 0.6, 0.699])
def test_a_pair_that_closes_and_opens_within_a_step_is_two_events(dt, beside):
    """To 1e-12 s: intervals are halved to 1e-13 of a step; where the pass is shallow, rounding of the distance over
    the rate at which it changes there, 1e-16 m / 0.4 m/s, is still less."""
    run = run_of(beside, dt)
    assert [event["kind"] for event in run.events] == ["clearance closed", "clearance opened"]
    assert [event["time"] for event in run.events] == pytest.approx(instants(beside), abs=1e-12)
    assert run.audit.holds
    assert not run.audit.warnings


def test_a_near_miss_is_no_event():
    assert not run_of(NEAR + 1e-6, 0.1).events
    assert len(run_of(NEAR - 1e-6, 0.1).events) == 2


def test_a_run_stops_where_a_pair_closed_though_it_opened_again():
    run = run_of(0.6, 0.1, stop=True)
    assert run.status == f"stopped at {instants(0.6)[0]:.9g} s: clearance of a.base - b.base closed"
    assert run["time"].values[-1] == pytest.approx(0.2)


def test_every_run_of_a_batch_has_its_own_instants():
    offsets = np.linspace(0.0, 0.9, 16)
    experiment = ff.Experiment.of(WORLD, ff.Clearance(limit=LIMIT), state={"b": passing(0.6)}, duration=0.5, dt=0.1)
    system, loop = experiment.begin()
    program = engine.compile(lambda loop: step(system, loop, {}), loop)
    batch = jax.tree.map(lambda x: np.repeat(np.asarray(x)[None], len(offsets), axis=0), loop)
    batch.plants[1].state.p_NB[:, 1] = offsets
    end = program.rollout_batch(batch, steps=5).state.clearances
    close = offsets < NEAR
    assert np.array_equal(end.changes[:, 0], 2 * close)
    expected = np.array([instants(y) for y in offsets[close]])
    assert np.max(np.abs(np.stack([end.closed_at, end.opened_at])[:, close, 0].T - expected)) < 1e-12
    plain = jax.tree.map(lambda x: np.asarray(x)[3], batch)
    for _ in range(5):
        plain = jax.jit(lambda x: step(system, x, {}))(plain)
    assert np.abs(plain.clearances.closed_at[0] - instants(offsets[3])[0]) < 1e-12


def test_bodies_that_turn_too_far_in_a_step_are_warned_of():
    """A rod of 2 m that spins at 8 rad/s may come closer between two looks; at a tenth of the step nothing is said."""
    rod = ff.Spacecraft.from_base("rod", mass=2.0, inertia=(0.1, 0.1, 0.1))
    rod = rod.with_shapes("base", Shape.capsule((-1.0, 0.0, 0.0), (1.0, 0.0, 0.0), 0.02))
    world = ff.World(a=BALL, b=rod)
    spinning = dataclasses.replace(
        rod.at_rest(), p_NB=np.array([0.0, RADIUS + 1.13, 0.0]), v=np.array([0.0, 0.0, 0.0, 0.0, 0.0, 8.0])
    )

    def warned(dt):
        return ff.simulate(world, ff.Clearance(limit=0.1), state={"b": spinning}, duration=1.0, dt=dt).audit.warnings

    (words,) = warned(0.1)
    assert "turn so fast" in words
    assert "dt = " in words
    assert not warned(0.002)

"""Forces that the step does not see are found by finer steps; those that it sees, or that jump once, are left alone."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.sim.audit.force_resolution import FEWEST, MOST, chosen_intervals, parts_of_a_step
from freefloat.values import record
from support import touching

CRAFT = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0)).with_link(
    "rod", parent="base", joint="revolute", mass=5.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42)
)
DT = 0.01  # [s]


@record
class Push(ff.Effect):
    """A force on the base that somebody wrote without saying when it begins and ends."""

    size: float  # [N]
    start: float  # [s]
    stop: float  # [s]
    steady: float = 0.0  # [N]

    def force(self, craft, state, clock):
        acts = (clock.t >= self.start) & (clock.t < self.stop)
        push = self.steady + jnp.where(acts, self.size, 0.0)
        return jnp.zeros(craft.layout.nv).at[0].set(push)


def pushed(*args: float, duration: float = 4.0, **options) -> ff.Run:
    return ff.simulate(CRAFT, Push(*args), duration=duration, dt=DT, check=False, **options)


@pytest.mark.parametrize(
    ("start", "stop"),
    [
        (3.203, 3.204),  # between the stages of whole and of half steps: nothing arrives
        (3.204, 3.206),  # at the stage in the middle: 3.33 times too much arrives
        (3.2031, 3.2034),  # a thirtieth of a step
        (0.003, 0.004),  # in the first step
        (3.998, 3.999),  # in the last one
    ],
)
def test_a_push_between_ticks_is_found(start, stop):
    run = pushed(10.0, start, stop)
    (entry,) = run.audit.violations
    assert entry.name.startswith("forces between ticks: ")
    assert entry.at == pytest.approx(np.floor(start / DT) * DT)
    assert "forces are not resolved by the step" in run.audit.reason
    assert "declare its instants" in run.audit.reason


@record
class Twist(ff.Effect):
    """A torque about y that acts for a millisecond between two ticks."""

    impulse: float  # [N m s]

    def force(self, craft, state, clock):
        acts = (clock.t >= 0.3725) & (clock.t < 0.3735)
        return jnp.zeros(6).at[4].set(jnp.where(acts, self.impulse / 0.001, 0.0))


@pytest.mark.parametrize("impulse", [0.0, 1e-8, 1e-6])  # [N m s]
def test_a_block_that_lies_on_a_slope_may_tremble_but_not_be_twisted_unseen(impulse):
    """It trembles by 1e-11 N m s: each piece of its steps may err by 1e-10 rad/s, which is 1.3e-12 N m s."""
    violated = touching.slide(0.99 * np.arctan(0.4), Twist(impulse), check=False).audit.violations
    assert any(entry.name.startswith("forces between ticks: ") for entry in violated) == (impulse > 0.0)
    assert impulse or not violated


def test_a_push_on_ticks_and_one_that_jumps_once_inside_a_step_are_left_alone():
    assert pushed(10.0, 1.0, 1.01).audit.holds
    assert pushed(1.0, 1.003, 4.0).audit.holds  # RK4 makes 1.6 ms of the 3: a tenth of a per cent of the motion
    assert pushed(1.0, 1.003, 2.007).audit.holds


def test_what_is_caught_is_a_thousandth_of_the_motion():
    """A steady push of 1 N for 4 s: 4 N s of impulse, and as much of momentum; a push of 1 ms beside it."""
    assert not pushed(20.0, 3.203, 3.204, 1.0).audit.holds
    assert pushed(2.0, 3.203, 3.204, 1.0).audit.holds


def test_it_does_not_depend_on_what_is_recorded():
    for record_dt in (0.01, 1.0, 4.0):
        assert not pushed(10.0, 3.203, 3.204, record_dt=record_dt).audit.holds, record_dt


def test_a_short_run_is_looked_at_wholly_and_a_long_one_in_part():
    every = np.arange(0, 4097, 4)
    np.testing.assert_array_equal(chosen_intervals(every), np.arange(1024))
    long = np.arange(0, 1_000_001, 500)
    chosen = chosen_intervals(long)
    assert 1_000_000 / 28 - 1000 < 500 * len(chosen) <= 1_000_000 / 28
    assert np.max(np.diff(chosen)) - np.min(np.diff(chosen)) <= 1
    assert (parts_of_a_step(100), parts_of_a_step(4096)) == (MOST, FEWEST)
    assert all(parts_of_a_step(ticks) % 2 for ticks in range(100, 4096, 37))


@pytest.mark.parametrize(("speed", "latches"), [(3.0, False), (2.0, True)])
def test_a_latch_whose_reach_is_crossed_within_a_step_is_not_passed_over_in_silence(speed, latches):
    """At 3 m/s the ports are within 5 cm of each other between 0.33 and 0.36 s only; at 2 m/s at the tick of 0.5 s."""
    box = ff.Spacecraft.from_base("box", mass=10.0, inertia=(1.0, 2.0, 1.5)).with_frame(
        "port", body="base", at=(0.5, 0.0, 0.0)
    )
    facing = ff.Pose.from_rpy_deg((0.0, 0.0, 180.0))
    world = ff.World(left=box, right=box).connection(
        "dock", "left.port", "right.port", at=facing, automatic=True, reach=(0.05, 0.1)
    )
    coming = dataclasses.replace(
        box.at_rest(),
        p_NB=np.array([1.0, -1.03, 0.0]),
        quat_NB=np.array([0.0, 0.0, 0.0, 1.0]),
        v=np.array([0.0, -speed, 0.0, 0.0, 0.0, 0.0]),
    )
    run = ff.simulate(world, state={"right": coming}, duration=2.0, dt=0.1, check=False)
    assert (len(run.events) > 0) is latches
    assert run.audit.holds is latches
    if not latches:
        assert run.audit.violations[-1].at == pytest.approx(0.3)

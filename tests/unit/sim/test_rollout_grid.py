"""Time in whole ticks: records share a run out evenly, and the audit looks often enough."""

import numpy as np
import pytest

import freefloat as ff
from freefloat.sim.rollout import AUDITED, Grid, grid, with_audited_instants


@pytest.mark.parametrize("steps", [1, 7, 1999, 2000, 2001, 6003, 8191, 10_007, 12_000, 1_000_000])
def test_records_that_nobody_asked_for_end_with_the_run(steps):
    found = grid(0.01 * steps, 0.01, None)
    assert found.steps == steps
    assert steps % found.record_every == 0
    assert found.record_every <= max(1, steps // 2000)


@pytest.mark.parametrize(("steps", "every"), [(1000, 1000), (1000, 3), (7 * 600, 7), (12_000, 400), (5, 5)])
def test_instants_that_are_audited_lie_between_the_records(steps, every):
    found = with_audited_instants(Grid(steps, every))
    assert every % found.record_every == 0
    assert found.record_every <= max(1, steps // AUDITED)


def test_a_run_that_is_no_whole_number_of_intervals_has_its_end_as_the_last_record():
    assert grid(1.0, 0.01, 0.05) == Grid(100, 5)
    uneven = grid(1.0, 0.01, 0.03)
    assert uneven == Grid(100, 3)
    assert uneven.records == 34
    assert uneven.stretches == (Grid(99, 3), Grid(1, 1))
    assert grid(1.0, 0.01, 3.0).stretches == (Grid(100, 100),)
    run = ff.simulate(ff.library.ets7(), duration=0.1, dt=0.01, record_dt=0.03)
    every = ff.simulate(ff.library.ets7(), duration=0.1, dt=0.01, record_dt=0.01)
    # The same steps by the same code: the same bits.
    assert np.allclose(run.values("time"), [0.0, 0.03, 0.06, 0.09, 0.1], atol=1e-15)
    assert np.array_equal(run.values("state.v"), every.values("state.v")[[0, 3, 6, 9, 10]])


def test_a_duration_that_steps_do_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"duration=0.015 s must be a whole number of steps of dt=0.01 s"):
        grid(0.015, 0.01, None)
    with pytest.raises(ValueError, match=r"100 steps.*intervals of 3 steps.*a campaign samples evenly"):
        grid(1.0, 0.01, 0.03).require_even("a campaign samples evenly")

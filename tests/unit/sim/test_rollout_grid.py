"""Time in whole ticks: records share a run out evenly, and the audit looks often enough."""

import pytest

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


def test_a_duration_that_records_do_not_fit_is_refused():
    assert grid(1.0, 0.01, 0.05) == Grid(100, 5)
    with pytest.raises(ValueError, match=r"duration=1.0 s is not a whole number of record_dt=0.03 s"):
        grid(1.0, 0.01, 0.03)
    with pytest.raises(ValueError, match=r"duration=0.015 s must be a whole number of steps of dt=0.01 s"):
        grid(0.015, 0.01, None)

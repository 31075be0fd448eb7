"""The paper's cell: hub, robot and beams against the prediction, and against the linear loop."""

import dataclasses
import os
import signal

import pytest

from freefloat.hil import rehearse
from freefloat.scenarios.goddard import GoddardRehearsal
from freefloat.scenarios.measures import damped_sinusoid
from freefloat.scenarios.rehearsed import rehearse_in_lockstep
from freefloat.scenarios.runner import judge_run, simulate_variant

pytest.importorskip("mujoco")

VARIANTS = GoddardRehearsal.variants()


def check(variant):
    run = simulate_variant(VARIANTS[variant], variant)
    claims = judge_run(VARIANTS[variant], run, simulate_variant).claims
    assert run.audit.holds
    assert len(claims) == 5
    assert not [row for row in claims if not row["holds"]]


@pytest.mark.slow
@pytest.mark.parametrize("variant", list(VARIANTS))
def test_hubs_in_the_cell(variant):
    check(variant)


@pytest.mark.parametrize("code", [signal.SIGINT, signal.SIGTERM])
def test_claims_of_a_rehearsal_that_a_signal_stops_are_not_judged(monkeypatch, code):
    scenario = VARIANTS["50-kg"]
    cell = scenario.facility()
    exchange = type(cell).exchange

    def stop_and_exchange(*given):
        os.kill(os.getpid(), code)
        return exchange(*given)

    monkeypatch.setattr(type(cell), "exchange", stop_and_exchange)
    with pytest.raises(KeyboardInterrupt, match=r"stopped at .* s: "):
        rehearse_in_lockstep(scenario, cell)


def test_settings_reach_the_cell():
    scenario = dataclasses.replace(VARIANTS["50-kg"], lag="second", bandwidth_hz=3.0, delay_ms=12.0, seed=4)
    cell = scenario.facility()
    assert (cell.bandwidth, cell.delay, cell.settings.seed) == (3.0, 0.012, 4)
    assert scenario.beams().tips == pytest.approx((0.0913, 0.0913))
    assert VARIANTS["250-kg"].beams().tips == pytest.approx((0.0381, -0.0381))


@pytest.mark.slow
def test_a_light_hub_behind_a_slow_second_order_lag_grows():
    """Negative control: the vibration grows where the linear loop says so."""
    unstable = dataclasses.replace(VARIANTS["25-kg"], lag="second")
    expected = unstable.model().first_damping()
    assert expected < -1e-3
    force = rehearse(unstable.rehearsal(), unstable.facility())["cell.hub.felt"][:, 1]
    assert damped_sinusoid(force.sel(time=slice(1.0, None)))[1] == pytest.approx(expected, abs=5e-5)

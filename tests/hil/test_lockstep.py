"""A facility at the ports of an experiment: nothing inside can tell, whatever the formulation."""

import numpy as np
import pytest

import freefloat as ff
from freefloat.hil import rehearse
from support.rehearsing import ROBOTS, cell, experiment, rehearsal, sampled_contact, start

SPIN = (0.001, -np.deg2rad(2.5), 0.002)  # [rad/s]


@pytest.mark.parametrize("formulation", ["relative", "absolute"])
def test_with_nothing_to_feel_it_is_the_simulation_bit_for_bit(formulation) -> None:
    made = experiment(duration=0.5, state=start(spin=SPIN))
    simulated, rehearsed = ff.simulate(made), rehearse(rehearsal(made, formulation=formulation), cell())
    assert rehearsed.completed
    assert rehearsed.audit.holds
    for name in simulated.channels:
        np.testing.assert_array_equal(rehearsed.values(name), simulated.values(name), err_msg=name)


@pytest.mark.parametrize("formulation", ["relative", "absolute"])
def test_with_the_contact_of_the_simulation_it_is_the_simulation(formulation) -> None:
    # In the cell the contact sees poses less the nominal motion, moved and turned by the placement; the wrench comes
    # back through the sensor's frame. Each rounds: 1e-9 is asked, and 1e-11 found.
    dt, state, k, b = 2e-3, start(gap=0.004, approach=0.05, spin=SPIN), 2e4, 200.0
    placement = ff.Pose.from_rpy_deg((20.0, -35.0, 50.0), (1.0, -2.0, 0.5))
    simulated = ff.simulate(experiment(duration=1.2, dt=dt, state=state, parts=sampled_contact(k, b, dt)), check=False)
    made = rehearsal(experiment(duration=1.2, dt=dt, state=state), formulation=formulation, placement=placement)
    rehearsed = rehearse(made, cell(k, b, cycle=dt))
    assert rehearsed.audit.holds
    assert np.max(np.abs(rehearsed.values(f"cell.{ROBOTS[0]}.wrench"))) > 100.0  # [N]: they did touch
    for name in ("position", "attitude", "velocity", "rate"):
        for craft in ("servicer", "client"):
            channel = f"{craft}.base.{name}"
            np.testing.assert_allclose(
                rehearsed.values(channel), simulated.values(channel), rtol=0.0, atol=1e-9, err_msg=channel
            )

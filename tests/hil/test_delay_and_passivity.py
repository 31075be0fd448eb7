"""Contact of two spacecraft through a facility that is late, in six dimensions: spec/001 4 E on the real loop."""

import jax
import numpy as np
import pytest

import freefloat as ff
from freefloat.dynamics import frame_jacobian, mass_matrix
from freefloat.hil import DelayCompensation, Limits, Passivity, estimate_delay, measure_delay, rehearse, restitution
from freefloat.hil.faulty import FaultyFacility
from freefloat.hil.loop.cycle import Cycle
from freefloat.hil.passivity import port_mobility
from support.rehearsing import OBSERVE, ROBOTS, cell, experiment, rehearsal, restitution_of, start

MU, STIFFNESS = 780.55, 1e5  # [kg], [N/m]
DELAYS = (1e-3, 5e-3, 10e-3, 20e-3)  # [s]
HOLD = DelayCompensation(delay=0.0)  # half a cycle for the hold, nothing for the delay
WIDE = Limits(force=1e5, torque=1e5, acceleration=100.0)  # [N, N m, m/s2]
SPIN = (0.0, -np.deg2rad(2.5), 0.0)  # [rad/s]


def bounce(delay, k=STIFFNESS, spin=(0.0, 0.0, 0.0), **options):
    made = experiment(duration=0.9, state=start(gap=0.0025, spin=spin), record_dt=1e-3)
    run = rehearse(rehearsal(made, limits=WIDE, **options), cell(k, delay=delay))
    assert run.completed, run.status
    assert run.audit.holds
    return run


@pytest.mark.parametrize("delay", DELAYS)
def test_without_the_controller_it_comes_back_as_fast_as_the_closed_form_says(delay) -> None:
    # The loop's own half cycle is made up for, so only the delay is left; 1e-3 for where contact begins and ends.
    run = bounce(delay, passivity=OBSERVE, compensation=HOLD)
    assert abs(restitution_of(run) - restitution(MU, STIFFNESS, delay)) < 1e-3
    assert run.values("cell.energy")[-1] < 0.0  # the observer has seen what the delay gave


@pytest.mark.parametrize("delay", DELAYS)
def test_with_the_controller_it_does_not_come_back_faster(delay) -> None:
    run = bounce(delay, passivity=Passivity(), compensation=HOLD)
    assert 0.98 < restitution_of(run) <= 1.02
    tumbling = bounce(delay, passivity=Passivity(), compensation=HOLD, spin=SPIN)
    assert 0.98 < restitution_of(tumbling) <= 1.02
    # What the controller takes is taken from both alike: nothing is pushed from outside.
    whole = tumbling.values("world.momentum.angular")
    # A wrench is held in the axes of each for a cycle, in which they come nearer by 50 um: 78 N s at half that lever.
    np.testing.assert_allclose(whole, whole[:1].repeat(len(whole), 0), rtol=0.0, atol=2e-3)


@pytest.mark.parametrize("delay", [5e-3, 20e-3])
def test_commands_ahead_of_the_delay_leave_little_for_the_controller(delay) -> None:
    run = bounce(delay, passivity=OBSERVE, compensation=DelayCompensation())
    # What is left has the sign of damping and a size of (w T)^3 / 6, twice over half a turn of the contact.
    left = np.pi / 6.0 * (np.sqrt(STIFFNESS / MU) * delay) ** 3
    assert 1.0 - 2.0 * left - 1e-3 < restitution_of(run) < 1.0 + 1e-3


def test_the_bound_holds_for_stiff_contact_too() -> None:
    run = bounce(20e-3, k=1e6, passivity=Passivity(), compensation=HOLD)
    assert restitution_of(run) <= 1.02
    # Without the half cycle the bound is lost, as in one dimension.
    late = bounce(20e-3, k=1e6, passivity=Passivity(), compensation=None)
    assert restitution_of(late) > 1.02


def test_mobility_at_the_port_is_that_of_both_mass_matrices(rng) -> None:
    arm = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 25.0, 30.0)).with_link(
        "rod", parent="base", joint="revolute", mass=5.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42)
    )
    arm = arm.with_frame("hand", body="rod", at=ff.Pose.from_rpy_deg((10.0, 20.0, 30.0), (1.0, 0.1, 0.2)))
    other = ff.Spacecraft.from_base("client", mass=500.0, inertia=(100.0, 150.0, 200.0))
    state = arm.at_rest(joints=rng.normal(size=1))
    away = ff.Pose.from_rpy_deg(rng.normal(size=3) * 60.0, rng.normal(size=3))
    its = other.at_rest()
    its = type(its)(p_NB=away.p, quat_NB=np.asarray(away.quaternion), q=its.q, v=its.v)
    J, M = np.asarray(frame_jacobian(arm, state.q, "hand")), np.asarray(mass_matrix(arm, state.q))
    X_NP = np.asarray(ff.dynamics.inertial_frame_pose(arm, state, "hand").adjoint())
    A = np.linalg.inv(X_NP) @ np.asarray(away.adjoint())
    M_t = np.asarray(mass_matrix(other, its.q))
    wanted = J @ np.linalg.solve(M, J.T) + A @ np.linalg.solve(M_t, A.T)
    found = jax.jit(lambda s, o: port_mobility(arm, s, "hand", (), ((other, o, "base"),)))(state, its)
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-9, atol=1e-12)
    # Seen from the other one it is the same, in its own axes at its own frame: what it touches may be a moving hand.
    back = jax.jit(lambda s, o: port_mobility(other, o, "base", (), ((arm, s, "hand"),)))(state, its)
    np.testing.assert_allclose(A @ np.asarray(back) @ A.T, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("delay", [0.0, 7.4e-3])
def test_a_small_motion_finds_the_delay(delay) -> None:
    facility = cell(delay=delay)
    commands = Cycle(rehearsal(experiment()), facility, 0.0).commands()
    facility.start(commands)
    for found in measure_delay(facility, commands).values():
        assert abs(found - delay) < 1e-5  # a hundredth of a cycle
    made = rehearsal(experiment(duration=0.02), compensation=DelayCompensation(measured=True))
    assert rehearse(made, facility).completed


def test_a_test_motion_that_fails_stops_the_facility() -> None:
    made = rehearsal(experiment(duration=0.02), compensation=DelayCompensation(measured=True))
    facility = FaultyFacility(cell(), "protective stop", 100)
    with pytest.raises(ValueError, match="stopped in the test motion: protective stop"):
        rehearse(made, facility)
    assert len(facility.stops) == 1


def test_where_nothing_moves_no_delay_is_found() -> None:
    t = np.arange(10) * 1e-3
    assert np.isnan(estimate_delay(t, np.zeros(10), np.zeros(10)))


def test_what_a_trusted_sensor_says_acts_on_both(rng) -> None:
    run = bounce(0.0, passivity=None, compensation=None, spin=SPIN)
    felt = run.values(f"cell.{ROBOTS[0]}.felt"), run.values(f"cell.{ROBOTS[1]}.felt")
    # In the cell the client robot stands still but for the contact; its frame F axes are those of the placement.
    k = int(np.argmax(np.abs(felt[0][:, 0])))
    forces = []
    for robot, own, frame in (
        (ROBOTS[0], felt[0][k], ff.Pose.from_rpy_deg((0.0, 0.0, 30.0))),
        (ROBOTS[1], felt[1][k], ff.Pose()),
    ):
        quat = run.values(f"cell.{robot}.commanded.attitude")[k]
        R_FM = np.asarray(ff.Pose.from_quaternion(quat, np.zeros(3)).R)
        forces.append(R_FM @ np.asarray(frame.R) @ own[:3])
    np.testing.assert_allclose(forces[0], -forces[1], rtol=0.0, atol=1e-9)

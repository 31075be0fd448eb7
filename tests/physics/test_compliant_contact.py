"""Compliant contact: in the stiff limit it is an impact; its books balance, and what is wrong with it is said."""

import dataclasses

import numpy as np
import pytest

import freefloat as ff
from freefloat.dynamics import INERTIAL, FrameRows, contact_impact
from freefloat.dynamics.row_directions import contact
from freefloat.effects.contact import CompliantContact, ContactBox, HuntCrossley, KelvinVoigt, Plane, Sphere
from support import touching
from support.touching import BODY, CLIENT, DOCKING, PAIR, RADIUS

TIP, E, FRICTION = np.array([0.3, 0.0, -0.4]), 0.6, 0.1


def off_centre():
    """A body that comes down with its tip beside its centre of mass, turning and gliding; 1 um above the plane.

    It moves in the plane of x and z, where slip has one direction: an impact knows that of its end only.
    """
    start = touching.at(BODY, (0.0, 0.0, 0.0), (0.2, 0.0, -0.5), (0.0, -0.2, 0.0))
    return dataclasses.replace(start, p_NB=np.array([0.0, 0.0, RADIUS - TIP[2] + 1e-6]))


def impact_map():
    """Speeds after an impact with the same restitution and friction, and the speed at which the tip comes."""
    craft, state = BODY.with_value("tip.X_BF.position", TIP), off_centre()
    rows = FrameRows(INERTIAL, (0, "tip"), contact((0.0, 0.0, 1.0)))
    # The point that touches is a radius below the frame.
    levers = [(*row[:3], *(-RADIUS * np.cross((0, 0, 1), row[:3]))) for row in np.array(rows.directions)[1:]]
    rows = FrameRows(INERTIAL, (0, "tip"), (rows.directions[0], *levers))
    found = contact_impact((craft,), (state,), [rows], E, FRICTION)
    return np.asarray(found.speeds[0]), -float(found.before[0])


def bounced(stiffness, damping):
    """Speeds after compliant contact of a stiffness; friction as stiff, damped so that it does not ring."""
    run = touching.rub(
        TIP,
        off_centre(),
        friction=FRICTION,
        stiffness=stiffness,
        damping=damping,
        bristle=stiffness**0.8,
        bristle_damping=stiffness**0.4,
        duration=0.05,
        dt=0.005,
    )
    touched = run["contact.contact.push"].values
    assert touched[-1] == 0.0
    assert run.audit.holds
    return run


def test_in_the_stiff_limit_contact_is_an_impact():
    """First order in the time of contact, which falls with k^(-2/5) of a Hertzian law: a factor of 100^0.4 each."""
    expected, speed = impact_map()
    damping = HuntCrossley.from_restitution(1.0, E, speed).damping
    errors = []
    for stiffness in (1e8, 1e10, 1e12):
        run = bounced(stiffness, damping)
        v, w = run["base.velocity"].values[-1], run["base.rate"].values[-1]
        # Turned back to when it touched: the body is free before and after, and spherical.
        R = np.asarray(ff.spatial.rotations.rotation_matrix(run["base.attitude"].values[-1]))
        errors.append(np.linalg.norm(np.concatenate([R @ v, R @ w]) - expected))
    orders = np.log(np.array(errors[:-1]) / errors[1:]) / np.log(100.0)
    np.testing.assert_allclose(orders, 0.4, atol=0.04)
    assert errors[-1] < 1e-4


def test_too_stiff_a_contact_is_said_with_a_step_that_would_do():
    stiffness = 1e20
    depth = (touching.MASS * touching.G / stiffness) ** (2.0 / 3.0)
    rests = touching.at(BODY, (0.0, 0.0, RADIUS - depth), (0.01, 0.0, 0.0))
    with pytest.raises(ff.RunFailed, match=r"steps left unfinished +VIOLATED") as failed:
        touching.rub(np.zeros(3), rests, touching.G, stiffness=stiffness, duration=0.01, dt=0.005)
    assert "contact is too stiff for this step" in str(failed.value)
    assert "would do" in str(failed.value)


def test_an_overlap_at_the_start_is_refused_with_depth_and_remedy():
    ball = CompliantContact("base", Sphere(RADIUS), "N", Plane(), KelvinVoigt(1e4))
    start = touching.at(BODY, (0.0, 0.0, 0.0975))
    with pytest.raises(
        ff.ModelError, match=r"overlap by 2\.5 mm at the start, which would release 0\.0313 J"
    ) as refused:
        ff.simulate(BODY, ball, state=start, duration=0.1, dt=0.01)
    assert "Move 'base' along (0, 0, 1)" in str(refused.value)
    assert "pressed=True" in str(refused.value)


def test_contacts_that_cannot_be_are_refused():
    with pytest.raises(ff.ModelError, match="touch itself"):
        CompliantContact("base", Sphere(0.1), "base", Plane(), KelvinVoigt(1e4))
    with pytest.raises(ff.ModelError, match="cannot touch"):
        CompliantContact("base", ContactBox((1, 1, 1)), "N", touching.ContactCone(0.2, 0.2), KelvinVoigt(1e4))
    with pytest.raises(ff.ModelError, match="stiffness must be positive"):
        KelvinVoigt(-1.0)
    wrong = CompliantContact("servicer.rgin", Sphere(0.1), "client.drogue", Sphere(0.1), KelvinVoigt(1e4))
    with pytest.raises(ff.ModelError, match="no frame 'rgin'"):
        ff.Experiment.of(PAIR, wrong, duration=1.0, dt=0.01).begin()
    with pytest.raises(ff.ModelError, match="needs integrator='rk4'"):
        ff.Experiment.of(PAIR, DOCKING, duration=1.0, dt=0.01, integrator="adaptive").begin()
    with pytest.raises(ff.ModelError, match="Two parts are called"):
        ff.Experiment.of(PAIR, DOCKING, DOCKING, duration=1.0, dt=0.01).begin()


# ---- two spacecraft


@pytest.fixture(scope="module")
def docking():
    return ff.simulate(PAIR, DOCKING, state={"client": touching.approach()}, duration=2.0, dt=1e-3, record_dt=5e-3)


@pytest.mark.slow  # lesson 19 shows the same
def test_a_probe_slides_into_a_cone(docking):
    assert docking.audit.holds
    assert np.max(docking["contact.docking.points"].values) >= 1.0
    momentum = docking["world.momentum.linear"].values
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-10)
    angular = docking["world.momentum.angular"].values
    np.testing.assert_allclose(angular, np.broadcast_to(angular[0], angular.shape), atol=1e-9)
    # Whatever was lost is in the books, and nothing is gained.
    total = sum(docking[name].values for name in ("world.energy.kinetic", "interactions.stored"))
    lost = docking["interactions.dissipated"].values
    np.testing.assert_allclose(total + lost, total[0], rtol=1e-8)
    assert np.all(np.diff(lost) >= -1e-12)


@pytest.mark.slow
def test_a_run_goes_on_in_the_middle_of_a_contact(docking):
    """Bristles that are bent are saved with it: the same bits."""
    options = {"state": {"client": touching.approach()}, "dt": 1e-3, "record_dt": 5e-3}
    touch = docking["time"].values[docking["contact.docking.push"].values > 0.0][0]
    experiment = ff.Experiment.of(PAIR, DOCKING, duration=float(touch), **options)
    first = ff.simulate(experiment)
    assert np.any(first.saved.leaves[".plants.interactions[0].state"])
    second = ff.continue_run(first, experiment, duration=float(2.0 - touch))
    for name in ("client.base.velocity", "interactions.dissipated"):
        assert np.array_equal(second[name].values[-1], docking[name].values[-1])


@ff.record
class Forgetful(CompliantContact):
    """Books half of what it loses."""

    def act(self, truth, inner, on, clock):
        action = super().act(truth, inner, on, clock)
        return dataclasses.replace(action, heat=0.5 * action.heat)


@ff.record
class OneSided(CompliantContact):
    """Pushes one body only."""

    def act(self, truth, inner, on, clock):
        action = super().act(truth, inner, on, clock)
        return dataclasses.replace(action, forces=(0.0 * action.forces[0], action.forces[1]))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "words"), [(Forgetful, "work = - stored"), (OneSided, "action = reaction")])
def test_the_audit_finds_a_contact_that_does_not_keep_its_books(kind, words):
    fields = {f.name: getattr(DOCKING, f.name) for f in dataclasses.fields(DOCKING)}
    wrong = kind(**fields)
    with pytest.raises(ff.RunFailed) as failed:
        ff.simulate(PAIR, wrong, state={"client": touching.approach()}, duration=2.0, dt=1e-3, record_dt=5e-3)
    assert any(words in entry.name for entry in failed.value.run.audit.violations)


@pytest.mark.slow
def test_compiled_contact_is_the_same_as_in_jax():
    options = {"friction": FRICTION, "stiffness": 1e8, "damping": 1.0, "duration": 0.02, "dt": 0.005}
    ours, plain = (touching.rub(TIP, off_centre(), **options, engine=engine) for engine in ("native", "jax"))
    for name in ("base.velocity", "base.rate", "interactions.dissipated"):
        np.testing.assert_allclose(ours[name].values, plain[name].values, atol=1e-9)


@pytest.mark.slow
def test_nothing_is_changed_by_a_contact_that_is_far_away():
    """The same bits as in a world without one."""
    start = touching.approach(distance=5.0)
    with_contact, without = (
        ff.simulate(PAIR, *parts, state={"client": start}, duration=2.0, dt=1e-3, record_dt=5e-3)
        for parts in ((DOCKING,), ())
    )
    assert np.array_equal(with_contact["client.base.position"].values, without["client.base.position"].values)
    assert CLIENT.mass == 200.0

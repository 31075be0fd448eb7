"""Linear models of experiments: exact against central differences of the motion, against closed forms, with names."""

import dataclasses

import numpy as np
import pytest

import freefloat as ff
from freefloat import control, effects
from freefloat.analysis import linearise, linearise_free

CRAFT = (
    ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 22.0, 24.0))
    .with_link("rod", parent="base", joint="revolute", mass=5.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42))
    .with_wheel("wheel.x", axis=(1.0, 0.0, 0.0), inertia=0.1)
    .with_wheel("wheel.y", axis=(0.0, 1.0, 0.0), inertia=0.1)
    .with_wheel("wheel.z", axis=(0.0, 0.0, 1.0), inertia=0.1)
)


def test_without_parts_it_is_the_model_of_the_free_spacecraft():
    rng = np.random.default_rng(1)
    state = dataclasses.replace(CRAFT.at_rest(joints=(0.4,)), v=rng.normal(size=CRAFT.layout.nv))
    model = linearise(ff.Experiment.of(CRAFT, duration=1.0, state=state))
    free = linearise_free(CRAFT, state, np.zeros(CRAFT.layout.nv))
    np.testing.assert_allclose(model.A, free.A, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.B, free.B, rtol=1e-9, atol=1e-12)
    assert model.states[6] == "rod"
    assert model.inputs == (
        *(f"base.{kind}.{a}" for kind in ("force", "torque") for a in "xyz"), "wheel.x", "wheel.y", "wheel.z", "rod",
    )  # fmt: skip


def test_a_wheel_loop_has_the_poles_of_its_gains():
    """Attitude by wheels about a principal axis: I s^2 + d s + k = 0, the wheels' axial inertia not taking part."""
    hub = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 22.0, 24.0))
    for letter, axis in zip("xyz", np.eye(3), strict=True):
        hub = hub.with_wheel(f"wheel.{letter}", axis=axis, inertia=0.1)
    hold = control.AttitudeHold(craft=hub, stiffness=2.0, damping=10.0, period=0.5)
    model = linearise(ff.Experiment.of(hub, hold, duration=1.0, dt=0.5))
    z = model.submodel(states=("base.rotation.z", "base.rate.z"))
    np.testing.assert_allclose(np.sort(z.poles), np.sort(np.roots([24.0 - 0.1, 10.0, 2.0])), rtol=1e-9)
    assert "AttitudeHold, sampled every 0.5 s, is taken as continuous." in str(model)


def test_damping_of_joints_and_modes_is_in_it():
    """What damping adds to A is -M^-1 D in the columns of the speeds, of the start at rest, and nothing else."""
    beam = ff.flex.beam(length=4.0, mass=8.0, bending_stiffness=300.0, modes={"y": 2}, damping_ratio=0.02)
    craft = CRAFT.with_value("rod.damping", 3.0).mount(beam, name="panel")
    bare = dataclasses.replace(beam, damping=np.zeros_like(beam.damping))
    without = CRAFT.mount(bare, name="panel")
    n, at = craft.layout.nv, craft.layout.velocity
    D = np.zeros((n, n))
    D[at("rod"), at("rod")] = 3.0
    D[at("panel.modes"), at("panel.modes")] = beam.damping
    start = craft.at_rest(joints=(0.4,))
    adds = -np.linalg.solve(np.asarray(ff.dynamics.mass_matrix(craft, start.q)), D)
    found = [linearise(ff.Experiment.of(one, duration=1.0, state=start)).A for one in (craft, without)]
    free = [linearise_free(one, start, np.zeros(n)).A for one in (craft, without)]
    for damped, undamped in (found, free):
        np.testing.assert_allclose((damped - undamped)[-n:, -n:], adds, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal((damped - undamped)[:, :-n], 0.0)
    assert np.max(np.abs(adds)) > 0.1


def test_the_gravity_gradient_librates():
    """Pitch of a body in a circular orbit: the stiffness about the orbit normal is 3 n^2 (I_x - I_z)."""
    hub = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(24.0, 22.0, 10.0))
    orbit = effects.CircularOrbit(altitude=550e3)
    start = effects.co_rotating_state(hub, orbit, np.zeros(0))
    model = linearise(ff.Experiment.of(hub, effects.GravityGradient(orbit=orbit), duration=1.0, state=start))
    row, column = model.states.index("base.rate.y"), model.states.index("base.rotation.y")
    expected = -3.0 * float(orbit.rate) ** 2 * (24.0 - 10.0) / 22.0
    np.testing.assert_allclose(model.A[row, column], expected, rtol=1e-9)
    # The translation is among the states: gravity acts on it as in Clohessy and Wiltshire, here in N.
    n2 = float(orbit.rate) ** 2
    rows = [model.states.index(f"base.velocity.{a}") for a in "xyz"]
    columns = [model.states.index(f"base.position.{a}") for a in "xyz"]
    np.testing.assert_allclose(model.A[np.ix_(rows, columns)], n2 * np.diag([-1.0, -1.0, 2.0]), rtol=1e-9, atol=1e-20)
    assert "The centre of mass of 'hub' is on the orbit." in model.notes
    off = dataclasses.replace(start, p_NB=np.array([0.0, 3.0, 4.0]))
    model = linearise(ff.Experiment.of(hub, effects.GravityGradient(orbit=orbit), duration=1.0, state=off))
    assert "The centre of mass of 'hub' is 5 m from the orbit, where gravity pushes it." in model.notes


def test_outputs_are_measurements_and_wrong_names_are_refused():
    experiment = ff.Experiment.of(CRAFT.with_frame("tip", body="rod"), duration=1.0)
    model = linearise(experiment, outputs=("tip.position", "joints.rate"), inputs=("rod",))
    assert model.outputs == ("tip.position.x", "tip.position.y", "tip.position.z", "joints.rate.1")
    np.testing.assert_allclose(model.C[:3, :3], np.eye(3), atol=1e-15)
    assert model.B.shape == (len(model.states), 1)
    with pytest.raises(ff.ModelError, match="no input 'elbow'"):
        linearise(experiment, inputs=("elbow",))
    with pytest.raises(ff.SoftwareError, match="nothing that can be measured"):
        linearise(experiment, outputs=("top.position",))


def test_two_spacecraft_do_not_mix():
    world = ff.World(one=CRAFT, two=ff.Spacecraft.from_base("two", mass=1.0, inertia=(1.0, 2.0, 3.0)))
    model = linearise(ff.Experiment.of(world, duration=1.0))
    mine = np.array([name.startswith("one.") for name in model.states])
    assert not np.any(model.A[np.ix_(mine, ~mine)])
    assert not np.any(model.A[np.ix_(~mine, mine)])
    assert "two.base.force.x" in model.inputs

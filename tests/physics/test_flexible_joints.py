"""Joints whose gears give way: the motor in the mass matrix, its spin, the spring, and what real gears lose.

Unless a test says otherwise: 1e-12 of the largest entry, some hundred roundings.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat import dynamics, engine
from freefloat.dynamics import elastic
from freefloat.dynamics.state_rate import component_rates, state_rate
from freefloat.model import State
from freefloat.spatial import Pose
from support import trees
from support.compiling import compiled

TOLERANCE = 1e-12
GEAR = ff.JointFlexibility(stiffness=2000.0, motor_inertia=2e-3, ratio=50.0)  # [N m/rad], [kg m2]
BASE, LINK = 30.0, 2.0  # inertia of base, its rotor locked, and link about the joint's axis [kg m2]


@compiled
def laws_of_motion(craft, q, v, force):
    """Energy, momentum and how they change, and the acceleration by two ways."""
    vdot = dynamics.forward_dynamics(craft, q, v, force)
    state = State(p_NB=jnp.zeros(3), quat_NB=jnp.array([1.0, 0.0, 0.0, 0.0]), q=q, v=v)
    along = component_rates(state, state_rate(craft, state, vdot))

    def kept(state):
        stored = dynamics.kinetic_energy(craft, state.q, state.v) + elastic.elastic_energy(craft, state.q)
        return stored, dynamics.momentum_about_origin(craft, state)

    (energy, momentum), (power, push) = jax.jvp(kept, (state,), (along,))
    return {
        "M": dynamics.mass_matrix(craft, q),
        "kinetic": dynamics.kinetic_energy(craft, q, v),
        "elastic force": elastic.elastic_force(craft, q),
        "vdot": vdot,
        "again": dynamics.forward_dynamics_by_mass_matrix(craft, q, v, force),
        "energy": energy,
        "power": power,
        "momentum": momentum,
        "push": push,
    }


def two_inertias(gear=GEAR):
    """A base and a link that turn about the same axis, through both centres of mass."""
    hub = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, BASE))
    return hub.with_link("arm", parent="base", joint="revolute", mass=5.0, inertia=(1.5, 1.5, LINK), flexibility=gear)


def closed_form(gear=GEAR, held=False):
    """Squared frequency, and acceleration of the torsion per unit motor torque, of the three bodies that turn.

    Base a, rotor r and link l turn in space; the torsion is (r - a) / n - (l - a), the torque acts along (r - a) / n.
    """
    n, J = gear.ratio, gear.motor_inertia
    on_base = 0.0 if held else 1.0 / (BASE - J)
    mobility = (1.0 - 1.0 / n) ** 2 * on_base + 1.0 / (n**2 * J) + 1.0 / LINK
    return gear.stiffness * mobility, -(1.0 - 1.0 / n) / n * on_base + 1.0 / (n**2 * J)


@ff.record
class Push(ff.Software):
    """A constant torque of the motor."""

    torque: float = 3.0  # at the joint [N m]

    def command(self, memory, y, clock):
        return ff.JointTorques(("arm",), jnp.array([self.torque]))


def random_arm(rng, *, modal):
    """An arm of which every joint is flexible, turned anyhow; `modal`: on a beam, at whose tip it sits."""
    craft = trees.draw_tree(rng, "tiny")
    if modal:
        beam = ff.flex.beam(length=3.0, mass=8.0, bending_stiffness=400.0, modes={"y": 2, "z": 1}, name="beam")
        craft = craft.mount(beam, name="beam", at=Pose(position=(0.2, -0.1, 0.3)))
        at = Pose(position=(0.0, 0.1, 0.0), rotation=trees.draw_rotation(rng))
        hand = {
            "joint": "revolute",
            "mass": 2.0,
            "com": (0.1, 0.2, -0.1),
            "inertia": (0.2, 0.3, 0.25),
            "axis": rng.normal(size=3),
        }
        craft = craft.with_link("gripper", parent="beam.tip", at=at, **hand)
    for joint in craft.layout.moving_joints:
        rotor = 0.05 * np.min(np.linalg.eigvalsh(craft.bodies[0].inertia))
        gear = ff.JointFlexibility(
            stiffness=rng.uniform(50.0, 500.0), motor_inertia=rotor, ratio=rng.choice([-1.0, 1.0]) * rng.uniform(1, 20)
        )
        craft = craft.with_flexible_joint(joint, gear)
    return craft


@pytest.mark.parametrize("modal", [False, True])
def test_one_kinetic_energy_gives_mass_matrix_momentum_and_motion(rng, modal):
    craft = random_arm(rng, modal=modal)
    q, v = 0.2 * rng.normal(size=craft.layout.nq), rng.normal(size=craft.layout.nv)
    force = rng.normal(size=v.size)
    found = laws_of_motion(craft, q, v, force)
    M, vdot, elastic_force = found["M"], found["vdot"], found["elastic force"]
    assert trees.relative_error(M, M.T) < 1e-15
    assert np.all(np.linalg.eigvalsh(M) > 0.0)
    assert found["kinetic"] == pytest.approx(0.5 * v @ M @ v, rel=1e-13)
    assert trees.relative_error(found["momentum"], M[:6] @ v) < TOLERANCE
    assert trees.relative_error(found["again"], vdot) < 1e-10  # cond(M) up to 1e5
    # What the force does, and takes from the springs, is the rate of the energy, whatever turns and bends.
    size = np.abs(force) @ np.abs(v) + np.abs(v) @ np.abs(M) @ np.abs(vdot)
    assert abs(found["power"] - (force - elastic_force) @ v) < TOLERANCE * size
    assert np.max(np.abs(found["push"] - force[:6])) < TOLERANCE * np.max(np.abs(M[:6]) @ np.abs(vdot))


def test_the_rotor_is_a_body_that_turns(rng):
    """Against a tree in which the rotor is a body on a joint of its own and a spring pulls between the two."""
    n, J, k = -7.0, 0.02, 300.0
    whole = np.diag([3.0, 4.0, 5.0])
    at = Pose(position=(0.3, -0.2, 0.1), rotation=trees.draw_rotation(rng))
    axis = np.array([0.0, 0.0, 1.0])
    link = {
        "joint": "revolute",
        "mass": 6.0,
        "com": (0.4, 0.1, 0.0),
        "inertia": (0.3, 0.8, 0.9),
        "at": at,
        "parent": "base",
    }
    gear = ff.JointFlexibility(stiffness=k, motor_inertia=J, ratio=n)
    ours = ff.Spacecraft.from_base("hub", mass=40.0, inertia=whole).with_link("arm", flexibility=gear, **link)
    # The rotor: a disc of next to no mass at the centre of the base, its inertia taken out of the base's.
    R, disc, mass = np.asarray(at.R), np.diag([0.5, 0.5, 1.0]) * J, 1e-9
    apart = ff.Spacecraft.from_base("hub", mass=40.0 - mass, inertia=whole - R @ disc @ R.T)
    disc_at = Pose(rotation=at.R)
    apart = apart.with_link("rotor", parent="base", joint="revolute", mass=mass, inertia=disc, at=disc_at, axis=axis)
    apart = apart.with_link("arm", **link)
    v, torsion, q = rng.normal(size=8), 0.05, 0.7
    spring, torque = k * torsion, 2.0  # of the motor, at the joint
    mine = trees.forward_dynamics(
        ours, np.array([q, q + torsion]), v, np.array([*np.zeros(6), spring, torque - spring])
    )
    theirs = trees.forward_dynamics(
        apart,
        np.array([n * (q + torsion), q]),
        np.array([*v[:6], n * v[7], v[6]]),
        np.array([*np.zeros(6), (torque - spring) / n, spring]),
    )
    expected = np.array([*theirs[:6], theirs[7], theirs[6] / n])
    assert trees.relative_error(mine, expected) < 1e-9  # the mass of the disc
    # Without the coupling (Spong 1987) it would be another motion: the base takes up the rotor's spin.
    M = trees.mass_matrix(ours, np.zeros(2))
    assert np.linalg.norm(M[3:6, 7]) == pytest.approx(abs(J * n), rel=1e-12)


def test_frequency_of_two_inertias():
    for gear in (GEAR, dataclasses.replace(GEAR, ratio=-3.0)):
        craft = two_inertias(gear)
        assert dynamics.natural_frequencies(craft)[0] ** 2 == pytest.approx(closed_form(gear)[0], rel=1e-13)
        held = ff.analysis.vibration_modes(craft, held=True)
        assert held.frequencies[0] ** 2 == pytest.approx(closed_form(gear, held=True)[0], rel=1e-13)
        assert held.main_rows == ("arm.gear",)
        locked = ff.analysis.vibration_modes(craft, held=True, locked=("arm",))
        assert locked.frequencies[0] ** 2 == pytest.approx(gear.stiffness / LINK, rel=1e-13)


@pytest.mark.slow
def test_linear_model_of_two_inertias():
    model = ff.analysis.linearise(ff.Experiment.of(two_inertias(), duration=1.0))
    assert "arm.motor" in " ".join(model.states)
    # Poles at zero are double, so the others are good to the square root of rounding times what they are.
    assert np.max(model.poles.imag) ** 2 == pytest.approx(closed_form()[0], rel=1e-9)


def test_step_response_of_two_inertias_that_float():
    """1e-9 of the largest torsion: RK4 at w dt = 0.004 errs by 7e-11 after two seconds."""
    squared, per_torque = closed_form()
    run = ff.simulate(two_inertias(), Push(), duration=2.0, dt=1e-4, record_dt=1e-2)
    largest = 2.0 * 3.0 * per_torque / squared
    expected = 0.5 * largest * (1.0 - np.cos(np.sqrt(squared) * run["time"].values))
    assert np.max(np.abs(run["motors.torsion"].values[:, 0] - expected)) < 1e-9 * largest
    assert (
        np.max(np.abs(run["joints.torque"].values[:, 0] - GEAR.stiffness * expected)) < 1e-9 * GEAR.stiffness * largest
    )
    assert np.max(run["energy.elastic"].values) == pytest.approx(0.5 * GEAR.stiffness * largest**2, rel=1e-3)
    assert run.audit.holds


def test_friction_of_the_motor_and_damping_of_the_gear_act_where_they_are():
    """Between both sides for the gear, against the motor's own rate for its friction."""
    craft = two_inertias(dataclasses.replace(GEAR, damping=2.0, motor_damping=3.0))
    arm, motor = (craft.layout.velocity(name).start for name in ("arm", "arm.motor"))
    v = np.zeros(craft.layout.nv)
    v[arm], v[motor] = 0.5, 0.9
    force = np.asarray(dynamics.damping_force(craft, np.zeros(2), v))
    assert force[arm] == pytest.approx(2.0 * 0.4)
    assert force[motor] == pytest.approx(-2.0 * 0.4 - 3.0 * 0.9)
    assert np.count_nonzero(force) == 2


def test_gears_only_take_energy():
    """Damping, friction and free play, over torsions and rates of all signs; and teeth never pull."""
    gear = dataclasses.replace(GEAR, damping=3.0, hysteresis=0.5, free_play=0.02)
    torsion, rate = (x.ravel() for x in np.meshgrid(np.linspace(-0.05, 0.05, 40), np.linspace(-1.0, 1.0, 40)))
    loss = np.asarray(jax.vmap(gear.loss_torque)(torsion, rate))
    spring = np.asarray(jax.vmap(gear.spring_torque)(torsion))
    assert np.all(loss * rate >= 0.0)
    assert np.all((spring + loss) * np.sign(spring) >= -1e-12)
    assert np.all((spring == 0.0) == (np.abs(torsion) <= 0.01 + 1e-12))
    slope = jax.vmap(jax.grad(lambda x: gear.energy(x)))(torsion)
    assert np.allclose(slope, spring, atol=1e-12)


def test_a_cycle_of_hysteresis_loses_four_times_its_torque_times_the_amplitude():
    gear = dataclasses.replace(GEAR, hysteresis=0.5, smoothing=1e-9)
    t = np.linspace(0.0, 2.0 * np.pi, 20001)
    torsion, rate = 0.01 * np.sin(t), 0.01 * np.cos(t)
    lost = np.trapezoid(np.asarray(jax.vmap(gear.loss_torque)(torsion, rate)) * rate, t)
    assert lost == pytest.approx(4.0 * 0.5 * 0.01, rel=1e-6)


@pytest.fixture(scope="module")
def playing():
    """A gear with free play, damping and hysteresis, its link swinging across the play."""
    gear = dataclasses.replace(GEAR, damping=2.0, hysteresis=0.02, free_play=0.02, motor_damping=1.0)
    craft = two_inertias(gear)
    start = craft.in_motion(joints={"arm": 0.0})
    start = dataclasses.replace(start, v=start.v + 0.2 * np.eye(8)[6])  # the link alone [rad/s]
    return ff.simulate(craft, state=start, duration=3.0, dt=2e-4, record_dt=5e-3)


@pytest.mark.slow
def test_books_of_a_gear_with_free_play_balance(playing):
    torsion = playing["motors.torsion"].values[:, 0]
    assert np.max(torsion) > 0.011
    assert np.min(torsion) < -0.011
    energy = playing["energy.inner"].values + playing["energy.elastic"].values + playing["energy.dissipated"].values
    # Flanks meet inside a step: an error of a step's square there, 1e-5 of the energy.
    assert np.ptp(energy) < 1e-5 * energy[0]
    assert playing["energy.dissipated"].values[-1] > 0.1 * energy[0]
    assert playing.audit.holds, playing.audit
    between = np.abs(torsion) < 0.0099
    assert np.max(np.abs(playing["joints.torque"].values[between, 0])) == 0.0


@pytest.mark.slow
def test_the_shuttle_arm_with_gears_keeps_its_books(rng):
    """Motors at the tips of booms that bend: nothing from outside, so nothing changes but by rounding."""
    craft = ff.library.srms(modes=1, planar=True, flexible_joints=True)
    assert craft.layout.flexible_joints == craft.layout.moving_joints
    q, v = 0.05 * rng.normal(size=craft.layout.nq), 0.05 * rng.normal(size=craft.layout.nv)
    found = laws_of_motion(craft, q, v, np.asarray(elastic.elastic_force(craft, q)))
    size = np.abs(v) @ (np.abs(found["M"]) @ np.abs(found["vdot"]))
    assert abs(found["power"]) < TOLERANCE * size
    assert np.max(np.abs(found["push"])) < TOLERANCE * np.max(np.abs(found["M"]) @ np.abs(found["vdot"]))


@pytest.mark.slow
def test_batches_compute_what_one_run_does(rng):
    craft = two_inertias(dataclasses.replace(GEAR, free_play=0.01, damping=1.0))
    q, v, force = 0.1 * rng.normal(size=(64, 2)), rng.normal(size=(64, 8)), rng.normal(size=(64, 8))

    def rate(q, v, force):
        inner = elastic.elastic_force(craft, q) + elastic.damping_force(craft, q, v)
        return dynamics.forward_dynamics(craft, q, v, force + inner)

    program = engine.compile(rate, q[0], v[0], force[0])
    many = program.batch(q, v, force)
    assert np.array_equal(many[17], program(q[17], v[17], force[17]))
    assert np.allclose(many, jax.jit(jax.vmap(rate))(q, v, force), rtol=1e-11, atol=1e-11)

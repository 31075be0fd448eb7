"""Contact that begins and ends between two ticks: what passes deeper than the stated bound collides, whatever dt."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat import engine
from freefloat.effects.contact import CompliantContact, ContactBox, ContactCapsule, KelvinVoigt, Plane, Sphere
from freefloat.model.part_kinds import Approach
from freefloat.sim.events.gap_dips import UNSEEN, dip_between, lowest_between
from freefloat.sim.kernel import step

MASS = 20.0  # [kg]
BODY = ff.Spacecraft.from_base("body", mass=MASS, inertia=(6.0, 6.0, 6.0))
PAIR = ff.World(a=BODY, b=BODY)
ACROSS = ff.Pose.from_rpy_deg((0.0, 90.0, 0.0))
R, SPEED, STIFF = 0.02, 1.0, 1e7  # [m], [m/s], [N/m]


def start(offset, distance=0.537, speed=SPEED):
    """The second body comes along -y with its centre a distance ahead, and passes at an offset along x and z."""
    x, z = offset
    return dataclasses.replace(
        BODY.at_rest(), p_NB=np.array([x, distance, z]), v=np.array([0.0, -speed, 0.0, 0.0, 0.0, 0.0])
    )


def contact(a, b, **more):
    return CompliantContact("a.base", a, "b.base", b, KelvinVoigt(STIFF), **more)


BOOMS = contact(ContactCapsule(R, 2.0), ContactCapsule(R, 2.0), at_b=ACROSS)
BALLS = contact(Sphere(R), Sphere(R))
BOXES = contact(Sphere(R), ContactBox((0.04, 0.04, 0.04)))


def passed(part, dt, offset=(0.0, 0.0), duration=1.0, **options):
    return ff.simulate(PAIR, part, state={"b": start(offset)}, duration=duration, dt=dt, **options)


def momenta(run):
    """Momentum of both bodies in N at the end [N s]: they do not turn, so that their axes are those of N."""
    return MASS * np.stack([run[f"{name}.base.velocity"].values[-1] for name in "ab"])


# ---- the bound itself


def test_no_gap_is_below_the_bound_of_its_values_and_rates():
    """Random quartics with their exact least second derivative; the bound may touch, so rounding is permitted."""
    seed = 7
    rng, h = np.random.default_rng(seed), 0.1
    s = np.linspace(0.0, h, 2001)
    for _ in range(200):
        c = rng.normal(size=5) * np.array([1.0, 10.0, 100.0, 1000.0, 10000.0])
        g, rate, bend = (np.polynomial.Polynomial(c).deriv(k) if k else np.polynomial.Polynomial(c) for k in range(3))
        lift = max(0.0, -g(0.0), -g(h)) + 0.1
        K = max(0.0, -np.min(bend(s)))
        # The bound takes twice the mean acceleration: half of K for the velocity to change by K h.
        ends = [
            Approach(np.array([g(t) + lift]), np.array([rate(t)]), np.array([0.5 * K * t, 0, 0, 0, 0, 0]), np.zeros(()))
            for t in (0.0, h)
        ]
        lowest, _ = lowest_between(*ends, h)
        assert float(lowest[0]) <= np.min(g(s)) + lift + 1e-9, f"seed {seed}"


def test_what_passes_on_a_straight_line_dips_only_where_it_does():
    """A point that passes another at b: the gap to a radius r is sqrt(b^2 + (v t)^2) - r, above its tangents."""
    h = 0.1

    def ends(b, r=0.01):
        found = []
        for y in (-0.04, 0.06):
            away = np.hypot(b, y)
            found.append(Approach(np.array([away - r]), np.array([y / away]), np.eye(6)[0], np.zeros(())))
        return found

    dips, at = dip_between(*ends(0.001), h)
    assert bool(dips)
    assert abs(float(at) - 0.04) < 1e-3  # the tangents meet close to the closest point
    assert not bool(dip_between(*ends(0.039), h)[0])


# ---- compliant contact


@pytest.mark.parametrize("dt", [0.1, 0.05, 0.02])
@pytest.mark.parametrize("part", [BOOMS, BALLS, BOXES], ids=["booms", "balls", "box"])
def test_bodies_that_meet_within_a_step_change_places(part, dt):
    """Equal bodies that meet elastically through their centres exchange velocities, which is exact.

    They are in contact for pi sqrt(m / 2 k) = 3 ms, so that it begins and ends within a step. Momentum to rounding;
    the exchange to 1e-7: pieces of at most 1e-10 m/s each, some hundred of them, and STIFF times 1e-10 m for 3 ms.
    """
    run = passed(part, dt)
    assert run.audit.holds
    p = momenta(run)
    assert np.max(np.abs(p.sum(axis=0) - [0.0, -MASS * SPEED, 0.0])) < 1e-10
    assert np.max(np.abs(p[0] - [0.0, -MASS * SPEED, 0.0])) < 1e-7 * MASS
    assert run["interactions.dissipated"].values[-1] == 0.0
    energy = 0.5 * np.sum(p**2) / MASS
    assert energy == pytest.approx(0.5 * MASS * SPEED**2, rel=1e-8)


@pytest.mark.parametrize("dt", [0.1, 0.02])
def test_an_oblique_crossing_has_the_impulse_of_a_converged_run(dt):
    """Balls that meet off centre: as at 1 ms to 1e-7 of the momentum, by the tolerance of the pieces."""
    coarse, fine = (momenta(passed(BALLS, h, offset=(0.021, 0.007))) for h in (dt, 1e-3))
    assert np.max(np.abs(coarse - fine)) < 1e-7 * MASS * SPEED
    assert np.linalg.norm(coarse[0]) > 0.3 * MASS * SPEED


def test_a_near_miss_does_not_touch():
    """Balls that pass 10 um apart: not a bit of the motion changes."""
    run = passed(BALLS, 0.1, offset=(2.0 * R + 1e-5, 0.0))
    assert np.array_equal(momenta(run)[0], np.zeros(3))
    assert run["interactions.work"].values[-1] == 0.0


def test_random_crossings_collide_where_they_come_closer_than_the_bound():
    """50 balls with any offset and speed in one batch: those that overlap by more than UNSEEN on their way collide."""
    seed, count, dt = 11, 50, 0.1
    rng = np.random.default_rng(seed)
    away = 2.0 * R * rng.uniform(0.0, 1.3, count)
    angle, speed, ahead = (
        rng.uniform(0.0, 2.0 * np.pi, count),
        rng.uniform(0.5, 2.0, count),
        rng.uniform(0.1, 0.5, count),
    )
    system, begun = ff.Experiment.of(PAIR, BALLS, state={"b": start((0.0, 0.0))}, duration=1.0, dt=dt).begin()
    batch = jax.tree.map(lambda x: np.repeat(np.asarray(x)[None], count, axis=0), begun)
    state = batch.plants[1].state
    state.p_NB[:] = np.stack([away * np.cos(angle), ahead, away * np.sin(angle)], axis=1)
    state.v[:, 1] = -speed

    program = engine.compile(lambda loop: step(system, loop, {}), begun)
    end = program.rollout_batch(batch, steps=12).state
    moved = np.linalg.norm(np.asarray(end.plants[0].state.v)[:, :3], axis=1) > 0.0
    assert np.array_equal(moved, away < 2.0 * R - UNSEEN), f"seed {seed}"
    alone = program.rollout(jax.tree.map(lambda x: x[3], batch), steps=12).state
    assert np.array_equal(np.asarray(alone.plants[0].state.v), np.asarray(end.plants[0].state.v)[3])
    plain, jitted = jax.tree.map(lambda x: x[3], batch), jax.jit(lambda loop: step(system, loop, {}))
    for _ in range(12):
        plain = jitted(plain)
    assert np.max(np.abs(np.asarray(alone.plants[0].state.v) - np.asarray(plain.plants[0].state.v))) < 1e-9


ROD = BODY.with_frame("tip", body="base", at=(1.0, 0.0, 0.0))
W = 3.0  # [rad/s]


def swung(height, dt, *, rigid):
    """A tip on a lever of 1 m that swings through its lowest point at 0.25 s, over a floor."""
    turned = 0.5 * np.pi - W * 0.25
    state = dataclasses.replace(
        ROD.at_rest(),
        p_NB=np.array([0.0, 0.0, height]),
        quat_NB=np.array([np.cos(0.5 * turned), 0.0, np.sin(0.5 * turned), 0.0]),
        v=np.array([0.0, 0.0, 0.0, 0.0, W, 0.0]),
    )
    if rigid:
        world = ff.World.of(ROD).contact("floor", "tip", "N", radius=R, restitution=1.0)
        return ff.simulate(world, state=state, duration=0.5, dt=dt)
    part = CompliantContact("tip", Sphere(R), "N", Plane(), KelvinVoigt(STIFF))
    return ff.simulate(ROD, part, state=state, duration=0.5, dt=dt)


@pytest.mark.parametrize("dt", [0.1, 0.05])
def test_a_tip_that_swings_through_the_floor_grazes_it(dt):
    """1 mm deep: it loses some of its rate, as much as at 1 ms to 1e-6; 1 mm above, it keeps all of it."""
    coarse, fine = (swung(1.0 + R - 1e-3, h, rigid=False)["base.rate"].values[-1] for h in (dt, 1e-3))
    assert W - coarse[1] > 0.02
    assert np.max(np.abs(coarse - fine)) < 1e-6
    assert swung(1.0 + R + 1e-3, dt, rigid=False)["base.rate"].values[-1][1] == pytest.approx(W, abs=1e-13)


# ---- contacts without compliance


@pytest.mark.parametrize("dt", [0.1, 0.05])
def test_a_rigid_contact_that_closes_and_opens_within_a_step_bounces(dt):
    """The tip meets the floor where cos(W t) = height - R: the instant is exact, energy is kept."""
    run = swung(1.0 + R - 5e-3, dt, rigid=True)
    (event,) = run.events
    assert event["kind"] == "bounced"
    assert event["time"] == pytest.approx(0.25 - np.arccos(1.0 - 5e-3) / W, abs=1e-12)
    assert run["base.rate"].values[-1][1] < W - 0.1
    assert run.audit.holds
    assert not swung(1.0 + R + 1e-5, dt, rigid=True).events


# ---- brakes


HUB = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0)).with_link(
    "rod", parent="base", joint="revolute", mass=5.0, com=(0.0, 0.0, 0.0), inertia=(0.01, 0.42, 0.42)
)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_brake_that_is_on_at_the_start_may_slip(sign):
    """A joint at 0.5 rad/s against 0.2 N m: it stands still after I w / M, I = 0.42 * 20 / 20.42; heat."""
    turning = dataclasses.replace(HUB.at_rest(), v=sign * 0.5 * np.eye(7)[6])
    run = ff.simulate(ff.World.of(HUB).brake("rod", slip_torque=0.2, on=True), state=turning, duration=2.0)
    reduced = 0.42 * 20.0 / 20.42  # [kg m2]
    (event,) = run.events
    assert event["kind"] == "brake holds"
    assert event["time"] == pytest.approx(reduced * 0.5 / 0.2, abs=1e-9)
    assert run["energy.dissipated"].values[-1] == pytest.approx(0.5 * reduced * 0.25, rel=1e-9)
    assert run.audit.holds


def test_a_brake_that_is_on_at_the_start_gives_way_at_once():
    @ff.record
    class Push(ff.Software):
        """0.5 N m."""

        def command(self, memory, y, clock):
            return ff.JointTorques(("rod",), jnp.array([0.5]))

    run = ff.simulate(ff.World.of(HUB).brake("rod", slip_torque=0.2, on=True), Push(), duration=1.0)
    assert [event["kind"] for event in run.events] == ["brake slips"]
    assert run["joints.rate"].values[-1][0] == pytest.approx(0.3 * 20.42 / (0.42 * 20.0), rel=1e-9)


def test_a_brake_that_cannot_slip_is_still_refused_on_a_joint_that_moves():
    turning = dataclasses.replace(HUB.at_rest(), v=0.5 * np.eye(7)[6])
    with pytest.raises(ff.ModelError, match="Start it at rest"):
        ff.simulate(ff.World.of(HUB).brake("rod", on=True), state=turning, duration=1.0)

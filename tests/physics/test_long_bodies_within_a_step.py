"""Long bodies that meet between two ticks: bars that cross, tips that swing past each other, edges."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import freefloat as ff
from freefloat import engine
from freefloat.effects.contact import CompliantContact, ContactBox, ContactCapsule, KelvinVoigt, Plane, Ring, Sphere
from freefloat.sim.events.gap_dips import UNSEEN_JUMP
from freefloat.sim.kernel import step

MASS, R, STIFF = 20.0, 0.02, 1e7  # [kg], [m], [N/m]
BODY = ff.Spacecraft.from_base("body", mass=MASS, inertia=(6.0, 6.0, 6.0))  # turns at a constant rate while it is free
PAIR = ff.World(a=BODY, b=BODY)


def moving(p, turned, v, w):
    """A state from place, attitude, velocity and rate in N axes."""
    x, y, z, scalar = turned.as_quat()
    back = turned.inv()
    return dataclasses.replace(
        BODY.at_rest(),
        p_NB=np.asarray(p, float),
        quat_NB=np.array([scalar, x, y, z]),
        v=np.concatenate([back.apply(v), back.apply(w)]),
    )


def contact(a, b, **more):
    return CompliantContact("a.base", a, "b.base", b, KelvinVoigt(STIFF), **more)


def ends(part, state, dt, duration=0.6, **options):
    """Velocities and rates of both bodies after a run, and the run."""
    run = ff.simulate(PAIR, part, state=state, duration=duration, dt=dt, check=False, accuracy=False, **options)
    return np.concatenate([run[f"{c}.base.{x}"].values[-1] for c in "ab" for x in ("velocity", "rate")]), run


# ---- crossings, as in a converged run


def crossing_booms(angle):
    """Slim bars along z and at an angle to it that would overlap from 0.522 to 0.538 s: at no tick of the tests."""
    part = contact(ContactCapsule(0.004, 2.0), ContactCapsule(0.004, 2.0), at_b=ff.Pose.from_rpy_deg((0.0, angle, 0.0)))
    return part, {"b": moving((0.3, 0.53, -0.4), Rotation.identity(), (0.0, -1.0, 0.0), np.zeros(3))}


def edge_of_a_box():
    """A ball that grazes the edge of a box: its centre passes 0.7 R off the edge, along x + y."""
    part = contact(Sphere(R), ContactBox((0.2, 0.2, 0.2)))
    aside = 0.7 * R * np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0) + (0.1, 0.1, 0.03)
    along = np.array([-1.0, 1.0, 0.0]) / np.sqrt(2.0)
    return part, {"b": moving(-aside + 0.537 * along, Rotation.identity(), -along, np.zeros(3))}


@pytest.mark.parametrize("case", ["right angle", "skew", "edge"])
def test_a_crossing_has_the_impulse_of_a_converged_run(case):
    """As at 1 ms to 1e-7 m/s and rad/s: pieces of at most 1e-10 each, some hundred of them, and STIFF times 1e-10 m.

    The run ends within 0.1 s of the impact: later the free turning in steps of 0.1 s would be seen, not the impulse.
    """
    part, state = edge_of_a_box() if case == "edge" else crossing_booms(90.0 if case == "right angle" else 50.0)
    fine, _ = ends(part, state, 1e-3)
    assert np.linalg.norm(fine[:3]) > 0.1
    for dt in (0.1, 0.05, 0.02):
        coarse, run = ends(part, state, dt)
        assert np.max(np.abs(coarse - fine)) < 1e-7, dt
        assert not run.audit.warnings


# ---- places that are not the closest ones at the ends of a step


def swinging(depth, dt, slim=0.005, rate=0.5):
    """A bar turns about its lower end beside another one; halfway through a step their upper tips pass."""
    part = contact(ContactCapsule(slim, 2.0), ContactCapsule(slim, 2.0))
    when, low, high = 0.25, 0.02, 2.0 * slim - depth  # [s]; how far the ends pass beside the other bar [m]
    leaning = Rotation.from_rotvec([0.0, -0.5 * (low - high), 0.0])
    w = np.array([-rate, 0.0, 0.0])
    middle = np.array([0.5 * (low + high), -rate * when, 0.0])
    return ends(part, {"b": moving(middle, Rotation.from_rotvec(-w * when) * leaning, (0, rate, 0), w)}, dt, 0.5)


def test_a_tip_that_swings_past_a_tip_within_a_step_hits_it():
    """6 mm deep, while another place is the closest one at both ends of the step: as at 1 ms to 1e-6.

    3 mm apart it keeps its rate; the tolerance is that of rounding.
    """
    coarse, fine = (swinging(6e-3, dt)[0] for dt in (0.1, 1e-3))
    assert np.linalg.norm(fine[:3]) > 0.05
    assert np.max(np.abs(coarse - fine)) < 1e-6
    missed = swinging(-3e-3, 0.1)[0]
    assert np.max(np.abs(missed[:6])) == 0.0
    assert missed[9:] == pytest.approx([-0.5, 0.0, 0.0], abs=0.01)


def test_a_ball_that_leaves_a_ring_within_a_step_hits_it():
    """From beside the centre through the far side of the ring: the other side is closest where the step begins."""
    part = contact(Ring(0.03, 0.005), Sphere(0.005))
    state = {"b": moving((-0.001, 0.0, 0.0), Rotation.identity(), (1.0, 0.0, 0.0), np.zeros(3))}
    coarse, fine = (ends(part, state, dt, 0.2)[0] for dt in (0.1, 1e-3))
    assert np.linalg.norm(fine[:3]) > 0.1
    assert np.max(np.abs(coarse - fine)) < 1e-6


# ---- random crossings


def segment_distance(p, u, q, w, half):
    """Of two segments with centres p, q and directions u, w (leading axes free): clamped, after Ericson."""
    r, b = p - q, np.sum(u * w, axis=-1)
    c, f = np.sum(u * r, axis=-1), np.sum(w * r, axis=-1)
    s = np.clip((b * f - c) / np.maximum(1.0 - b * b, 1e-12), -half, half)
    t = np.clip(b * s + f, -half, half)
    s = np.clip(b * t - c, -half, half)
    return np.linalg.norm(r + s[..., None] * u - t[..., None] * w, axis=-1)


def closest(states, dt, steps):
    """How close free bars come: seen 50 times a step; they move straight and turn at constant rates."""
    times, found = np.arange(50 * steps + 1) * dt / 50, []
    for s in states:
        turned = Rotation.from_quat(np.roll(s.quat_NB, -1))
        v, w = turned.apply(s.v[:3]), turned.apply(s.v[3:])
        axes = (Rotation.from_rotvec(times[:, None] * w) * turned).apply([0.0, 0.0, 1.0])
        found.append((s.p_NB + times[:, None] * v, axes))
    (p, u), (q, w) = found
    return segment_distance(p, u, q, w, 1.0) - 2.0 * R


def random_pair(rng):
    """Any directions, rates up to 1 rad/s, offsets; apart at the start."""
    while True:
        rates = rng.normal(size=(2, 3))
        rates *= rng.uniform(0.0, 1.0, 2)[:, None] / np.linalg.norm(rates, axis=1)[:, None]
        p = rng.normal(size=3)
        p *= rng.uniform(0.1, 0.8) / np.linalg.norm(p)
        v = -p / np.linalg.norm(p) + 0.8 * rng.normal(size=3)
        turned = Rotation.random(2, random_state=int(rng.integers(2**31)))
        pair = (
            moving(np.zeros(3), turned[0], np.zeros(3), rates[0]),
            moving(p, turned[1], v / np.linalg.norm(v), rates[1]),
        )
        if closest(pair, 0.1, 1)[0] > 0.01:
            return pair


def test_random_bars_collide_where_they_come_closer_than_the_bound():
    """50 seeds at dt 0.1 s. Those that overlap by more than UNSEEN_JUMP collide; those that stay 1 mm apart do not."""
    dt, steps = 0.1, 10
    pairs = [random_pair(np.random.default_rng(seed)) for seed in range(50)]
    least = np.array([np.min(closest(pair, dt, steps)) for pair in pairs])
    part = contact(ContactCapsule(R, 2.0), ContactCapsule(R, 2.0))
    a, b = pairs[0]
    system, begun = ff.Experiment.of(PAIR, part, state={"a": a, "b": b}, duration=1.0, dt=dt).begin()
    batch = jax.tree.map(lambda x: np.repeat(np.asarray(x)[None], len(pairs), axis=0), begun)
    for c in range(2):
        for name in ("p_NB", "quat_NB", "v"):
            getattr(batch.plants[c].state, name)[:] = [getattr(pair[c], name) for pair in pairs]
    program = engine.compile(lambda loop: step(system, loop, {}), begun)
    end = program.rollout_batch(batch, steps=steps).state
    inner = end.plants.interactions[0]
    collided = np.asarray(inner.turnover) > 0.0
    assert np.all(collided[least < -UNSEEN_JUMP]), f"seeds {np.flatnonzero(~collided & (least < -UNSEEN_JUMP))}"
    assert not np.any(collided[least > 1e-3])
    assert np.sum(least < -UNSEEN_JUMP) > 10
    assert np.sum(least > 1e-3) > 10
    assert np.all(np.asarray(inner.unfinished) == 0.0)


# ---- what could be missed is said


@ff.record
class Shaker(ff.Effect):
    """An acceleration along z that swings."""

    size: float = 30.0  # [m/s2]
    rate: float = 30.0  # [rad/s]

    def force(self, craft, state, clock):
        return jnp.zeros(6).at[2].set(craft.mass * self.size * jnp.sin(self.rate * clock.t))


def shaken(dt, *, rigid):
    """A ball that is shaken by 33 mm over a floor, and comes as near as 18 mm."""
    state = moving((0.0, 0.0, R + 0.051), Rotation.identity(), (0.0, 0.0, -1.0), np.zeros(3))
    options = {"state": state, "duration": 0.6, "dt": dt, "check": False, "accuracy": False}
    if rigid:
        world = ff.World.of(BODY).contact("floor", "base", "N", radius=R, restitution=1.0)
        return ff.simulate(world, Shaker(), **options).audit.warnings
    part = CompliantContact("base", Sphere(R), "N", Plane(), KelvinVoigt(STIFF), name="floor")
    return ff.simulate(BODY, Shaker(), part, **options).audit.warnings


@pytest.mark.parametrize(("rigid", "title"), [(False, "CompliantContact 'floor'"), (True, "Contact 'floor'")])
def test_an_overlap_that_may_pass_unseen_is_warned_of(rigid, title):
    """At 0.05 s the acceleration reverses within a step; the step that is suggested leaves nothing to say."""
    (warning,) = shaken(0.05, rigid=rigid)
    assert warning.startswith(f"{title}: the acceleration changes so fast")
    suggested = float(warning.split("dt = ")[1].split(" s ")[0])
    assert 0.005 < suggested < 0.05
    assert not shaken(0.6 / np.ceil(0.6 / suggested), rigid=rigid)

"""Events are found where exact mechanics has them: bounces of a ball, their end, and rest; one run and many alike."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat import engine
from freefloat.sim.kernel import step

G = 9.81  # [m/s2]
FALL = np.sqrt(2.0 / G)  # from 1 m [s]
BALL = ff.Spacecraft.from_base("ball", mass=2.0, inertia=(0.1, 0.1, 0.1))
ABOVE = dataclasses.replace(BALL.at_rest(), p_NB=np.array([0.0, 0.0, 1.1]))
RADIUS = 0.1  # [m]


@ff.record
class Uniform(ff.Effect):
    """A uniform field along -z of N."""

    def force(self, craft, state, clock):
        down = state.X_NB.R.T @ jnp.array([0.0, 0.0, -G])
        return jnp.zeros(craft.layout.nv).at[:3].set(craft.mass * down)


def floor(restitution: float, **more) -> ff.World:
    return ff.World.of(BALL).contact("floor", "base", "N", radius=RADIUS, restitution=restitution, **more)


def drop(restitution: float, duration: float, **options) -> ff.Run:
    return ff.simulate(floor(restitution), Uniform(), state=ABOVE, duration=duration, dt=0.01, **options)


@pytest.mark.slow
def test_a_thousand_elastic_bounces():
    run = drop(1.0, 905.0)
    times = np.array([event["time"] for event in run.events])
    assert len(times) == 1002
    np.testing.assert_allclose(times, FALL * (1.0 + 2.0 * np.arange(len(times))), atol=1e-9, rtol=0)
    height = run["base.position"].values[:, 2] - RADIUS
    energy = run["energy.kinetic"].values + 2.0 * G * height
    np.testing.assert_allclose(energy, 2.0 * G, rtol=1e-9)
    assert np.min(height) > -1e-12


def test_a_bounce_tells_what_the_floor_gave():
    """From 1 m: m v before, -e m v after, the impulse (1 + e) m v on the ball, energy (1 - e^2) m v^2 / 2 lost."""
    (event,) = drop(0.5, 0.5).events
    momentum = 2.0 * np.sqrt(2.0 * G)  # [N s]
    assert event["time"] == pytest.approx(FALL, abs=1e-12)
    np.testing.assert_allclose(event["impulse"], [0.0, 0.0, 1.5 * momentum], atol=1e-9)
    told = event["momentum of ball"]
    np.testing.assert_allclose(told["before"][:3], [0.0, 0.0, -momentum], atol=1e-9)
    np.testing.assert_allclose(told["after"][:3], [0.0, 0.0, 0.5 * momentum], atol=1e-9)
    assert event["energy_lost"] == pytest.approx(0.75 * 2.0 * G, rel=1e-9)


@pytest.mark.parametrize("restitution", [0.9, 0.5, 0.0])
def test_bounces_end_when_they_must(restitution):
    """After the n-th bounce the ball flies 2 e^n FALL: all together FALL (1 + e) / (1 - e); then it rests."""
    run = drop(restitution, 10.0, record_dt=0.01)
    end = [event for event in run.events if event["kind"] == "came to rest"]
    assert len(end) == 1
    assert end[0]["time"] == pytest.approx(FALL * (1.0 + restitution) / (1.0 - restitution), abs=1e-9)
    rests = run["time"].values > end[0]["time"]
    np.testing.assert_allclose(run["base.position"].values[rests, 2], RADIUS, atol=1e-11)
    np.testing.assert_allclose(run["base.velocity"].values[rests], 0.0, atol=1e-12)
    np.testing.assert_allclose(run["contact.floor.force"].values[rests][1:], 2.0 * G, rtol=1e-12)
    assert run["connections.energy_lost"].values[-1] == pytest.approx(2.0 * G, rel=1e-10)  # all of 1 m of height


@pytest.mark.slow
def test_single_batch_and_graphics_card_agree():
    """The same loop: one instance, lanes side by side with different events, and the kernel's text."""
    experiment = ff.Experiment.of(floor(0.7), Uniform(), state=ABOVE, duration=2.0, dt=0.01)
    system, loop = experiment.begin()
    loop = jax.tree.map(np.asarray, loop)

    def advance(state, ticks):
        return step(system, state, {}, ticks)

    heights = np.array([1.1, 0.9, 0.5, 0.101, 1.3])
    many = jax.tree.map(lambda x: np.repeat(x[None], len(heights), axis=0), loop)
    many.plants[0].state.p_NB[:, 2] = heights
    one = np.full((), 1, np.int32)
    native = engine.compile(advance, loop, one)
    batch = native.rollout_batch(many, np.full(len(heights), 1, np.int32), steps=200).state
    for k in range(len(heights)):
        alone = native.rollout(jax.tree.map(lambda x, k=k: x[k], many), one, steps=200).state
        for a, b in zip(jax.tree.leaves(alone), jax.tree.leaves(batch), strict=True):
            np.testing.assert_array_equal(a, b[k])
    card = engine.compile(advance, loop, one, target="gpu", emulate=True)
    there = card.rollout_batch(many, np.full(len(heights), 1, np.int32), steps=200).state
    np.testing.assert_allclose(there.plants[0].state.p_NB, batch.plants[0].state.p_NB, atol=1e-10, rtol=0)
    np.testing.assert_array_equal(there.constraints.log.count, batch.constraints.log.count)
    jitted = jax.jit(advance)
    plain = jax.tree.map(lambda x: x[2], many)
    for _ in range(200):
        plain = jitted(plain, one)
    np.testing.assert_allclose(plain.plants[0].state.p_NB, batch.plants[0].state.p_NB[2], atol=1e-10, rtol=0)


@pytest.mark.slow
def test_a_box_rests_on_four_corners():
    """Four contacts at once: it falls flat, stays, and they carry its weight; that one is redundant is told."""
    box = ff.Spacecraft.from_base("box", mass=4.0, inertia=(0.3, 0.3, 0.3))
    corners = [(x, y, -0.5) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    for number, corner in enumerate(corners):
        box = box.with_frame(f"corner.{number}", body="base", at=corner)
    world = ff.World.of(box)
    for number in range(4):
        world = world.contact(f"corner.{number}", f"corner.{number}", "N")
    run = ff.simulate(
        world, Uniform(), state=dataclasses.replace(box.at_rest(), p_NB=np.array([0, 0, 1.5])), duration=1.0
    )
    assert [event["kind"] for event in run.events[:4]] == ["came to rest"] * 4
    np.testing.assert_allclose([event["time"] for event in run.events[:4]], FALL, atol=1e-9)
    forces = sum(run[f"contact.corner.{number}.force"].values for number in range(4))
    np.testing.assert_allclose(forces[-10:], 4.0 * G, rtol=1e-12)
    np.testing.assert_allclose(run["base.position"].values[-1], [0.0, 0.0, 0.5], atol=1e-12)
    assert any("depend on others" in text for text in run.conditions)


def test_a_contact_that_rests_lifts_off_when_it_would_pull():
    """A force up that grows: 2 t against a weight of 2 G leaves the floor at t = G, exactly."""

    @ff.record
    class Lift(ff.Effect):
        def force(self, craft, state, clock):
            return jnp.zeros(6).at[2].set(2.0 * clock.t)

    resting = dataclasses.replace(BALL.at_rest(), p_NB=np.array([0.0, 0.0, RADIUS]))
    run = ff.simulate(floor(0.0), Uniform(), Lift(), state=resting, duration=10.0, dt=0.02)
    assert [event["kind"] for event in run.events] == ["came to rest", "lifted off"]
    assert run.events[1]["time"] == pytest.approx(G, abs=1e-9)
    gap = (10.0 - G) ** 3 / 6.0  # third derivative of the height: 1 m/s3
    assert run["contact.floor.gap"].values[-1] == pytest.approx(gap, rel=1e-6)


@pytest.mark.slow
def test_friction_turns_a_ball_that_slides():
    """An elastic bounce of a sphere that slips: the tangential impulse is mu times the normal one, at its lower end."""
    world = floor(1.0, friction=0.1)
    sliding = dataclasses.replace(ABOVE, v=np.array([2.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    run = ff.simulate(world, Uniform(), state=sliding, duration=0.6, dt=0.01)
    (event,) = run.events
    normal = 2.0 * 2.0 * np.sqrt(2.0 * G)
    np.testing.assert_allclose(event["impulse"], [-0.1 * normal, 0.0, normal], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        run["base.rate"].values[-1], [0.0, 0.1 * normal * RADIUS / 0.1, 0.0], rtol=1e-9, atol=1e-12
    )
    assert run.audit.holds

"""Pushes that begin and end between ticks: their impulse is exact at any step, with any integrator."""

import dataclasses
import shutil

import numpy as np
import pytest

import freefloat as ff
from freefloat import engine
from freefloat.campaign import Campaign, Dispersion, Metric, Route, Uniform, run_campaign
from freefloat.effects.contact import CompliantContact, KelvinVoigt, Plane, Sphere
from freefloat.model.shapes import Shape
from freefloat.sim import step
from freefloat.sim.record.run import RunFailed
from freefloat.values import record
from support import touching

HUB = ff.Spacecraft.from_base("hub", mass=8.0, inertia=(2.0, 2.0, 2.0))
ROUNDING = 1e-12  # [N s] of some newton seconds: sums of some hundred steps


def push(start: float, stop: float, force: float = 1.0, **options) -> ff.WrenchPulse:
    return ff.WrenchPulse("base", (force, 0, 0, 0, 0, 0), start, stop, **options)


def impulse(*parts, dt: float, duration: float, **options) -> float:
    """What a body has got in all [N s]."""
    run = ff.simulate(HUB, *parts, dt=dt, duration=duration, **options)
    return float(run["momentum.linear"].values[-1, 0])


@pytest.mark.parametrize("target", ["native", "jax"])
@pytest.mark.parametrize(("start", "stop"), [(0.003, 0.004), (0.004, 0.006), (0.0, 0.005), (0.008, 0.023)])
def test_a_push_shorter_than_a_step_gives_its_impulse(target, start, stop):
    np.testing.assert_allclose(
        impulse(push(start, stop), dt=0.01, duration=0.05, engine=target), stop - start, rtol=0, atol=ROUNDING
    )


@pytest.mark.parametrize("dt", [0.001, 0.01, 0.3, 1.0, 3.0])
def test_many_pushes_at_any_step_whatever_their_order(rng, dt):
    times = np.sort(rng.uniform(0.0, 3.0, (12, 2)), axis=1)
    forces = rng.normal(size=12)
    parts = [push(a, b, f, name=f"push {k}") for k, ((a, b), f) in enumerate(zip(times, forces, strict=True))]
    expected = forces @ np.diff(times, axis=1)[:, 0]
    np.testing.assert_allclose(impulse(*parts, dt=dt, duration=3.0), expected, rtol=0, atol=ROUNDING)


def test_the_place_after_a_push_is_that_of_the_closed_form():
    """From rest, 3 N from 0.31 to 0.52 s on 8 kg; dt is far longer."""
    run = ff.simulate(HUB, push(0.31, 0.52, 3.0), dt=1.0, duration=2.0)
    length, mass = 0.21, 8.0
    expected = 3.0 / mass * length * (2.0 - 0.52 + 0.5 * length)
    np.testing.assert_allclose(run["base.position"].values[-1, 0], expected, rtol=1e-13)


def test_pushes_that_touch_are_one_push():
    parts = [push(0.1, 0.2037, name="first"), push(0.2037, 0.55, name="second")]
    np.testing.assert_allclose(impulse(*parts, dt=0.05, duration=1.0), 0.45, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize(("start", "length"), [(0.0, 3e-4), (0.9e-4, 1.4e-4), (1e-4, 1e-8), (0.3e-4, 1e-9)])
def test_pushes_late_in_a_run_and_at_ticks_that_are_rounded(start, length):
    """At 10 000 s, where a time is told from the next to 1.8e-12 s, the side of an instant is decided all the same."""
    late, dt = 10_000.0, 1e-4
    part = push(late + start, late + start + length)
    experiment = ff.Experiment.of(HUB, part, duration=1.0, dt=dt)
    system, state = experiment.begin()
    state = dataclasses.replace(state, tick=np.full((), round(late / dt), np.int32))
    program = engine.compile(lambda system, state: step(system, state, {}), system, state)
    for _ in range(5):
        state = program(system, state)
    np.testing.assert_allclose(HUB.mass * state.plants[0].state.v[0], length, rtol=0, atol=1e-11)  # rounded 5 times


def test_the_adaptive_integrator_misses_no_push():
    parts = [push(3.3, 40.3, name="long"), push(55.55, 55.551, 1000.0, name="short")]
    got = impulse(*parts, dt=10.0, duration=100.0, integrator="adaptive")
    np.testing.assert_allclose(got, 38.0, rtol=0, atol=38.0 * ROUNDING)


def test_a_turning_body_keeps_the_order_of_the_integrator():
    """A force in body axes for a while, between ticks of every step: the error falls by 16 when the step is halved."""
    craft = ff.Spacecraft.from_base("top", mass=8.0, inertia=(2.0, 3.0, 4.0))
    start = craft.in_motion(rate=(0.5, 1.0, 0.2))
    pulse = ff.WrenchPulse("base", (1.0, 0.3, 0, 0.2, 0.1, 0.4), 0.123, 0.777)

    def place(dt: float) -> np.ndarray:
        return ff.simulate(craft, pulse, state=start, dt=dt, duration=1.6)["base.position"].values[-1]

    exact = place(0.0125)
    errors = [np.abs(place(dt) - exact).max() for dt in (0.2, 0.1)]
    assert 10.0 < errors[0] / errors[1] < 25.0, errors


@record
class Unannounced(ff.Effect):
    """The same push by an effect that does not report its instants."""

    pulse: ff.WrenchPulse

    def force(self, craft, state, clock):
        return self.pulse.force(craft, state, clock)


def test_an_effect_that_does_not_report_its_instants_is_not_cut():
    """The negative control: what the stages of a step happen to see, none or too much. The audit notices."""
    for times, seen in (((0.003, 0.004), 0.0), ((0.004, 0.006), 0.01 * 4.0 / 6.0)):
        with pytest.raises(RunFailed, match="forces are not resolved by the step") as failed:
            impulse(Unannounced(push(*times)), dt=0.01, duration=0.05)
        got = failed.value.run["momentum.linear"].values[-1, 0]
        np.testing.assert_allclose(got, seen, rtol=0, atol=ROUNDING)


def test_an_event_in_the_same_step_changes_neither():
    """A ball that is pushed before and after it bounces from the floor, all in one step of 1 s."""
    ball = ff.Spacecraft.from_base("ball", mass=2.0, inertia=(1.0, 1.0, 1.0))
    floor = ff.World.of(ball).contact("floor", "base", "N", radius=0.1, restitution=0.5)
    start = dataclasses.replace(ball.in_motion(velocity=(0.0, 0.0, -1.0)), p_NB=np.array([0.0, 0.0, 0.6]))
    up = (0, 0, 1.0, 0, 0, 0)
    parts = [
        ff.WrenchPulse("base", up, 0.11, 0.31, name="before"),
        ff.WrenchPulse("base", up, 0.72, 0.89, name="after"),
    ]
    run = ff.simulate(floor, *parts, state=start, dt=1.0, duration=1.0)
    # By hand: 1 m/s until 0.11 s, 0.9 m/s from 0.31 s on; it touches at 0.5 m less than at the start.
    fallen = 0.11 + 0.2 * 0.95
    touched = 0.31 + (0.5 - fallen) / 0.9
    np.testing.assert_allclose(run.events[0]["time"], touched, rtol=0, atol=1e-12)
    np.testing.assert_allclose(run["momentum.linear"].values[-1, 2], 2.0 * 0.45 + 0.17, rtol=0, atol=ROUNDING)


def test_compliant_contact_elsewhere_in_the_world():
    """A ball bounces on springs within the step in which another body is pushed."""
    ball = touching.BALL
    world = ff.World(ball=ball, hub=HUB)
    contact = CompliantContact("ball.base", Sphere(touching.RADIUS), "N", Plane(), KelvinVoigt(1e4, 20.0))
    start = {"ball": touching.at(ball, (0.0, 0.0, touching.RADIUS + 0.01), (0.0, 0.0, -0.5)), "hub": HUB.at_rest()}
    part = push(0.0213, 0.0314, 5.0, on="hub")
    run, alone = (ff.simulate(world, contact, *parts, state=start, dt=0.1, duration=0.2) for parts in ((part,), ()))
    np.testing.assert_allclose(run["hub.base.velocity"].values[-1, 0], 5.0 * 0.0101 / HUB.mass, rtol=1e-12)
    bounced = [one["ball.base.velocity"].values[-1, 2] for one in (run, alone)]
    assert bounced[1] > 0.1
    np.testing.assert_allclose(bounced[0], bounced[1], rtol=1e-8)  # the pieces of contact are other ones


def test_a_clearance_is_crossed_where_a_push_has_it():
    """Two balls, 1 m between them, one pushed for 0.1 s within a step: when 0.5 m are left, by the closed form."""
    ball = HUB.with_shapes("base", Shape.ball((0.0, 0.0, 0.0), 0.1))
    world = ff.World(a=ball, b=ball)
    start = {"a": HUB.at_rest(), "b": HUB.at_rest(at=(1.2, 0.0, 0.0))}
    watched = ff.Clearance(pairs=(("a.base", "b.base"),), limit=0.5)
    run = ff.simulate(world, push(0.2, 0.3, 16.0, on="a"), watched, state=start, dt=5.0, duration=5.0)
    np.testing.assert_allclose(run.events[0]["time"], 0.25 + 0.5 / 0.2, rtol=1e-9)


# ---- every driver


def experiment(**options) -> ff.Experiment:
    return ff.Experiment.of(HUB, push(0.13, 0.48), duration=1.0, dt=0.1, **options)


def test_a_stepper_and_a_continued_run_give_the_same():
    stepped = ff.sim.stepper(experiment(), measure=("momentum.linear",))
    for _ in range(10):
        told = stepped.step()
    np.testing.assert_allclose(told["momentum.linear"][0], 0.35, rtol=0, atol=ROUNDING)
    half = ff.simulate(dataclasses.replace(experiment(), duration=0.3))
    whole = ff.continue_run(half, experiment(), duration=0.7)
    np.testing.assert_allclose(whole["momentum.linear"].values[-1, 0], 0.35, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("target", ["native", "gpu"])
def test_a_campaign_disperses_the_instants(target):
    """Every run of a SIMD word, or of a warp, has its own instants in its own steps."""
    if target == "gpu" and shutil.which("cc") is None:
        pytest.skip("no C compiler to emulate a GPU")
    dispersions = (
        Dispersion("WrenchPulse.start", Uniform(0.0, 0.4)),
        Dispersion("WrenchPulse.stop", Uniform(0.4, 1.0)),
    )
    made = Campaign(experiment(), 37, dispersions=dispersions, metrics=(Metric("got", "momentum.linear[x]"),))
    if target == "gpu":
        made.preparation.program.compiled_step("gpu", emulate=True)
    found = run_campaign(made, route=Route(target=target))
    assert found.counts["completed"] == 37
    expected = found.draw("WrenchPulse.stop") - found.draw("WrenchPulse.start")
    np.testing.assert_allclose(found.metric("got"), expected, rtol=0, atol=ROUNDING)

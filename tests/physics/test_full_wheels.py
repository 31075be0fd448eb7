"""A wheel's largest momentum acts when it is reached, inside the hold of a law and inside a step."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.campaign import Campaign, Dispersion, Metric, Uniform, run_campaign
from freefloat.sim.audit import wheel_limits
from freefloat.values import record

INERTIA, WHEEL, MOST = 24.0, 0.1, 1.0  # about z [kg m2], [kg m2], [N m s]
HUB = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 22.0, INERTIA))
FREE = HUB.with_wheel("wheel", axis=(0.0, 0.0, 1.0), inertia=WHEEL, max_torque=0.3)
CRAFT = FREE.with_value("wheel.max_momentum", MOST)
KEPT = 1e-9  # relative: what a wheel may have beyond its limit


@record
class Torque(ff.Software):
    """A torque at the wheel: the first until `turns`, then the second."""

    first: float = 0.28  # [N m]
    second: float = 0.28  # [N m]
    turns: float = np.inf  # [s]

    def command(self, memory, y, clock):
        return ff.WheelTorques(("wheel",), jnp.where(clock.t < self.turns - 1e-9, self.first, self.second)[None])


def spin(run: ff.Run) -> np.ndarray:
    """Momentum of the spin relative to the body [N m s]."""
    return WHEEL * run["wheels.speed"].values[:, 0]


@pytest.mark.parametrize("target", ["native", "jax"])
@pytest.mark.parametrize(("dt", "period"), [(0.01, 10.0), (0.3, 9.0), (5.0, 10.0), (0.5, None)])
def test_a_slow_law_fills_a_wheel_no_further_than_its_limit(dt, period, target):
    """Closed form of one axis: the spin gets t (1 + J / (I - J)) of the torque, the base the opposite of the wheel."""
    run = ff.simulate(CRAFT, Torque(period=period), duration=30.0 if dt != 0.3 else 27.0, dt=dt, engine=target)
    assert np.max(np.abs(spin(run))) <= MOST * (1.0 + KEPT)
    np.testing.assert_allclose(spin(run)[-1], MOST, rtol=KEPT)
    full_at = MOST * (1.0 - WHEEL / INERTIA) / 0.28
    (event,) = run.events
    assert (event["name"], event["kind"]) == ("wheel", "wheel full")
    np.testing.assert_allclose(event["time"], full_at, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run["base.rate"].values[-1, 2], -MOST / INERTIA, rtol=KEPT)
    np.testing.assert_allclose(run["momentum.angular"].values, 0.0, atol=1e-13)
    assert run["wheels.condition"].values[-1, 0] == 2.0
    assert run["wheels.torque"].values[-1, 0] == 0.0
    assert any("wheels.condition (wheel): momentum limit" in line for line in run.conditions)


def test_every_run_with_wheels_has_their_momentum():
    """In base axes, also of a wheel on a joint that has turned: its axis then is y of the base."""
    craft = HUB.with_link("arm", parent="base", joint="revolute", axis=(1, 0, 0), mass=5.0, inertia=(1.0, 1.0, 1.0))
    craft = craft.with_wheel("far", body="arm", axis=(0.0, 0.0, 1.0), inertia=WHEEL)
    start = craft.in_motion(craft.at_rest(joints_deg={"arm": -90.0}), wheels={"far": 20.0})
    run = ff.simulate(craft, state=start, duration=0.1, dt=0.1)
    np.testing.assert_allclose(run["wheels.momentum"].values[0], [0.0, 20.0 * WHEEL, 0.0], atol=1e-14)


def test_without_a_limit_the_wheel_goes_on():
    """The negative control: 0.28 N m for 30 s."""
    run = ff.simulate(FREE, Torque(period=10.0), duration=30.0, dt=0.5)
    np.testing.assert_allclose(spin(run)[-1], 30.0 * 0.28 / (1.0 - WHEEL / INERTIA), rtol=1e-12)
    assert not run.events


def test_a_full_wheel_is_slowed_down_at_once():
    """The command changes its sign at a tick; 0.28 N m back for 1 s."""
    run = ff.simulate(CRAFT, Torque(second=-0.28, turns=6.0, period=0.5), duration=7.0, dt=0.5)
    np.testing.assert_allclose(spin(run)[-1], MOST - 0.28 / (1.0 - WHEEL / INERTIA), rtol=1e-9)
    assert run["wheels.condition"].values[-1, 0] == 0.0


def test_a_wheel_that_turns_the_other_way_is_full_too():
    run = ff.simulate(CRAFT, Torque(first=-0.28, period=10.0), duration=10.0, dt=1.0)
    np.testing.assert_allclose(spin(run)[-1], -MOST, rtol=KEPT)


def test_a_wheel_that_starts_beyond_its_limit_is_only_slowed_down():
    start = CRAFT.in_motion(wheels={"wheel": 1.2 * MOST / WHEEL})
    outward = ff.simulate(CRAFT, Torque(period=1.0), state=start, duration=5.0, dt=0.5)
    np.testing.assert_allclose(spin(outward), 1.2 * MOST, rtol=1e-13)
    assert outward.events[0]["time"] == 0.0
    inward = ff.simulate(CRAFT, Torque(first=-0.28, period=1.0), state=start, duration=1.0, dt=0.5)
    np.testing.assert_allclose(spin(inward)[-1], 1.2 * MOST - 0.28 / (1.0 - WHEEL / INERTIA), rtol=1e-12)


@pytest.mark.parametrize("torque", [-0.5, 0.5])
def test_a_push_on_the_body_moves_a_full_wheel_without_its_motor(torque):
    """Its spin relative to the body falls below the limit or rises above it; the motor adds nothing beyond."""
    start = CRAFT.in_motion(wheels={"wheel": MOST / WHEEL})
    push = ff.WrenchPulse("base", (0, 0, 0, 0, 0, torque), 0.25, 3.35)
    run = ff.simulate(CRAFT, push, Torque(first=1e-9, period=0.5), state=start, duration=5.0, dt=0.5)
    # The wheel alone keeps its momentum in space, so that its spin loses what the body gains.
    alone = -WHEEL * torque * 3.1 / (INERTIA - WHEEL)
    np.testing.assert_allclose(spin(run)[-1], MOST + alone, rtol=0, atol=1e-8)
    filled = ff.simulate(CRAFT, push, Torque(period=0.5), state=start, duration=5.0, dt=0.5)
    assert np.max(np.abs(spin(filled))) <= max(MOST, MOST + alone) * (1.0 + KEPT)
    np.testing.assert_allclose(spin(filled)[-1], max(MOST, MOST + alone), rtol=KEPT)
    assert len(filled.events) == 1  # it is full from the start, and stays so


def test_three_wheels_become_full_in_one_step():
    craft = HUB
    for letter, axis in zip("xyz", np.eye(3), strict=True):
        craft = craft.with_wheel(letter, axis=axis, inertia=WHEEL, max_momentum=MOST)

    @record
    class Three(ff.Software):
        """A torque at each."""

        def command(self, memory, y, clock):
            return ff.WheelTorques(("x", "y", "z"), jnp.array([0.3, -0.4, 0.35]))

    run = ff.simulate(craft, Three(period=8.0), duration=8.0, dt=8.0, check=False)
    np.testing.assert_allclose(WHEEL * run["wheels.speed"].values[-1], [MOST, -MOST, MOST], rtol=KEPT)
    assert [event["name"] for event in run.events] == ["y", "z", "x"]


def test_a_command_from_outside_is_limited_as_well():
    run = ff.simulate(CRAFT, duration=10.0, dt=2.0, inputs={"command.wheels.torque": [0.9]})
    np.testing.assert_allclose(spin(run)[-1], MOST, rtol=KEPT)
    np.testing.assert_allclose(run.events[0]["time"], MOST * (1.0 - WHEEL / INERTIA) / 0.3, rtol=0, atol=1e-9)
    assert run["wheels.condition"].values[1, 0] == 1.0  # 0.9 N m is more than its torque


def test_in_a_world_with_events_and_by_a_stepper():
    world = ff.World.of(CRAFT).contact("floor", "base", "N", radius=0.1, restitution=0.5)
    start = dataclasses.replace(CRAFT.in_motion(velocity=(0.0, 0.0, -0.1)), p_NB=np.array([0.0, 0.0, 0.3]))
    experiment = ff.Experiment.of(world, Torque(period=5.0), state=start, duration=10.0, dt=5.0)
    run = ff.simulate(experiment)
    np.testing.assert_allclose(spin(run)[-1], MOST, rtol=KEPT)
    found = [(event["kind"], round(event["time"], 6)) for event in run.events]
    assert ("wheel full", round(MOST * (1.0 - WHEEL / INERTIA) / 0.28, 6)) in found
    assert len(found) == 2
    stepped = ff.sim.stepper(experiment, measure=("wheels.speed",))
    told = [stepped.step() for _ in range(2)][-1]
    np.testing.assert_allclose(WHEEL * told["wheels.speed"], [MOST], rtol=KEPT)


def test_the_adaptive_integrator_stops_at_the_limit_too():
    run = ff.simulate(CRAFT, Torque(period=10.0), duration=30.0, dt=5.0, integrator="adaptive")
    assert np.max(np.abs(spin(run))) <= MOST * (1.0 + KEPT)
    np.testing.assert_allclose(spin(run)[-1], MOST, rtol=KEPT)
    np.testing.assert_allclose(run.events[0]["time"], MOST * (1.0 - WHEEL / INERTIA) / 0.28, rtol=0, atol=1e-9)


def test_a_campaign_disperses_what_a_wheel_can_hold():
    """Every run of a SIMD word has its own instant."""
    experiment = ff.Experiment.of(CRAFT, Torque(period=10.0), duration=10.0, dt=2.0)
    most = Dispersion("wheel.max_momentum", Uniform(0.2, 2.5))
    found = run_campaign(
        Campaign(experiment, 23, dispersions=(most,), metrics=(Metric("speed", "wheels.speed[wheel]"),))
    )
    np.testing.assert_allclose(WHEEL * found.metric("speed"), found.draw("wheel.max_momentum"), rtol=KEPT)


# ---- what the audit says


def limit_entry(run: ff.Run):
    return next(entry for entry in run.audit.entries if entry.name == "wheel: momentum beyond its limit")


def test_the_audit_refuses_a_wheel_that_its_motor_drives_beyond_its_limit(monkeypatch):
    """The limit acts 2 % late; the hub, 240 times as heavy, turns by 1/240 of that: no other torque explains it."""
    right = wheel_limits.momentum_capacity
    assert limit_entry(ff.simulate(CRAFT, Torque(period=5.0), duration=10.0)).holds
    monkeypatch.setattr(wheel_limits, "momentum_capacity", lambda *of: right(*of) / 1.02)
    run = ff.simulate(CRAFT, Torque(period=5.0), duration=10.0, check=False)
    assert not run.audit.holds
    np.testing.assert_allclose(limit_entry(run).value, MOST - MOST / 1.02, rtol=1e-6)


@pytest.mark.parametrize("speed", [9.0, 12.0])
def test_a_full_wheel_that_its_carrier_spins_up_is_no_violation(speed):
    """An external torque turns the hub against a wheel that is nearly full, or more than full, from the start."""
    start = CRAFT.in_motion(CRAFT.at_rest(), wheels={"wheel": speed})
    turning = ff.WrenchPulse("base", (0, 0, 0, 0, 0, -60.0), 0.0, 1.0)
    run = ff.simulate(CRAFT, Torque(period=5.0), turning, state=start, duration=5.0)
    assert np.max(np.abs(spin(run))) > 1.05 * MOST
    assert limit_entry(run).holds


@pytest.mark.parametrize("integrator", ["rk4", "adaptive"])
@pytest.mark.parametrize("dt", [0.05, 0.5])
def test_a_full_wheel_on_a_body_that_is_spun_up_stays_at_its_limit_and_says_so(integrator, dt):
    """A push turns the body with the wheel, so that the motor must go on, and stops between two ticks.

    The wheel is full when J W = 0.8: with the law's 0.13 N m and the push of 0.2 N m from 1 s on.
    """
    body, wheel, most, motor, push = 17.0, 0.03, 0.8, 0.13, 0.2  # [kg m2], [kg m2], [N m s], [N m], [N m]
    craft = ff.Spacecraft.from_base("hub", mass=60.0, inertia=(14.0, 11.0, body)).with_wheel(
        "wheel", axis=(0.0, 0.0, 1.0), inertia=wheel, max_momentum=most, max_torque=1.0
    )
    pulse = ff.effects.WrenchPulse(frame="base", wrench=(0, 0, 0, 0, 0, push), start=1.0, stop=9.21)
    run = ff.simulate(craft, Torque(first=motor, period=5.0), pulse, duration=15.0, dt=dt, integrator=integrator)
    spin = wheel * run["wheels.speed"].values[:, 0]
    assert np.max(spin) <= most * (1.0 + 1e-9)
    np.testing.assert_allclose(spin[-1], most, rtol=1e-9)
    # Its spin grows by the motor, less what the body is turned by: locked inertia is the body's.
    carrier = body - wheel
    rate = motor * (1.0 / wheel + 1.0 / carrier)
    full = (most / wheel - push / carrier * 1.0) / (rate - push / carrier)
    assert run.events[0]["time"] == pytest.approx(full, abs=1e-6)
    after = run["time"].values > full + dt
    assert np.all(run["wheels.condition"].values[after] == 2.0)

"""Several spacecraft in one run: each moves as when alone, bit for bit; books of each and of the whole; held bases."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat import control, effects, sensors
from freefloat.values import record

CHASER = ff.library.ets7(wheels=True)
ROD = (
    ff.Spacecraft.from_base("hub", mass=50.0, inertia=(8.0, 7.0, 9.0))
    .with_link("rod", parent="base", joint="revolute", mass=5.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42))
    .with_frame("ring", body="rod")
)
START = CHASER.at_rest(joints_deg=(0.0, 0.0, 10.0, -32.8, 0.0, 0.0))
TUMBLING = dataclasses.replace(
    ROD.at_rest(joints=(0.3,)), v=np.array([0.1, 0.2, 0.3, 0.1, -0.2, 0.3, 0.5]), p_NB=np.array([3.0, 0.0, 0.0])
)
ORBIT = effects.CircularOrbit(altitude=550e3)


def chaser_parts(on: str = "") -> tuple:
    """Continuous and sampled software, a noisy gyro, and an effect that both spacecraft have."""
    return (
        sensors.Gyro(noise=1e-5, period=0.1, on=on),
        sensors.Ideal(on=on),
        control.ResolvedMotion(
            craft=CHASER, frame="hand", path=ff.Line(direction=(1, 0, 0), length=0.2, speed=0.01), on=on
        ),
        control.AttitudeHold(craft=CHASER, period=0.1, on=on),
        effects.GravityGradient(orbit=ORBIT, on=on),
    )


def rod_parts(on: str = "") -> tuple:
    return effects.JointSpring(joint="rod", stiffness=2.0, on=on), effects.GravityGradient(orbit=ORBIT, on=on)


def run(what, *parts, **options) -> ff.Run:
    return ff.simulate(what, *parts, duration=3.0, dt=0.05, **options)


@pytest.fixture(scope="module")
def alone() -> dict[str, ff.Run]:
    return {"chaser": run(CHASER, *chaser_parts(), state=START), "client": run(ROD, *rod_parts(), state=TUMBLING)}


@pytest.fixture(scope="module")
def together() -> ff.Run:
    world = ff.World(chaser=CHASER, client=ROD)
    return run(world, *chaser_parts("chaser"), *rod_parts("client"), state={"chaser": START, "client": TUMBLING})


def different(one: ff.Run, whole: ff.Run, prefix: str) -> list[str]:
    """Channels of a run alone that are not the same bits in the world."""
    names = [name for name in one.channels if not name.startswith(("bodies.", "open.", "turnover."))]
    return [name for name in names if not np.array_equal(one[name].values, whole[f"{prefix}.{name}"].values)]


@pytest.mark.slow
def test_each_spacecraft_moves_bit_for_bit_as_when_alone(alone, together):
    assert different(alone["chaser"], together, "chaser") == []
    assert different(alone["client"], together, "client") == []


@pytest.mark.slow
def test_names_and_order_do_not_matter(alone):
    world = ff.World(zwei=ROD, eins=CHASER)
    other = run(world, *rod_parts("zwei"), *chaser_parts("eins"), state={"eins": START, "zwei": TUMBLING})
    assert different(alone["chaser"], other, "eins") == []
    assert different(alone["client"], other, "zwei") == []


def test_books_of_each_and_of_the_whole(together):
    told = [entry.name for entry in together.audit.entries]
    for owner in ("chaser", "client", "world"):
        assert f"{owner}: linear momentum" in told
    assert "world: angular momentum about the origin" in told
    total = together["chaser.momentum.angular"].values + together["client.momentum.angular"].values
    np.testing.assert_allclose(together["world.momentum.angular"].values, total, rtol=1e-12, atol=1e-9)
    change = together["world.momentum.angular"].values - together["world.momentum.angular"].values[0]
    np.testing.assert_allclose(change, together["world.impulse.angular"].values, atol=1e-6)  # RK4: 4e-7 of 54 N m s


def test_total_momentum_of_a_free_world_stays():
    world = ff.World(one=ROD, two=ff.Spacecraft.from_base("ball", mass=2.0, inertia=(1.0, 1.0, 1.0)))
    ball = dataclasses.replace(world.craft("two").at_rest(), v=np.array([1.0, 0.0, 0.0, 0.0, 0.0, 2.0]))
    free = ff.simulate(world, duration=3.0, dt=0.01, state={"one": TUMBLING, "two": ball})
    for kind in ("linear", "angular"):
        values = free[f"world.momentum.{kind}"].values
        np.testing.assert_allclose(values, np.broadcast_to(values[0], values.shape), atol=1e-7)  # RK4


def test_pages_and_frames_carry_the_names(together, tmp_path):
    assert "client.ring.position" in together.channels
    assert list(together.data["body"].values)[-1] == "client.rod"
    assert together.scene["bodies"][0]["name"] == "chaser.base"
    page = ff.page(together, tmp_path / "world.html")
    assert page.exists()


# ---- software sees measurements only


@record
class Follow(ff.Software):
    """Pushes the base towards a frame of another spacecraft."""

    gain: float = 5.0

    def command(self, memory, y, clock):
        force = self.gain * (y["target.ring.position"] - y["base.position"]) - 20.0 * y["base.velocity"]
        return ff.BaseWrench(jnp.concatenate([force, jnp.zeros(3)]))


def test_software_measures_other_spacecraft_by_name():
    world = ff.World(chaser=ff.Spacecraft.from_base("ball", mass=2.0, inertia=(1.0, 1.0, 1.0)), target=ROD)
    there = dataclasses.replace(TUMBLING, v=np.zeros(7))
    found = ff.simulate(world, Follow(on="chaser"), duration=30.0, state={"target": there})
    np.testing.assert_allclose(
        found["chaser.base.position"].values[-1], found["target.ring.position"].values[-1], atol=1e-2
    )  # it closes in by exp(-t / 4 s): 2 mm are left


def test_commands_do_not_change_when_the_truth_does_and_the_measurements_do_not():
    """The same measurements come in from outside while the truth is another: not a bit of any command changes."""
    names = ("base.attitude", "base.rate", "base.position", "base.velocity", "joints.position", "joints.rate")
    names += ("wheels.speed", "momentum.linear", "momentum.angular", "wheels.absolute_momentum")
    software = (
        control.ResolvedMotion(
            craft=CHASER, frame="hand", path=ff.Line(direction=(1, 0, 0), length=0.2, speed=0.01), period=0.1
        ),
        control.AttitudeHold(craft=CHASER, period=0.1),
    )
    rng = np.random.default_rng(3)
    told = sensors.IdealMeasurements.of(CHASER, START)
    outside = {name: np.asarray(told[name]) for name in names}
    outside = {name: value + 0.01 * rng.normal(size=(60, *value.shape)) for name, value in outside.items()}
    outside["base.attitude"] /= np.linalg.norm(outside["base.attitude"], axis=1, keepdims=True)
    moving = dataclasses.replace(START, v=np.asarray(START.v) + 0.05, q=np.asarray(START.q) + 0.3)
    runs = [
        ff.simulate(CHASER, *software, duration=3.0, dt=0.05, state=state, inputs=outside, check=False)
        for state in (START, moving)
    ]
    rates = [r["joints.rate"].values[1:] for r in runs]
    np.testing.assert_array_equal(rates[0], rates[1])
    torques = [r["wheels.torque"].values[1:] for r in runs]
    np.testing.assert_array_equal(torques[0], torques[1])
    assert np.ptp(torques[0]) > 1e-3
    assert not np.array_equal(runs[0]["base.attitude"].values, runs[1]["base.attitude"].values)


# ---- a test stand


def test_a_held_base_stands_still_and_takes_up_the_reaction():
    world = ff.World.of(ROD).hold_base()
    push = effects.JointSpring(joint="rod", stiffness=2.0, rest=1.0)
    held = ff.simulate(world, push, duration=5.0)
    assert held.audit.holds
    np.testing.assert_array_equal(held["base.attitude"].values[-1], [1.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(held["base.position"].values[-1], np.zeros(3))
    inertia = 0.42 + 5.0 * 0.5**2  # of the rod about its joint
    rate = np.sqrt(2.0 / inertia)
    expected = 1.0 - np.cos(rate * held["time"].values)
    np.testing.assert_allclose(held["joints.position"].values[:, 0], expected, atol=1e-8)
    momentum = held["momentum.angular"].values[-1]
    np.testing.assert_allclose(held["impulse.angular"].values[-1], momentum, atol=1e-8)


def test_a_held_base_with_prescribed_joints_keeps_its_books():
    @record
    class Jump(ff.Software):
        def command(self, memory, y, clock):
            return ff.JointRates(("rod",), jnp.array([jnp.where(clock.t < 1.0, 0.2, -0.1)]))

    held = ff.simulate(ff.World.of(ROD).hold_base(), Jump(period=0.5), duration=3.0, dt=0.05)
    assert held.audit.holds
    assert np.all(held["base.rate"].values == 0.0)
    np.testing.assert_allclose(held["joints.position"].values[-1, 0], 0.2 - 0.2, atol=1e-12)


def test_a_held_base_that_moves_at_the_start_is_refused():
    with pytest.raises(ff.ModelError, match="is held, but its start moves"):
        ff.simulate(ff.World.of(ROD).hold_base(), duration=1.0, state=TUMBLING)


# ---- refusals


def test_a_world_refuses_wrong_names():
    with pytest.raises(ff.ModelError, match="at least one spacecraft"):
        ff.World()
    with pytest.raises(ff.ModelError, match="cannot be called 'base'"):
        ff.World(base=ROD)
    with pytest.raises(ff.ModelError, match="could be either"):
        ff.World(one=CHASER, rod=ROD)
    with pytest.raises(ff.ModelError, match="names are words"):
        ff.World(**{"a.b": ROD})
    world = ff.World(one=ROD, two=CHASER)
    with pytest.raises(ff.ModelError, match="no spacecraft 'three'"):
        ff.simulate(world, duration=1.0, state={"three": TUMBLING})
    with pytest.raises(ff.ModelError, match="JointSpring: The world has several spacecraft: say which one"):
        ff.simulate(world, effects.JointSpring(joint="rod", stiffness=1.0), duration=1.0)
    with pytest.raises(ff.ModelError, match="joints_deg are for one spacecraft"):
        ff.simulate(world, duration=1.0, joints_deg=(1.0,))

"""Connections of a world: what is refused, what is told, and runs that go on."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.sim.motion import applied_impulses

BOX = ff.Spacecraft.from_base("box", mass=10.0, inertia=(1.0, 2.0, 1.5)).with_frame("port", body="base", at=(0.5, 0, 0))
PAIR = ff.World(one=BOX, two=BOX)
APART = {"two": dataclasses.replace(BOX.at_rest(), p_NB=np.array([1.2, 0.0, 0.0]), v=-0.1 * np.eye(6)[0])}
TURNED = ff.Pose(position=(0.0, 0.0, 0.0), rotation=np.diag([-1.0, -1.0, 1.0]))  # ports face one another
FACING = {"two": dataclasses.replace(APART["two"], quat_NB=np.array([0.0, 0.0, 0.0, 1.0]), v=0.1 * np.eye(6)[0])}


@ff.record
class Want(ff.Software):
    """Asks for latches from a time on."""

    names: tuple[str, ...] = ff.static(default=("dock",))
    at: float = 0.5

    def command(self, memory, y, clock):
        return tuple(ff.Latch(name, clock.t >= self.at) for name in self.names)


def docked(**options) -> ff.World:
    return PAIR.connection("dock", "one.port", "two.port", at=TURNED, **options)


# ---- latches


@pytest.mark.slow
def test_a_latch_by_gap_is_found_where_it_must_be():
    """Ports 0.2 m apart that close at 0.1 m/s meet the reach of 0.05 m after 1.5 s."""
    run = ff.simulate(docked(automatic=True, reach=(0.05, 0.1)), state=FACING, duration=3.0)
    (event,) = run.events
    assert event["kind"] == "latched"
    assert event["time"] == pytest.approx(1.5, abs=1e-9)
    apart = np.linalg.norm(run["one.port.position"].values[-1] - run["two.port.position"].values[-1])
    assert apart == pytest.approx(0.05, abs=1e-11)
    # Two equal boxes: each has half the velocity afterwards, and half the energy is lost.
    np.testing.assert_allclose(run["one.base.velocity"].values[-1], [-0.05, 0.0, 0.0], atol=1e-12)
    assert event["energy_lost"] == pytest.approx(0.5 * 10.0 * 0.1**2 / 2.0, rel=1e-10)


def test_a_latch_out_of_reach_is_not_carried_out_and_told():
    """It is told once, and carried out at the first tick within reach, as long as it is asked for."""
    run = ff.simulate(docked(), Want(on="one", period=0.01), state=FACING, duration=3.0)
    assert [event["kind"] for event in run.events] == ["not latched: the frames are out of reach", "latched"]
    assert [event["time"] for event in run.events] == pytest.approx([0.5, 1.5], abs=0.011)


@pytest.mark.slow
def test_two_latches_at_one_tick_are_one_impact():
    """Beside one another or as one that holds all: the same motion, the same energy."""
    world = docked(reach=(0.3, 0.1))
    both = world.connection("point", "one.port", "two.port", holds="point", reach=(0.3, 0.1), at=TURNED)
    one = ff.simulate(world, Want(on="one", period=0.01), state=FACING, duration=1.0)
    two = ff.simulate(both, Want(("dock", "point"), on="one", period=0.01), state=FACING, duration=1.0)
    assert [(event["time"], event["name"]) for event in two.events[:2]] == [(0.5, "dock"), (0.5, "point")]
    np.testing.assert_allclose(two["two.base.velocity"].values, one["two.base.velocity"].values, atol=1e-14)
    assert sum(event.get("energy_lost", 0.0) for event in two.events) == pytest.approx(one.events[0]["energy_lost"])
    assert any("dock, point: 3 of the directions" in text for text in two.conditions)


def test_a_latch_without_relative_velocity_does_nothing():
    still = {"two": dataclasses.replace(FACING["two"], p_NB=np.array([1.01, 0.0, 0.0]), v=np.zeros(6))}
    run = ff.simulate(docked(), Want(on="one", period=0.1), state=still, duration=1.0)
    assert run.events[0]["energy_lost"] == 0.0
    assert run.events[0]["impulse"] == [0.0, 0.0, 0.0]
    np.testing.assert_array_equal(run["two.base.position"].values, np.tile([1.01, 0.0, 0.0], (101, 1)))


def test_a_berth_stands_still():
    """Held to a frame of N: the berth takes the momentum up, which is external to the world."""
    berth = ff.World.of(BOX).connection("berth", ff.Pose(position=(0.5, 0.0, 0.0)), "port")
    moving = dataclasses.replace(BOX.at_rest(), v=np.array([0.01, 0.02, 0.0, 0.0, 0.01, 0.0]))
    run = ff.simulate(berth, Want(("berth",), at=0.1, period=0.1), state=moving, duration=1.0)
    np.testing.assert_allclose(run["base.velocity"].values[-1], 0.0, atol=1e-14)
    np.testing.assert_allclose(run["impulse.linear"].values[-1], [-0.1, -0.2, 0.0], atol=1e-3)
    assert run.audit.holds


@pytest.mark.slow
def test_contact_at_a_singular_posture():
    """A stretched arm gives no way along itself: the whole is hit, and nothing becomes infinite."""
    arm = ff.Spacecraft.from_base("arm", mass=10.0, inertia=(1.0, 1.0, 1.0))
    for k in (1, 2):
        parent = "base" if k == 1 else "link.1"
        arm = arm.with_link(f"link.{k}", parent=parent, joint="revolute", at=(float(k > 1), 0, 0), axis=(0, 0, 1),
                            mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))  # fmt: skip
    arm = arm.with_frame("tip", body="link.2", at=(1.0, 0.0, 0.0))
    wall = ff.Pose(position=(2.05, 0.0, 0.0), rotation=np.array([[0.0, 0, -1], [0, 1, 0], [1, 0, 0]]))
    world = ff.World.of(arm).contact("wall", "tip", wall, restitution=1.0)
    flying = dataclasses.replace(arm.at_rest(), v=0.1 * np.eye(8)[0])
    run = ff.simulate(world, state=flying, duration=1.0)
    (event,) = run.events
    assert event["time"] == pytest.approx(0.5, abs=1e-9)
    np.testing.assert_allclose(run["base.velocity"].values[-1], [-0.1, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(event["impulse"], [-0.2 * 12.0, 0.0, 0.0], atol=1e-12)


# ---- runs that go on


def test_runs_go_on_and_step_as_in_one_go(tmp_path):
    experiment = ff.Experiment.of(docked(automatic=True), state=FACING, duration=2.0)
    whole = ff.simulate(experiment)
    half = ff.simulate(dataclasses.replace(experiment, duration=1.0))
    half.save(tmp_path / "half.nc")
    rest = ff.continue_run(ff.Run.load(tmp_path / "half.nc"), dataclasses.replace(experiment, duration=1.0))
    np.testing.assert_array_equal(rest["two.state.v"].values[-1], whole["two.state.v"].values[-1])
    assert [event["time"] for event in rest.events] == [event["time"] for event in whole.events]
    steps = ff.stepper(experiment, measure=("two.base.position",))
    for _ in range(200):
        steps.step()
    np.testing.assert_array_equal(steps.state.plants[1].state.v, whole["two.state.v"].values[-1])
    whole.save(tmp_path / "whole.nc")
    loaded = ff.Run.load(tmp_path / "whole.nc")
    assert (loaded.events, loaded.conditions) == (whole.events, whole.conditions)


def test_somebody_outside_latches_and_lets_go():
    signal = {"command.connection.dock": lambda tick: 1.0 if 50 <= tick < 150 else 0.0}
    run = ff.simulate(docked(reach=(0.3, 0.1)), state=FACING, duration=2.0, inputs=signal)
    assert [(event["time"], event["kind"]) for event in run.events] == [(0.5, "latched"), (1.5, "released")]
    with pytest.raises(ff.ModelError, match="does not say which spacecraft"):
        ff.simulate(docked(), state=FACING, duration=1.0, inputs={"command.connection.dok": 0.0})


def test_latch_and_release_at_once_leave_it_off():
    @ff.record
    class Both(ff.Software):
        """Cannot make up its mind."""

        def command(self, memory, y, clock):
            return ff.Latch("dock", clock.t >= 0.5), ff.Release("dock", clock.t >= 0.5)

    run = ff.simulate(docked(reach=(0.3, 0.1)), Both(on="one"), state=FACING, duration=0.6)
    assert not run.events


# ---- prescribed joints


@pytest.mark.slow
def test_prescribed_joints_keep_their_rates_while_they_carry_something():
    hub = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0)).with_link(
        "rod", parent="base", joint="revolute", mass=5.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42)
    )
    hub = hub.with_frame("hand", body="rod", at=(1.0, 0.0, 0.0))

    @ff.record
    class Turn(ff.Software):
        def command(self, memory, y, clock):
            return ff.JointRates(("rod",), 0.2 * jnp.sin(clock.t)[None])

    world = ff.World(hub=hub, box=BOX).connection("grasp", "hub.hand", "box.port", reach=(0.5, 4.0))
    there = dataclasses.replace(BOX.at_rest(), p_NB=np.array([0.6, 0.1, 0.0]), v=np.array([0.02, 0.01, 0, 0, 0, 0.05]))
    for period in (None, 0.1):
        parts = Turn(on="hub", period=period), Want(("grasp",), on="hub", period=0.1)
        run = ff.simulate(world, *parts, state={"box": there}, duration=4.0)
        t = run["time"].values
        wanted = 0.2 * np.sin(t if period is None else np.floor((t - 1e-9) / 0.1) * 0.1)
        np.testing.assert_allclose(run["hub.joints.rate"].values[1:, 0], wanted[1:], atol=1e-9)
        apart = np.linalg.norm(run["hub.hand.position"].values - run["box.port.position"].values, axis=1)
        assert np.ptp(apart[t > 0.51]) < 1e-11
        assert run.audit.holds


# ---- books


def test_a_wrong_sign_in_one_impulse_is_found(monkeypatch):
    """A planted fault: one tree's books get the impulse with the wrong sign."""
    right = applied_impulses.ledger_after_impulse

    def wrong(craft, state, v, books, impulse):
        return right(craft, state, v, books, impulse if craft.name == "box" else -impulse)

    other = ff.Spacecraft.from_base("other", mass=5.0, inertia=(1.0, 1.0, 1.0)).with_frame(
        "port", body="base", at=(0.5, 0, 0)
    )
    world = ff.World(one=BOX, two=other).connection("dock", "one.port", "two.port", at=TURNED, automatic=True)
    monkeypatch.setattr(applied_impulses, "ledger_after_impulse", wrong)
    with pytest.raises(ff.RunFailed, match="two: linear momentum"):
        ff.simulate(world, state=FACING, duration=3.0)


def test_an_impulse_without_its_reaction_is_found(monkeypatch):
    """A planted fault: one tree is pushed the other way, and its own books agree with it."""
    from freefloat.sim.events import switching

    right = switching.row_impact

    def wrong(crafts, states, rows, **more):
        found = right(crafts, states, rows, **more)
        speeds = (found.speeds[0], 2.0 * states[1].v - found.speeds[1])
        return dataclasses.replace(found, speeds=speeds)

    forces = applied_impulses.row_forces

    def opposite(crafts, states, rows, impulse):
        one, two = forces(crafts, states, rows, impulse)
        return one, -two

    monkeypatch.setattr(switching, "row_impact", wrong)
    monkeypatch.setattr(applied_impulses, "row_forces", opposite)
    world = docked(reach=(0.3, 0.1))

    @ff.record
    class Tap(ff.Software):
        """Latches and lets go at the next tick."""

        def command(self, memory, y, clock):
            return ff.Latch("dock", clock.tick == 50), ff.Release("dock", clock.tick > 50)

    with pytest.raises(ff.RunFailed, match="action = reaction"):
        ff.simulate(world, Tap(on="one", period=0.01), state=FACING, duration=1.0)


# ---- descriptions


def test_what_cannot_be_is_refused():
    cases = {
        "has no frame 'hnd'": lambda: PAIR.connection("x", "one.hnd", "two.port"),
        "say of which spacecraft 'port'": lambda: PAIR.connection("x", "port", "two.port"),
        "with itself": lambda: PAIR.connection("x", "one.port", "one.port"),
        "connects nothing that moves": lambda: PAIR.connection("x", "N", ff.Pose()),
        "two connections or contacts called 'dock'": lambda: docked().contact("dock", "one.port", "two.port"),
        "reach must be positive": lambda: docked(reach=(0.0, 0.1)),
        "restitution must be at most 1": lambda: PAIR.contact("x", "one.port", "N", restitution=1.5),
        "frame a must be that of a spacecraft": lambda: PAIR.contact("x", "N", "one.port"),
        "has no moving joint 'arm'": lambda: PAIR.brake("one.arm"),
    }
    for words, make in cases.items():
        with pytest.raises(ff.ModelError, match=words):
            make()


def test_starts_that_cannot_be_are_refused():
    below = {"one": dataclasses.replace(BOX.at_rest(), p_NB=np.array([0.0, 0.0, -0.3]))}
    floor = PAIR.contact("floor", "one.base", "N", radius=0.1)
    with pytest.raises(ff.ModelError, match=r"0\.4 m below the surface"):
        ff.simulate(floor, state=below, duration=1.0)
    with pytest.raises(ff.ModelError, match="within its reach at the start"):
        ff.simulate(docked(automatic=True, reach=(1.0, 1.0)), state=FACING, duration=1.0)
    with pytest.raises(ff.ModelError, match="Adaptive steps do not look for events"):
        ff.simulate(docked(), state=FACING, duration=1.0, integrator="adaptive")
    with pytest.raises(ff.SoftwareError, match=r"no connection .*Connections: dock"):
        ff.simulate(docked(), Want(("grip",), on="one"), state=FACING, duration=1.0)


def test_a_world_that_holds_nothing_carries_nothing():
    """No leaf of the state, no loop in the step: the program is that of before."""
    _, loop = ff.Experiment.of(PAIR, duration=1.0).begin()
    assert loop.constraints == ()
    assert loop.plants[0].ledger.exchange is None

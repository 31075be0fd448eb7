"""Actuators and failures from a user's file: ports and their faults, prescribed motion, failures that wrap."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat import actuators, sensors
from freefloat.values import record, static

HUB = (
    ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 22.0, 24.0))
    .with_link("rod", parent="base", joint="revolute", mass=5.0, inertia=(0.01, 0.42, 0.42))
    .with_wheel("wheel", axis=(0.0, 0.0, 1.0), inertia=0.1, max_torque=1.0, max_momentum=2.0)
)


@record
class Puller(ff.Actuator):
    """Pulls the base along its axes, by 2 N for each unit."""

    def accepts(self, craft):
        return (ff.CommandPort(self.channel_name("puller.pull"), "1", ("x", "y", "z")),)

    def force(self, truth, memory, u, clock):
        return jnp.zeros(truth.craft.layout.nv).at[:3].set(2.0 * u[self.channel_name("puller.pull")])


@record
class Turner(ff.Actuator):
    """Prescribes the rate of the rod, half a rad/s at most, and drives the wheel."""

    def accepts(self, craft):
        return (
            ff.CommandPort("turner.rate", "rad/s", ("rod",), drives=("rod",)),
            ff.CommandPort("turner.spin", "N m", ("wheel",), drives=("wheel",)),
        )

    def prescribes(self, craft, parts):
        return parts["turner.rate"]

    def rates(self, craft, memory, u, clock):
        return jnp.clip(u["turner.rate"], -0.5, 0.5)

    def limited_commands(self, truth, memory, u, clock):
        return u.with_numbers("turner.spin", actuators.limited_port_torques(truth, u, "turner.spin")[0])

    def force(self, truth, memory, u, clock):
        layout = truth.craft.layout
        return jnp.zeros(layout.nv).at[layout.velocity("wheel")].set(u["turner.spin"])


@record
class Overdriver(Turner):
    """Knows of no limit."""

    def limited_commands(self, truth, memory, u, clock):
        return u


@record
class Pilot(ff.Software):
    """Gives the commands that a test chooses."""

    body: object = static(default=lambda y, t: ())

    def command(self, memory, y, clock):
        return self.body(y, clock.t)


def pull(values=(1.0, 0.0, 0.0), **fields):
    return lambda y, t: ff.PortCommand("puller.pull", jnp.asarray(values), **fields)


def refusal(*parts, kind=ValueError, of=HUB, **options) -> str:
    with pytest.raises(kind) as caught:
        ff.simulate(of, *parts, duration=0.1, **options)
    return str(caught.value)


# ---- ports


@pytest.mark.parametrize("period", [None, 0.02])
def test_a_command_reaches_an_actuator_of_the_user(period):
    """2 N for 1 s through the centre of mass: nothing turns."""
    run = ff.simulate(HUB, Puller(), Pilot(pull((0.0, 0.0, 1.0)), period=period), duration=1.0, dt=0.02)
    assert run.audit.holds
    np.testing.assert_allclose(run.values("momentum.linear")[-1], [0.0, 0.0, 2.0], atol=1e-12)
    np.testing.assert_allclose(run.values("impulse.linear")[-1], [0.0, 0.0, 2.0], atol=1e-12)


def test_commands_of_several_and_for_some_parts_add_up():
    some = Pilot(lambda y, t: ff.PortCommand("puller.pull", jnp.array([3.0, 1.0]), ("z", "x"), unit="1"), name="some")
    run = ff.simulate(HUB, Puller(), Pilot(pull((1.0, 2.0, 0.0))), some, duration=1.0, dt=0.02)
    np.testing.assert_allclose(
        run.values("impulse.linear")[-1], [4.0, 4.0, 6.0], atol=1e-12
    )  # without a lever nothing turns


@pytest.mark.parametrize(("name", "burns"), [("a", "a"), ("b", "b"), ("", "ab")])
def test_a_duty_is_for_the_set_of_thrusters_that_it_names(name, burns):
    pairs = actuators.torque_pairs(arm=1.0, thrust=0.1)
    sets = [actuators.Thrusters.from_nozzles(pairs, name=own) for own in "ab"]
    run = ff.simulate(HUB, *sets, Pilot(lambda y, t: ff.ThrusterDuty(jnp.ones(12), name)), duration=0.1, dt=0.02)
    for own in "ab":
        np.testing.assert_array_equal(run.values(f"{own}.burning")[-1], float(own in burns))


def test_software_commands_the_actuators_of_its_own_spacecraft():
    world = ff.World(one=HUB, two=HUB)
    apart = {"two": HUB.at_rest(at=ff.Pose(position=(9.0, 0.0, 0.0)))}
    pullers = [Puller(on=name) for name in world.names]
    run = ff.simulate(world, *pullers, Pilot(pull((0.0, 0.0, 1.0)), on="two"), state=apart, duration=1.0, dt=0.02)
    np.testing.assert_allclose(run.values("two.impulse.linear")[-1], [0.0, 0.0, 2.0], atol=1e-12)
    assert not np.any(run.values("one.impulse.linear"))


def test_an_input_port_replaces_the_commands_of_software():
    inputs = {"command.puller.pull": [0.0, 0.0, 5.0]}
    run = ff.simulate(HUB, Puller(), Pilot(pull()), duration=1.0, dt=0.02, inputs=inputs)
    np.testing.assert_allclose(run.values("impulse.linear")[-1], [0.0, 0.0, 10.0], atol=1e-12)


def test_a_port_that_nobody_commands_rests_and_is_listed():
    experiment = ff.Experiment.of(HUB, Puller(), Turner(), duration=1.0, inputs={"command.turner.rate": [0.1]})
    assert experiment.resting_ports() == ("puller.pull", "turner.spin")
    run = ff.simulate(experiment)
    assert run.audit.holds
    assert not np.any(run.values("impulse.linear"))
    about = next(part for part in run.description.parts if part["part"] == "Puller")
    assert about["at rest, since nobody commands it"] == "puller.pull"


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ((Puller(), Puller(name="other"), Pilot(pull())), None),
        ((Puller(), Turner(), Puller()), "Two parts are called Puller"),
        ((Pilot(pull()),), "Pilot commands the port 'puller.pull', which no actuator of spacecraft 'hub' accepts."),
        ((Puller(), Pilot(pull(unit="N"))), "gives 'puller.pull' in 'N', but the port takes '1'"),
        ((Puller(), Pilot(pull((1.0, 2.0)))), "must give 3 numbers (x, y, z) in PortCommand, got shape (2,)"),
        ((Puller(), Pilot(pull((1.0,), names=("w",)))), "Spacecraft 'hub' has no part 'w'. Parts: x, y, z."),
        ((Turner(), Pilot(lambda y, t: (ff.PortCommand("turner.spin", jnp.ones(1)),
                                        ff.WheelTorques(("wheel",), jnp.ones(1))))), "Wheel 'wheel' is driven twice"),
        ((Turner(), Pilot(lambda y, t: ff.PortCommand("turner.rate", jnp.ones(1)), name="a"),
          Pilot(lambda y, t: ff.JointTorques(("rod",), jnp.ones(1)), name="b")), "Joint 'rod' is driven by two parts"),
        ((Puller(), actuators.WeakActuator(actuator="Pusher")), "nothing on spacecraft 'hub' is 'Pusher'"),
        ((actuators.DriftingSensor(sensor="gyro"),), "no sensor 'gyro'"),
    ],
)  # fmt: skip
def test_faults_of_ports_and_failures_are_named_when_the_system_is_built(parts, said):
    if said is None:  # a name makes ports of their own
        assert ff.Experiment.of(HUB, *parts, duration=0.1).resting_ports() == ("other.puller.pull",)
    else:
        assert said in refusal(*parts)


@record
class SecondMotors(ff.Actuator):
    """Claims a port that the spacecraft has."""

    def accepts(self, craft):
        return (ff.CommandPort("joints.torque", "N m", ("rod",)),)


def test_two_actuators_on_one_port_are_refused_by_name():
    said = refusal(SecondMotors())
    assert "JointMotors and SecondMotors both accept the port 'joints.torque' of spacecraft 'hub'" in said


def test_an_input_and_software_may_not_prescribe_one_joint():
    pilot = Pilot(lambda y, t: ff.JointRates(("rod",), jnp.ones(1)))
    said = refusal(Turner(), pilot, inputs={"command.turner.rate": [0.1]})
    assert "The rate of 'rod' is prescribed twice" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"force": lambda self, truth, memory, u, clock: jnp.zeros(3)}, "Wrong.force must return 8 numbers"),
        ({"rates": lambda self, craft, memory, u, clock: jnp.zeros(2),
          "prescribes": lambda self, craft, parts: ("rod",)},
         "Wrong.rates must return 1 numbers (rod), got shape (2,)"),
        ({"begin": lambda self, craft: jnp.zeros(1), "actuate": lambda self, truth, memory, u, clock: jnp.zeros(2)},
         "Wrong.actuate changes its memory"),
        ({"force": lambda self, truth: 0.0}, "Wrong.force must take (self, truth, memory, u, clock)"),
        ({"force": lambda self, truth, memory, u, clock: u["wrnog"]}, "accepts no port 'wrnog'. Its ports: wrong."),
        ({"channels": lambda self, craft: ()}, "Wrong needs both `channels` and `observe`"),
        ({"actuate": lambda self, truth, memory, u, clock: 1.0 if u["wrong"][0] > 0 else 2.0,
          "begin": lambda self, craft: jnp.zeros(())}, "Use jnp.where in place of if"),
    ],
)  # fmt: skip
def test_a_faulty_actuator_is_named_with_its_method(change, said):
    accepts = {"accepts": lambda self, craft: (ff.CommandPort("wrong", "1", ("one",)),)}
    kind = record(type("Wrong", (ff.Actuator,), {"__annotations__": {}, **accepts, **change}))
    assert said in refusal(kind(), inputs={"command.wrong": [1.0]})


# ---- prescribed motion


@pytest.mark.parametrize("period", [None, 0.1])
def test_an_actuator_may_prescribe_motion(period):
    """As the standard drive does it, to the same bits; beyond its largest rate it takes that."""
    own = Pilot(lambda y, t: ff.PortCommand("turner.rate", 0.2 * jnp.cos(t)[None]), period=period)
    same = Pilot(lambda y, t: ff.JointRates(("rod",), 0.2 * jnp.cos(t)[None]), period=period)
    one, other = (ff.simulate(HUB, *p, duration=2.0, dt=0.02) for p in ((Turner(), own), (same,)))
    np.testing.assert_allclose(one.values("state.v"), other.values("state.v"), rtol=1e-13, atol=1e-16)
    assert one.audit.holds
    fast = ff.simulate(HUB, Turner(), duration=0.1, dt=0.02, inputs={"command.turner.rate": [3.0]})
    np.testing.assert_allclose(fast.values("joints.rate")[1:], 0.5)


def test_a_wheel_that_a_user_s_actuator_drives_becomes_full():
    run = ff.simulate(HUB, Turner(), duration=4.0, dt=0.05, inputs={"command.turner.spin": [1.0]})
    wheel, base = run.values("wheels.speed")[-1, 0], run.values("base.rate")[-1, 2]
    assert 0.1 * wheel == pytest.approx(2.0, rel=1e-9)  # its limit [N m s]
    assert base < 0.0
    assert [event["kind"] for event in run.events] == ["wheel full"]
    np.testing.assert_allclose(run.events[0]["time"], 2.0 / 1.0, rtol=0.01)  # the hub turns the other way a little
    with pytest.raises(ff.RunFailed, match="wheel: momentum beyond its limit"):  # negative control
        ff.simulate(HUB, Overdriver(), duration=4.0, dt=0.05, inputs={"command.turner.spin": [1.0]})


# ---- failures


def test_a_weak_actuator_gives_its_share():
    weak = actuators.WeakActuator(actuator="Puller", share=0.25, at=0.5)
    run = ff.simulate(HUB, Puller(), weak, Pilot(pull((0.0, 0.0, 1.0))), duration=1.0, dt=0.02)
    np.testing.assert_allclose(run.values("impulse.linear")[-1, 2], 2.0 * (0.5 + 0.25 * 0.5), rtol=1e-12)
    none = dataclasses.replace(weak, share=0.0, until=0.75)
    run = ff.simulate(HUB, Puller(), none, Pilot(pull((0.0, 0.0, 1.0))), duration=1.0, dt=0.05)
    np.testing.assert_allclose(run.values("impulse.linear")[-1, 2], 2.0 * 0.75, rtol=1e-12)


def test_a_weak_drive_of_prescribed_motion_turns_at_its_share():
    weak = actuators.WeakActuator(actuator="Turner", share=0.5, at=0.1)
    run = ff.simulate(HUB, Turner(), weak, duration=0.3, dt=0.02, inputs={"command.turner.rate": [0.2]})
    rate, t = run.values("joints.rate")[:, 0], run.values("time")
    np.testing.assert_allclose(rate[(t > 0.0) & (t <= 0.1)], 0.2)
    np.testing.assert_allclose(rate[t > 0.12], 0.1)
    assert run.audit.holds


def test_two_failures_of_one_actuator_both_count():
    halves = [actuators.WeakActuator(actuator="Puller", share=0.5, at=0.5, name=name) for name in ("a", "b")]
    run = ff.simulate(HUB, Puller(), *halves, Pilot(pull((0.0, 0.0, 1.0))), duration=1.0, dt=0.02)
    np.testing.assert_allclose(run.values("impulse.linear")[-1, 2], 2.0 * (0.5 + 0.25 * 0.5), rtol=1e-12)


def spinning(rate=0.1):
    return HUB.in_motion(rate=(0.0, 0.0, rate))


@record
class Watch(ff.Software):
    """Records what the gyro reports."""

    def channels(self):
        return (ff.Channel("gyro.z", "Rate", "rad/s"), ff.Channel("gyro.age", "Age of the measurement", "s"))

    def observe(self, memory, y, clock, truth):
        return y["base.rate"][2], clock.t - y.taken("base.rate")

    def command(self, memory, y, clock):
        return ff.JointTorques(("rod",), 0.0 * y["base.rate"][:1] + jnp.cos(3.0 * clock.t))


@pytest.mark.parametrize("latency", [0.0, 0.1])
def test_a_frozen_sensor_repeats_its_value_with_new_times(latency):
    parts = sensors.Gyro(latency=latency), sensors.Ideal(), Watch(period=0.02)
    sound = ff.simulate(HUB, *parts, state=spinning(), duration=2.0, dt=0.02)
    frozen = ff.simulate(
        HUB, *parts, actuators.FrozenSensor(sensor="Gyro", at=1.0), state=spinning(), duration=2.0, dt=0.02
    )
    t, z, age = frozen.values("time"), frozen.values("gyro.z"), frozen.values("gyro.age")
    np.testing.assert_array_equal(z[t < 1.0 + latency], sound.values("gyro.z")[t < 1.0 + latency])
    assert np.ptp(z[t > 1.0 + latency]) == 0.0
    assert np.ptp(sound.values("gyro.z")[t > 1.0 + latency]) > 1e-4
    assert np.max(age[t > 0.5]) < latency + 0.021
    blind = ff.simulate(
        HUB, *parts, actuators.BlindSensor(sensor="Gyro", at=1.0), state=spinning(), duration=2.0, dt=0.02
    )
    assert np.max(blind.values("gyro.age")) > 0.9  # a blind one reports how old its value is


def test_a_drifting_sensor_drifts_from_then_on():
    drift = actuators.DriftingSensor(sensor="Gyro", measurement="base.rate", rate=(0.0, 0.0, 1e-3), at=1.0)
    parts = sensors.Gyro(), sensors.Ideal(), Watch(period=0.02)
    sound, drifting = (
        ff.simulate(HUB, *parts, *more, state=spinning(), duration=2.0, dt=0.02).values("gyro.z")
        for more in ((), (drift,))
    )
    t = np.linspace(0.0, 2.0, 101)
    expected = np.where(t >= 1.0 + 0.02, 1e-3 * (t - 1.02), 0.0)  # a record shows what was sampled at the tick before
    np.testing.assert_allclose(drifting - sound, np.maximum(expected, 0.0), atol=2.1e-5)
    assert (drifting - sound)[-1] > 9e-4


def test_a_star_tracker_drifts_as_a_rotation():
    drift = actuators.DriftingSensor(sensor="StarTracker", rate=(0.0, 0.0, 1e-3))
    tracker = drift.wrap(sensors.StarTracker())
    truth = ff.model.Truth(ff.World.of(HUB), (HUB.at_rest(),))
    clock = ff.Clock(t=jnp.asarray(100.0), tick=jnp.zeros((), jnp.int32), dt=0.1)
    number = jnp.zeros((), jnp.int32)
    quat = tracker.sample(tracker.begin(truth, clock), truth, number, clock)["base.attitude"]
    np.testing.assert_allclose(quat, [np.cos(0.05), 0.0, 0.0, np.sin(0.05)], atol=1e-12)


@record
class Reversed(ff.Failure):
    """An actuator that is wired the wrong way round."""

    actuator: str = static()

    def concerns(self, part, craft):
        return type(part).__name__ == self.actuator

    def failed_force(self, force, clock):
        return -force


def test_a_failure_from_a_user_s_file():
    run = ff.simulate(
        HUB, Puller(), Reversed(actuator="Puller", at=0.75), Pilot(pull((0.0, 0.0, 1.0))), duration=1.0, dt=0.05
    )
    np.testing.assert_allclose(run.values("impulse.linear")[-1, 2], 2.0 * (0.75 - 0.25), rtol=1e-12)
    assert run.audit.holds
    assert any(text.startswith("failure.Puller: failed") for text in run.conditions)


# ---- a stuck joint where something is held


def latched(on: bool = True) -> ff.World:
    ball = ff.Spacecraft.from_base("ball", mass=20.0, inertia=(2.0, 2.0, 2.0))
    hub = HUB.with_frame("tip", body="rod", at=ff.Pose(position=(1.0, 0.0, 0.0)))
    return ff.World(hub=hub, ball=ball).connection("dock", "hub.tip", "ball.base", on=on)


def swing(y, t):
    return ff.JointTorques(("rod",), 2.0 * jnp.cos(t)[None])


@pytest.mark.parametrize("on", [True, False], ids=["latched", "apart"])
def test_a_stuck_joint_in_a_world_with_connections(on):
    """It stops as a brake would stop it, and stays; momentum is that of before."""
    world = latched(on)
    start = {
        "hub": world.crafts[0].in_motion(rate=(0.0, 0.0, 0.02)),
        "ball": world.crafts[1].at_rest(at=ff.Pose(position=(1.0 + 2.0 * (not on), 0.0, 0.0))),
    }
    stuck = actuators.StuckJoint(joint="rod", at=1.0, on="hub")
    run = ff.simulate(world, Pilot(swing, on="hub"), stuck, state=start, duration=2.0, dt=0.01)
    assert run.audit.holds
    rate, t = run.values("hub.joints.rate")[:, 0], run.values("time")
    assert np.max(np.abs(rate[t < 1.0])) > 0.05
    np.testing.assert_allclose(rate[t > 1.01], 0.0, atol=1e-14)
    braked = world.brake("hub.rod")
    stops = Pilot(lambda y, t: (swing(y, t), ff.Brake(("rod",), jnp.where(t >= 1.0 - 1e-9, 1.0, 0.0)[None])), on="hub")
    other = ff.simulate(braked, stops, state=start, duration=2.0, dt=0.01)
    np.testing.assert_allclose(run.values("hub.state.v"), other.values("hub.state.v"), rtol=1e-12, atol=1e-14)
    momentum = run.values("world.momentum.angular")
    np.testing.assert_allclose(momentum, momentum[:1].repeat(len(momentum), 0), atol=1e-7)


def test_a_stuck_joint_with_prescribed_rates_in_such_a_world():
    world = latched(on=False)
    stuck = actuators.StuckJoint(joint="rod", at=1.0, on="hub")
    drive = Pilot(lambda y, t: ff.JointRates(("rod",), 0.1 * jnp.ones(1)), on="hub")
    far = {"ball": world.crafts[1].at_rest(at=ff.Pose(position=(3.0, 0.0, 0.0)))}
    run = ff.simulate(world, drive, stuck, state=far, duration=2.0, dt=0.02)
    assert run.audit.holds
    rate, t = run.values("hub.joints.rate")[:, 0], run.values("time")
    np.testing.assert_allclose(rate[(t > 0.0) & (t <= 1.0)], 0.1)
    np.testing.assert_array_equal(rate[t > 1.02], 0.0)


# ---- outside software


class Outside:
    """On-board software outside the loop that commands a user's port."""

    period, reads, commands = 0.1, {"base.rate": None}, {"puller.pull": ("z",)}

    def begin(self, y):
        pass

    def step(self, t, y):
        return {"puller.pull": [3.0]}


def test_outside_software_commands_a_user_s_port():
    flown = ff.fly(ff.Experiment.of(HUB, Puller(), duration=1.0, dt=0.02), Outside())
    np.testing.assert_allclose(flown.values("impulse.linear")[-1], [0.0, 0.0, 6.0], atol=1e-12)
    with pytest.raises(ValueError, match=r"Outside.*commands puller.pull\[z\] 1.*no actuator of spacecraft 'hub'"):
        ff.fly(ff.Experiment.of(HUB, duration=1.0, dt=0.02), Outside())

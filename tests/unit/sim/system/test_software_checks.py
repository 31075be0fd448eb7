"""Software and other parts that cannot act are refused by name, with a remedy, before anything is simulated."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.actuators import Thrusters, torque_pairs
from freefloat.control import HoldJoints
from freefloat.sensors import Gyro, Ideal
from freefloat.values import record, static
from freefloat.values.channels import Channel

CRAFT = (
    ff.Spacecraft.from_base("hub", mass=10.0, inertia=(1.0, 1.0, 1.0))
    .with_wheel("wheel", axis=(0.0, 0.0, 1.0), inertia=0.05)
    .with_link("rod", parent="base", joint="revolute", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.5, 0.0, 0.0))
)
WORLD = ff.World(servicer=CRAFT, client=CRAFT)


@record
class Pilot(ff.Software):
    """Software whose body a test chooses."""

    body: object = static(default=lambda y, t: ())

    def command(self, memory, y, clock):
        return self.body(y, clock.t)


def rates(joint="rod", value=lambda y, t: jnp.zeros(1)):
    return lambda y, t: ff.JointRates((joint,), value(y, t))


def torques(joint="rod", value=lambda y, t: jnp.zeros(1)):
    return lambda y, t: ff.JointTorques((joint,), value(y, t))


def spin(wheel="wheel"):
    return lambda y, t: ff.WheelTorques((wheel,), jnp.zeros(1))


def refusal(*parts, of=CRAFT, kind=ValueError, **options) -> str:
    with pytest.raises(kind) as caught:
        ff.simulate(of, *parts, duration=0.1, **options)
    return str(caught.value)


# ---- traced values


def assigns_numpy(y, t):
    torque = np.zeros(1)
    torque[0] = y["joints.position"][0]
    return torque


def assigns_jax(y, t):
    torque = jnp.zeros(1)
    torque[0] = y["joints.position"][0]
    return torque


TRACED = {
    "numpy": (lambda y, t: np.sin(y["joints.position"]), "Use jax.numpy in place of numpy"),
    "array": (lambda y, t: np.array([y["joints.position"][0]]), "Use jax.numpy in place of numpy"),
    "if": (lambda y, t: jnp.ones(1) if y["joints.rate"][0] > 0.0 else jnp.zeros(1), "Use jnp.where in place of if"),
    "max": (lambda y, t: max(y["joints.rate"][0], 0.0) * jnp.ones(1), "jnp.maximum in place of max"),
    "float": (lambda y, t: float(t) * jnp.ones(1), "makes a Python number of a traced value"),
    "math": (lambda y, t: math.sin(t) * jnp.ones(1), "makes a Python number of a traced value"),
    "mask": (lambda y, t: y["base.rate"][y["base.rate"] > 0.0], "Use jnp.where in place of x[mask]"),
    "index": (lambda y, t: [1.0, 2.0][t.astype(int)] * jnp.ones(1), "Index a jnp array"),
    "into numpy": (assigns_numpy, "jnp.zeros(n).at[place].set(value)"),
    "in place": (assigns_jax, "x = x.at[place].set(value)"),
}


@pytest.mark.parametrize("engine", ["native", "jax"])
@pytest.mark.parametrize("name", TRACED)
def test_a_slip_with_traced_values_names_the_software_the_line_and_the_remedy(name, engine):
    slip, remedy = TRACED[name]
    said = refusal(Pilot(torques(value=slip)), engine=engine, kind=ff.SoftwareError)
    assert said.startswith("Pilot.command (test_software_checks.py:")
    assert f"test_software_checks.py:{slip.__code__.co_firstlineno}" in said or name in ("into numpy", "in place")
    assert remedy in said


def test_a_slip_in_an_effect_is_told_too():
    @record
    class Careless(ff.Effect):
        def force(self, craft, state, clock):
            return np.sin(state.v)

    assert refusal(Careless()).startswith("Careless.force (test_software_checks.py:")


def test_the_error_of_jax_is_kept_as_the_cause():
    with pytest.raises(ff.SoftwareError) as caught:
        ff.simulate(CRAFT, Pilot(torques(value=TRACED["numpy"][0])), duration=0.1)
    assert "Tracer" in type(caught.value.__cause__).__name__


def test_other_errors_of_software_pass_as_they_are():
    with pytest.raises(ZeroDivisionError):
        ff.simulate(CRAFT, Pilot(lambda y, t: 1.0 / 0.0), duration=0.1)


# ---- what a part must be


class Bare(Pilot):
    """Without @record."""


@record
class FewArguments(Pilot):
    def command(self, y, clock):
        return ()


@record
class NoReturn(Pilot):
    def begin(self, y):
        pass


@record
class Wordy(Pilot):
    def begin(self, y):
        return "much"


@record
class OldForce(ff.Software):
    def force(self, state, t, hold):
        return jnp.zeros(8)


@record
class OldSample(ff.Software):
    def sample(self, memory, state, t, hold):
        return memory, jnp.zeros(8)


class Plain:
    """Software as it was: no base class."""

    def begin(self, state):
        return self

    def force(self, state, t, hold):
        return jnp.zeros(8)


@record
class Impure(Pilot):
    def command(self, memory, y, clock):
        object.__setattr__(self, "body", clock.t)
        return ()


@record
class Mute(Pilot):
    def channels(self):
        return (Channel("mine", "Mine", "1"),)


@record
class FewArgumentsOfAnEffect(ff.Effect):
    def force(self, state, clock):
        return jnp.zeros(8)


@record
class Silent(Pilot):
    def tell(self, memory, y, clock):
        return jnp.zeros(3)


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (Bare(), "Bare is no record. Write @ff.record above its class."),
        (OldForce(), "OldForce has `force` but no `command`: it is software of the old kind."),
        (OldSample(), "OldSample has `sample` but no `command`: it is software of the old kind."),
        (FewArguments(), "FewArguments.command must take (self, memory, y, clock)."),
        (FewArgumentsOfAnEffect(), "FewArgumentsOfAnEffect.force must take (self, craft, state, clock)."),
        (NoReturn(), "NoReturn.begin must return its memory, got None. End it with a return; () for none."),
        (Wordy(), "Wordy.begin must return numbers or arrays of them"),
        (Impure(), "Impure.command changes"),
        (Mute(), "Mute needs both `channels` and `observe`, or neither."),
        (Silent(), "Silent.tell must return messages by name"),
        (
            Pilot(period=0.015),
            "Pilot every 0.015 s does not fit the step of 0.01 s: the period must be a whole number",
        ),
        (Pilot(period=0.001), "Change dt or the period"),
        (Pilot(period=-1.0), "Pilot: period must be positive, got -1 s"),
        (Gyro(period=0.015), "Gyro every 0.015 s does not fit the step of 0.01 s"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_act_says_what_it_lacks(part, said):
    assert said in refusal(part)


# ---- commands


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (lambda y, t: jnp.zeros(8), "Pilot.command must return commands (JointRates, JointTorques, WheelTorques,"),
        (lambda y, t: jnp.zeros(8), "got shape (8,)"),
        (lambda y, t: None, "Pilot.command must return commands"),
        (lambda y, t: [ff.JointTorques(("rod",), jnp.zeros(1)), 1.0], "Pilot.command must return commands"),
        (torques(value=lambda y, t: jnp.zeros(2)), "must give 1 numbers (rod) in JointTorques, got shape (2,)"),
        (lambda y, t: ff.ThrusterDuty(jnp.zeros(3)), "port 'thrusters.duty', which no actuator of spacecraft 'hub'"),
        (rates("rd"), "Pilot: Spacecraft 'hub' has no joint 'rd'. Joints: rod."),
        (torques("rd"), "Pilot: Spacecraft 'hub' has no joint 'rd'. Joints: rod."),
        (spin("wheels"), "Pilot: Spacecraft 'hub' has no wheel 'wheels'. Wheels: wheel."),
    ],
)  # fmt: skip
def test_a_command_that_cannot_be_given_is_refused(body, said):
    assert said in refusal(Pilot(body), kind=ff.SoftwareError)


def test_a_duty_fits_its_thrusters():
    pairs = Thrusters.from_nozzles(torque_pairs(1.0, 1.0), name="cold", period=0.1)
    said = refusal(Pilot(lambda y, t: ff.ThrusterDuty(jnp.zeros(3))), pairs)
    assert f"Pilot.command must give {len(pairs.nozzles)} numbers" in said
    assert "in ThrusterDuty, got shape (3,)" in said
    warm = Pilot(lambda y, t: ff.ThrusterDuty(jnp.zeros(len(pairs.nozzles)), "warm"))
    assert (
        "Pilot commands the port 'warm.duty', which no actuator of spacecraft 'hub' accepts. Ports: joints.torque,"
        in refusal(warm, pairs)
    )
    assert "cold.duty. Add the set: Thrusters(...)." in refusal(warm, pairs)


def test_a_fixed_joint_cannot_be_moved():
    craft = CRAFT.with_link("plate", parent="base", joint="fixed", mass=1.0, inertia=(0.1, 0.1, 0.1))
    for body in (rates("plate"), torques("plate")):
        said = refusal(Pilot(body), of=craft, kind=ff.SoftwareError)
        assert "Pilot: Joint 'plate' of spacecraft 'hub' cannot be moved: it is fixed" in said


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        (rates(), rates(), "Joint 'rod'"),
        (rates(), torques(), "Joint 'rod'"),
        (torques(), rates(), "Joint 'rod'"),
        (torques(), torques(), "Joint 'rod'"),
        (spin(), spin(), "Wheel 'wheel'"),
    ],
)
@pytest.mark.parametrize("names", [("first", "second"), ("", "")])
def test_nothing_is_driven_twice(one, other, what, names):
    said = refusal(Pilot(one, name=names[0]), Pilot(other, name=names[1], period=0.01), kind=ff.SoftwareError)
    assert f"{what} is driven by two parts" in said
    assert "Keep one, or let one contain the other." in said
    if names[0]:
        assert "Pilot 'first' and Pilot 'second'" in said


def test_one_software_may_not_drive_a_joint_twice_either():
    said = refusal(Pilot(lambda y, t: (rates()(y, t), torques()(y, t))), kind=ff.SoftwareError)
    assert "Joint 'rod' is driven" in said


def test_the_same_joint_of_two_spacecraft_is_two_joints():
    run = ff.simulate(WORLD, Pilot(torques(), on="servicer"), Pilot(torques(), on="client"), duration=0.1)
    assert run.audit.holds


# ---- measurements


def test_all_that_nobody_measures_is_said_at_once_and_of_all_software():
    """Before, each try named one more: the first measurement of the first software, then the next."""
    beam = ff.flex.beam(length=2.0, mass=1.0, bending_stiffness=20.0, modes=2)
    craft = CRAFT.mount(beam, name="left", to="base").mount(beam, name="right", to="base")

    def pose(y, t):
        return -y["joints.rate"] - y["left.modes"][0] - y["right.modal_rates"][0]

    first, second = (
        Pilot(torques(value=pose), name="first"),
        Pilot(lambda y, t: ff.BaseWrench(y["left.modes"][0] * jnp.ones(6))),
    )
    with pytest.raises(ff.SoftwareError) as raised:
        ff.Experiment.of(craft, first, second, Gyro(), duration=1.0).begin()
    lines = str(raised.value).splitlines()
    assert len(lines) == 2
    assert (
        "'first' reads 'joints.rate', 'left.modes', 'right.modal_rates', which no sensor of 'hub' measures" in lines[0]
    )
    assert "give the software a rigid model of the spacecraft, craft.rigid()" in lines[0]
    assert "Add a sensor for it, or ff.sensors.Ideal()" in lines[0]
    assert "Pilot reads 'left.modes'" in lines[1]
    assert "Add a sensor" not in lines[1]
    assert ff.check_software(second, craft, first, Gyro()) == lines


def test_commands_that_nothing_follows_are_said_together():
    one, other = (
        Pilot(torques(), name="one"),
        Pilot(lambda y, t: (torques()(y, t), ff.Latch("hook", jnp.asarray(True))), name="other"),
    )
    with pytest.raises(
        ff.SoftwareError, match=r"(?s)driven by two parts, Pilot 'one' and Pilot 'other'.*connection 'hook'"
    ):
        ff.Experiment.of(CRAFT, one, other, duration=1.0).begin()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("base.rat", "'base.rat' is nothing that can be measured. Measurements of spacecraft 'hub': base.position"),
        ("hand.position", "frames: base, rod"),
        ("rod.pose", "'rod.pose' is nothing that can be measured"),
        ("panel.modes", "'panel.modes' is nothing that can be measured"),
    ],
)
@pytest.mark.parametrize("period", [None, 0.01])
def test_a_name_that_nobody_measures_is_refused(name, said, period):
    told = refusal(Pilot(torques(value=lambda y, t: jnp.zeros(1) * y[name][0]), period=period), kind=ff.SoftwareError)
    assert said in told
    assert "Pilot" in told


def test_with_sensors_only_what_they_measure_can_be_read():
    software = Pilot(torques(value=lambda y, t: -y["joints.rate"]))
    said = refusal(software, Gyro(), kind=ff.SoftwareError)
    assert "Pilot reads 'joints.rate', which no sensor of 'hub' measures. Measured: base.rate." in said
    assert "Add a sensor for it, or ff.sensors.Ideal() for the truth." in said
    for ideal in (Ideal(), Ideal(names=("joints.rate",))):
        assert ff.simulate(CRAFT, software, Gyro(), ideal, duration=0.1).completed
    assert "Measured: base.rate, joints.position." in refusal(software, Gyro(), Ideal(names=("joints.position",)))


def test_two_sensors_of_one_name_are_refused():
    assert "Two parts are called Gyro. Give one of them another name=" in refusal(Gyro(), Gyro())


READ_BY_RATES = ("base.velocity", "base.rate", "joints.rate", "wheels.speed", "rod.velocity", "rod.rate")


@pytest.mark.parametrize("name", READ_BY_RATES)
def test_continuous_rates_read_no_velocity(name):
    software = Pilot(rates(value=lambda y, t: 0.1 * y[name][:1]))
    said = refusal(software, kind=ff.SoftwareError)
    assert f"Pilot prescribes joint rates continuously and reads '{name}'" in said
    assert "Sample it: period=0.01 or longer." in said


def test_sampled_rates_read_what_they_like():
    software = Pilot(rates(value=lambda y, t: 0.1 - 0.1 * y["base.rate"][2:]), period=0.02)
    assert ff.simulate(CRAFT, software, duration=0.1).audit.holds


def test_continuous_rates_read_poses_and_momenta():
    software = Pilot(
        rates(value=lambda y, t: 0.1 + y["joints.position"] + y["momentum.angular"][2:] + y["rod.position"][:1])
    )
    assert ff.simulate(CRAFT, software, duration=0.1).audit.holds


# ---- spacecraft


@pytest.mark.parametrize("kind", [Pilot, Gyro])
def test_a_part_says_whom_it_is_on(kind):
    said = refusal(kind(), of=WORLD)
    assert f"{kind.__name__}: The world has several spacecraft: say which one with on=..." in said
    assert "Spacecraft: servicer, client." in said
    assert f"{kind.__name__}: The world has no spacecraft 'target'" in refusal(kind(on="target"), of=WORLD)
    assert f"{kind.__name__}: The world has no spacecraft 'target'" in refusal(kind(on="target"))


def test_an_unknown_frame_of_another_spacecraft_names_it():
    software = Pilot(torques(value=lambda y, t: y["client.hand.position"][:1]), on="servicer")
    assert "'client.hand.position' is nothing that can be measured" in refusal(software, of=WORLD)


def test_library_parts_refuse_names_they_do_not_find():
    said = refusal(HoldJoints(joints=("rd",)))
    assert "HoldJoints: Spacecraft 'hub' has no joint 'rd'. Joints: rod." in said
    assert "no frame 'tip'. Frames: base, rod" in refusal(ff.WrenchPulse(frame="tip", wrench=np.zeros(6)))


# ---- inputs


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"rd.wrench": np.zeros(6)}, "no frame 'rd'"),
        ({"command.joint.rate": np.zeros(1)}, "There is no port 'command.joint.rate'. A port is a command"),
        ({"rod.wrench": np.zeros(3)}, "Input 'rod.wrench' must be (6,) numbers, or (10, 6) over all steps"),
        ({"rod.wrench": np.zeros((5, 6))}, "got shape (5, 6)"),
        ({"rod.wrench": lambda tick: np.zeros(3)}, "Input 'rod.wrench' must give (6,) numbers at every tick, got (3,)"),
        ({"rod.wrench": np.full(6, np.nan)}, "Input 'rod.wrench' has a number that is not finite at tick 0."),
        (
            {"rod.wrench": lambda tick: np.full(6, np.nan if tick == 7 else 0.0)},
            "Input 'rod.wrench' has a number that is not finite at tick 7.",
        ),
        ({"command.joints.rate": np.zeros(2)}, "Input 'command.joints.rate' must be (1,) numbers"),
        ({"base.rate": np.zeros(2)}, "Input 'base.rate' must be (3,) numbers"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(inputs, said):
    assert said in refusal(inputs=inputs, kind=ff.ModelError)


# ---- memory


@record
class Remembers(ff.Software):
    first: object = 0.0
    then: object = static(default=lambda memory, t: memory)

    def begin(self, y):
        return self.first

    def remember(self, memory, y, clock):
        return self.then(memory, clock.t)


@pytest.mark.parametrize("period", [None, 0.02])
@pytest.mark.parametrize(
    ("first", "then", "said"),
    [
        (0, lambda m, t: m + 0.5, "from int64[] to float64[]. Let `begin` return what it will be: 0.0 instead of 0"),
        (np.zeros(2), lambda m, t: jnp.zeros(3), "from float64[2] to float64[3]"),
        ({"a": np.zeros(2)}, lambda m, t: {"a": jnp.zeros(())}, "changes its memory['a'] from float64[2] to float64[]"),
        ({"a": 0.0}, lambda m, t: {"b": 0.0}, "Remembers.remember must return memory nested as `begin` made it"),
        (0.0, lambda m, t: None, "Remembers.remember must return memory nested as `begin` made it"),
        (0.0, lambda m, t: "much", "Remembers.remember must return numbers or arrays of them"),
    ],
)
def test_memory_keeps_its_kind(first, then, said, period):
    assert said in refusal(Remembers(first, then, period=period), kind=ff.SoftwareError)


# ---- channels


@record
class Tells(ff.Software):
    channel: Channel = static()
    value: object = static()

    def channels(self):
        return (self.channel,)

    def observe(self, memory, y, clock, truth):
        return self.value


@pytest.mark.parametrize(
    ("channel", "value", "said"),
    [
        (Channel("mine", "Mine", "1"), (), "Tells.observe must return 1 values, one for each channel, got 0"),
        (Channel("mine", "Mine", "1"), (np.zeros(3),), "must return shape () for the channel 'mine', got (3,)"),
        (Channel("base.rate", "Mine", "1"), (0.0,), "Two channels are called 'base.rate'"),
        (Channel("mine", "Mine", "1", "", "xyz", ("a", "b")), (np.zeros(2),), "Give it an axis of its own"),
    ],
)
def test_channels_that_hide_others_are_refused_before_the_run(channel, value, said):
    assert said in refusal(Tells(channel, value), kind=ff.SoftwareError)


def test_two_parts_must_not_tell_the_same():
    software = Tells(Channel("mine", "Mine", "1"), (0.0,))
    assert "Two channels are called 'mine'" in refusal(software, software)


# ---- check_software


def test_good_software_has_no_faults():
    good = Pilot(torques(value=lambda y, t: -y["joints.rate"]))
    assert ff.check_software(good, CRAFT) == []
    assert ff.check_software(good, CRAFT, Gyro(), Ideal()) == []
    assert ff.check_software(Pilot(torques(), on="client"), WORLD) == []
    assert ff.check_software(HoldJoints(joints=("rod",)), CRAFT) == []


@pytest.mark.parametrize(
    ("software", "others", "said"),
    [
        (Pilot, (), "Pilot is no software: give an instance of a class that derives from ff.Software."),
        (Plain(), (), "Plain is no software"),
        (Bare(), (), "Bare is no record"),
        (OldForce(), (), "it is software of the old kind"),
        (NoReturn(), (), "NoReturn.begin must return its memory"),
        (Pilot(torques("rd")), (), "has no joint 'rd'"),
        (Pilot(lambda y, t: jnp.zeros(8)), (), "Pilot.command must return commands"),
        (Pilot(torques(value=lambda y, t: jnp.zeros(2))), (), "must give 1 numbers"),
        (Pilot(torques(value=TRACED["if"][0])), (), "Use jnp.where in place of if"),
        (Pilot(torques(value=lambda y, t: y["joints.rate"])), (Gyro(),), "which no sensor of 'hub' measures"),
        (Pilot(rates(value=lambda y, t: y["joints.rate"])), (), "Sample it: period=0.01 or longer"),
        (Pilot(torques()), (Pilot(rates()),), "is driven by two parts"),
        (Remembers(0, lambda m, t: m + 0.5), (), "changes its memory"),
        (Pilot(period=0.015), (), "does not fit the step"),
        (Pilot(on="target"), (), "no spacecraft 'target'"),
        (Pilot(torques(value=lambda y, t: 1.0 / y["joints.position"])), (), "the accelerations are not finite"),
        (Pilot(torques(value=lambda y, t: 1.0 / y["joints.position"]), period=0.1), (), "gave a number that is not"),
        (Pilot(rates(value=lambda y, t: jnp.sqrt(y["joints.position"]))), (), "not finite"),
        (Pilot(lambda y, t: 1.0 / 0.0), (), "division by zero"),
        (Pilot(lambda y, t: y.nothing), (), "nothing"),
    ],
)  # fmt: skip
def test_every_kind_of_fault_is_one_sentence(software, others, said):
    (told,) = ff.check_software(software, CRAFT, *others)
    assert said in told
    assert "\n" not in told


def test_software_inside_software_may_hear_messages_in_a_branch():
    """A sampled arm in a continuous servo reads a message of continuous software: found before its branch."""

    @record
    class Wish(ff.Software):
        def tell(self, memory, y, clock):
            return {"wish.rate": 0.1 * jnp.cos(clock.t)}

    @record
    class Obey(ff.control.RateSoftware):
        @property
        def joints(self):
            return ("rod",)

        def rates(self, memory, y, clock):
            return jnp.array([y["wish.rate"]])

        def channels(self):
            return (Channel("wish.heard", "Rate that is wished for", "rad/s"),)

        def observe(self, memory, y, clock, truth):
            return (y["wish.rate"],)

    servo = ff.control.JointServo(craft=CRAFT, arm=Obey(period=0.1), bandwidth=10.0)
    run = ff.simulate(CRAFT, Wish(), servo, duration=1.0)
    assert np.ptp(run["joints.rate"].values) > 0.05

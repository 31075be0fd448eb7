"""What comes from outside at any port: an array, a function of the tick or a value; recorded, and refused by name."""

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat import actuators, effects, sensors
from freefloat.values import record

HUB = (
    ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 22.0, 24.0))
    .with_link("rod", parent="base", joint="revolute", mass=5.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42))
    .with_wheel("wheel", axis=(0.0, 0.0, 1.0), inertia=0.1, max_torque=0.5)
    .with_frame("hand", body="rod", at=ff.Pose(position=np.array([1.0, 0.0, 0.0])))
)
DT, STEPS = 0.02, 100
PUSH = np.array([0.3, -0.2, 0.1, 0.0, 0.05, 0.0])


def run(*parts, **options) -> ff.Run:
    return ff.simulate(HUB, *parts, duration=DT * STEPS, dt=DT, **options)


def test_a_wrench_is_the_same_however_it_is_given():
    value = run(inputs={"hand.wrench": PUSH})
    table = run(inputs={"hand.wrench": np.tile(PUSH, (STEPS, 1))})
    function = run(inputs={"hand.wrench": lambda tick: PUSH})
    effect = run(effects.WrenchPulse(frame="hand", wrench=PUSH))
    for other in (table, function):
        np.testing.assert_array_equal(value["state.v"].values, other["state.v"].values)
    np.testing.assert_allclose(value["state.v"].values, effect["state.v"].values, rtol=1e-13, atol=1e-16)
    assert np.all(value["input.hand.wrench"].values == PUSH)


def test_each_tick_gets_its_own_row():
    rows = np.zeros((STEPS, 6))
    rows[40:60, 0], rows[-1, 2] = 1.0, 1e-3
    pushed = run(inputs={"base.wrench": rows}, record_dt=DT)
    momentum = pushed["momentum.linear"].values[:, 0]
    np.testing.assert_allclose(momentum[40], 0.0, atol=1e-14)
    np.testing.assert_allclose(momentum[60:], 20 * DT, rtol=1e-6)
    told = pushed["input.base.wrench"].values
    np.testing.assert_array_equal(told[1:], rows)  # what came in the step before
    np.testing.assert_array_equal(told[0], rows[0])  # at the start, in the step after it


@record
class Torque(ff.Software):
    """A constant torque at the joint and at the wheel."""

    def command(self, memory, y, clock):
        return ff.JointTorques(("rod",), jnp.array([0.2])), ff.WheelTorques(("wheel",), jnp.array([0.1]))


@pytest.mark.parametrize("period", [None, 0.1])
def test_a_command_from_outside_takes_the_place_of_the_software_s(period):
    own = run(Torque(period=period))
    same = run(inputs={"command.joints.torque": [0.2], "command.wheels.torque": [0.1]})
    np.testing.assert_allclose(own["state.v"].values, same["state.v"].values, rtol=1e-12, atol=1e-15)
    other = run(Torque(period=period), inputs={"command.wheels.torque": [0.0]})
    assert np.all(other["wheels.torque"].values == 0.0)
    np.testing.assert_allclose(other["joints.torque"].values[1:], 0.2)


def test_limits_hold_for_commands_from_outside_too():
    np.testing.assert_allclose(run(inputs={"command.wheels.torque": [3.0]})["wheels.torque"].values, 0.5)


def test_joint_rates_from_outside_are_followed():
    rows = 0.3 * np.sin(0.1 * np.arange(STEPS))[:, None]
    moved = run(inputs={"command.joints.rate": rows}, record_dt=DT)
    assert moved.audit.holds
    np.testing.assert_allclose(moved["joints.position"].values[1:, 0], DT * np.cumsum(rows[:, 0]), atol=1e-12)


@record
class Damp(ff.Software):
    """Brakes the joint by its measured rate."""

    def command(self, memory, y, clock):
        return ff.JointTorques(("rod",), -1.0 * y["joints.rate"])


@pytest.mark.parametrize("period", [None, 0.1])
@pytest.mark.parametrize("sensed", [False, True])
def test_a_measurement_from_outside_takes_the_place_of_any_sensor(period, sensed):
    @record
    class Tachometer(ff.Sensor):
        def measure(self, truth, number, clock):
            return {"joints.rate": truth.state.v[-1:]}

    sensor = (Tachometer(),) if sensed else ()
    fooled = run(*sensor, Damp(period=period), inputs={"joints.rate": [0.25]})
    np.testing.assert_allclose(fooled["joints.torque"].values[1:], -0.25)


def test_thruster_duty_and_base_wrench_come_from_outside():
    thrusters = actuators.Thrusters.from_nozzles(actuators.torque_pairs(arm=1.0, thrust=0.1))
    duty = np.zeros(12)
    duty[[n.name for n in thrusters.nozzles].index("z+a")] = 1.0
    burnt = run(thrusters, inputs={"command.thrusters.duty": duty})
    # Thrust times time over exhaust velocity: it burns all the time.
    used = 0.1 * DT * STEPS / (220.0 * 9.80665)
    np.testing.assert_allclose(burnt["thrusters.propellant"].values[-1], used, rtol=1e-12)
    pushed, same = run(inputs={"command.base.wrench": PUSH}), run(effects.WrenchPulse(frame="base", wrench=PUSH))
    np.testing.assert_allclose(pushed["state.v"].values, same["state.v"].values, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"hnd.wrench": PUSH}, "no frame 'hnd'.*hand"),
        ({"joints.torque": [0.0]}, "no port 'joints.torque'.*command.joints.torque"),
        ({"hand.wrench": np.zeros(5)}, r"Input 'hand.wrench' must be \(6,\) numbers"),
        ({"hand.wrench": np.zeros((7, 6))}, r"\(100, 6\) over all steps"),
        ({"hand.wrench": lambda tick: np.zeros(4)}, r"must give \(6,\) numbers at every tick"),
        ({"hand.wrench": np.where(np.arange(600).reshape(100, 6) == 60, np.nan, 0.0)}, "not finite at tick 10"),
    ],
)
def test_wrong_inputs_are_refused_by_name(inputs, said):
    with pytest.raises(ff.ModelError, match=said):
        run(inputs=inputs)


def test_a_named_sensor_can_be_replaced_by_its_name():
    gyro = sensors.Gyro(name="second")

    @record
    class Watch(ff.Software):
        def command(self, memory, y, clock):
            return ff.BaseWrench(jnp.concatenate([jnp.zeros(3), y["second.base.rate"]]))

    pushed = run(gyro, Watch(period=0.1), inputs={"second.base.rate": [0.0, 0.0, 1.0]})
    np.testing.assert_allclose(pushed["impulse.angular"].values[-1, 2], DT * STEPS, rtol=1e-12)


def test_a_stepper_takes_the_experiment_s_own_input_where_none_is_given():
    rows = np.linspace(0.0, 0.3, STEPS)[:, None]
    experiment = ff.Experiment.of(HUB, duration=DT * STEPS, dt=DT, inputs={"command.joints.torque": rows})
    whole, loop = ff.simulate(experiment), ff.stepper(experiment)
    for _ in range(STEPS):
        loop.step()
    np.testing.assert_array_equal(loop.state.states[0].v, whole["state.v"].values[-1])


def test_in_a_world_of_several_a_port_says_whose_it_is():
    world = ff.World(one=HUB, two=ff.Spacecraft.from_base("ball", mass=2.0, inertia=(1.0, 1.0, 1.0)))
    for port in ("base.wrench", "command.base.wrench", "base.rate"):
        with pytest.raises(ff.ModelError, match=f"Write 'one.{port}'"):
            ff.simulate(world, duration=1.0, inputs={port: np.zeros(6)})
    pushed = ff.simulate(world, duration=1.0, inputs={"two.base.wrench": PUSH})
    assert np.any(pushed["two.impulse.linear"].values)
    assert not np.any(pushed["one.impulse.linear"].values)


def test_each_tick_gets_its_own_row_with_adaptive_steps_too():
    rows = np.zeros((STEPS, 6))
    rows[40:60, 0] = 1.0
    pushed = run(inputs={"base.wrench": rows}, integrator="adaptive")
    np.testing.assert_allclose(pushed["momentum.linear"].values[-1, 0], 20 * DT, rtol=1e-6)


def test_a_run_that_goes_on_reads_its_table_where_it_is():
    rows = np.zeros((STEPS, 6))
    rows[60:80, 0] = 1.0
    half = ff.Experiment.of(HUB, inputs={"base.wrench": rows}, duration=DT * STEPS / 2, dt=DT)
    first = ff.simulate(half)
    assert np.all(first["momentum.linear"].values == 0.0)
    rest = ff.continue_run(first, half)
    np.testing.assert_allclose(rest["momentum.linear"].values[-1, 0], 20 * DT, rtol=1e-6)


def test_valves_that_are_moved_every_fifth_tick_give_what_is_asked_for():
    """Half of the time in holds of 0.1 s: at the end they owe a hold at most, and propellant is that of the pulses."""
    pairs = actuators.torque_pairs(arm=1.0, thrust=0.1)
    duty = 0.5 * np.eye(12)[0]
    slow = actuators.Thrusters.from_nozzles(pairs, period=5 * DT)
    burnt = run(slow, inputs={"command.thrusters.duty": duty}, record_dt=DT)
    given = 0.1 * DT * np.sum(burnt["thrusters.burning"].values[1:, 0])  # [N s]
    assert abs(given - 0.1 * 0.5 * DT * STEPS) <= 0.1 * 5 * DT + 1e-12
    used = float(burnt["thrusters.propellant"].values[-1])
    assert used == pytest.approx(given / (220.0 * actuators.thrusters.STANDARD_GRAVITY), rel=1e-9)


def test_two_sets_of_thrusters_have_ports_of_their_own():
    sets = [
        actuators.Thrusters.from_nozzles(actuators.torque_pairs(arm=1.0, thrust=0.1), name=name) for name in ("a", "b")
    ]
    burnt = run(*sets, inputs={"command.b.duty": np.ones(12)})
    assert not np.any(burnt["a.burning"].values)
    assert np.all(burnt["b.burning"].values[1:])
    with pytest.raises(ff.ModelError, match=r"no port 'command.thrusters.duty'.*command.a.duty, command.b.duty"):
        run(*sets, inputs={"command.thrusters.duty": np.zeros(24)})


def test_the_run_tells_what_outside_commands_make_of_motors():
    told = run(Torque(), inputs={"command.wheels.torque": [3.0]})
    assert np.all(told["wheels.condition"].values == 1.0)
    np.testing.assert_allclose(told["joints.motor_torque"].values, 0.2)

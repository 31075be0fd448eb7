"""Errors and names of the sensors of rates, forces and distances; what they measure exactly is in tests/physics."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.model import State, Truth, World
from freefloat.model.part_kinds import SensorMemory
from freefloat.sensors import Accelerometer, ForceTorqueSensor, Imperfection, JointEncoder, RangeSensor
from support.ports import clock_at, truth_of

ZERO, NOW = jnp.zeros((), jnp.int32), clock_at(0.0)
ARM = (
    ff.Spacecraft.from_base("hub", mass=10.0, inertia=(1.0, 1.0, 1.0))
    .with_link("upper", parent="base", joint="revolute", mass=1.0, inertia=(0.1, 0.1, 0.1))
    .with_link("wrist", parent="upper", joint="revolute", mass=2.0, inertia=(0.1, 0.1, 0.1))
    .with_frame("eye", body="base", at=(1.0, 0.0, 0.0))
)
CLIENT = ff.Spacecraft.from_base("client", mass=3.0, inertia=(1.0, 1.0, 1.0)).with_frame("ring", body="base")
STATE = dataclasses.replace(ARM.at_rest([0.3, -0.2]), v=np.array([0, 0, 0, 0, 0, 0, 0.5, -0.7]))


@dataclasses.dataclass
class Steady:
    """Forces of a spacecraft that a constant acceleration moves, without gravity; nothing pushes beyond its joints."""

    state: State
    acceleration: np.ndarray

    def motion(self, craft: int) -> tuple[State, Any]:
        return self.state, jnp.asarray(self.acceleration)

    def gravity(self, p: Any, velocity: Any) -> Any:
        return jnp.zeros(3)

    def outside_wrench(self, craft: int, bodies: tuple[str, ...]) -> Any:
        return jnp.zeros(6)


def pushed(acceleration: float = 2.0) -> Truth:
    """Truth of the arm at rest, accelerated along x."""
    state = ARM.at_rest()
    vdot = np.zeros(8)
    vdot[0] = acceleration
    return dataclasses.replace(truth_of(ARM, state), forces_before=lambda: Steady(state, vdot))


def samples(sensor: Any, name: str, truth: Truth, count: int = 3000) -> np.ndarray:
    """Many samples of one measurement."""
    numbers = jnp.arange(count, dtype=jnp.int32)
    return np.asarray(jax.vmap(lambda k: sensor.measure(truth, k, NOW)[name])(numbers))


# ---- joint rates


def test_a_joint_encoder_measures_rates_only_if_it_is_asked_to() -> None:
    at = truth_of(ARM, STATE)
    assert set(JointEncoder(noise=1e-3).measure(at, ZERO, NOW)) == {"joints.position"}
    exact = JointEncoder(rate_noise=0.0).measure(at, ZERO, NOW)
    np.testing.assert_array_equal(exact["joints.rate"], [0.5, -0.7])
    # Without the option the draws are what they always were; with it those of the positions need not be.
    plain, sized = (JointEncoder(noise=1e-3, rate_noise=r).measure(at, ZERO, NOW) for r in (None, 0.0))
    expected = np.array([0.3, -0.2]) + 1e-3 * np.asarray(JointEncoder().draw(at, ZERO, 2))
    np.testing.assert_array_equal(plain["joints.position"], expected)
    assert np.max(np.abs(sized["joints.position"] - np.array([0.3, -0.2]))) < 6e-3


def test_noise_of_a_tachometer_is_independent_of_that_of_the_encoder() -> None:
    at, encoder = truth_of(ARM, ARM.at_rest()), JointEncoder(noise=1e-3, rate_noise=2e-3)
    both = np.hstack([samples(encoder, name, at, 2000) for name in ("joints.position", "joints.rate")])
    np.testing.assert_allclose(both.std(axis=0), [1e-3, 1e-3, 2e-3, 2e-3], rtol=0.07)  # known to 1.6 %
    assert np.all(np.abs(np.corrcoef(both.T) - np.eye(4)) < 0.09)  # four times 0.022
    with pytest.raises(ff.ModelError, match="rate_noise"):
        JointEncoder(rate_noise=-1.0)


# ---- accelerometer, force and torque


def test_an_accelerometer_has_scale_bias_steps_and_noise() -> None:
    exact = Accelerometer("eye", scale_error=0.01, bias=(0.0, 0.1, 0.0)).measure(pushed(), ZERO, NOW)
    np.testing.assert_allclose(exact["eye.specific_force"], [2.02, 0.1, 0.0], atol=1e-14)
    rounded = Accelerometer("eye", bias=(0.004, 0.0, 0.0), step=0.01).measure(pushed(), ZERO, NOW)
    np.testing.assert_allclose(rounded["eye.specific_force"], [2.0, 0.0, 0.0], atol=1e-14)
    noisy = samples(Accelerometer("eye", noise=1e-3), "eye.specific_force", pushed())
    np.testing.assert_allclose(noisy.std(axis=0), 1e-3, rtol=0.06)  # known to 1.3 %
    np.testing.assert_allclose(noisy.mean(axis=0), [2.0, 0.0, 0.0], atol=8e-5)  # four times 1.8e-5


def test_a_force_sensor_has_scale_bias_steps_and_noise() -> None:
    sensor = ForceTorqueSensor("wrist", scale_error=0.01, bias=(0, 0, 1.0, 0, 0.5, 0))
    exact = sensor.measure(pushed(), ZERO, NOW)
    np.testing.assert_allclose(exact["wrist.force"], [2.0 * 2.0 * 1.01, 0.0, 1.0], atol=1e-13)
    np.testing.assert_allclose(exact["wrist.torque"], [0.0, 0.5, 0.0], atol=1e-13)
    rounded = ForceTorqueSensor("upper", force_step=0.7, torque_step=0.2, bias=(0, 0, 0, 0.15, 0, 0))
    np.testing.assert_allclose(rounded.measure(pushed(), ZERO, NOW)["upper.force"], [6.3, 0.0, 0.0], atol=1e-13)
    np.testing.assert_allclose(rounded.measure(pushed(), ZERO, NOW)["upper.torque"], [0.2, 0.0, 0.0], atol=1e-13)
    noisy = ForceTorqueSensor("wrist", force_noise=1e-2, torque_noise=1e-3)
    for name, size in (("wrist.force", 1e-2), ("wrist.torque", 1e-3)):
        np.testing.assert_allclose(samples(noisy, name, pushed()).std(axis=0), size, rtol=0.06)


def test_a_name_stands_in_front_of_what_a_sensor_measures() -> None:
    sensor = Accelerometer("eye", name="second")
    memory = sensor.begin(pushed(), NOW)
    assert isinstance(memory, SensorMemory)
    assert set(sensor.read(memory, NOW)[0]) == {"second.eye.specific_force"}


@pytest.mark.parametrize(
    ("sensor", "message"),
    [
        (Accelerometer("hnd"), "Accelerometer: .*no frame 'hnd'"),
        (ForceTorqueSensor("hnd"), "ForceTorqueSensor: .*no joint 'hnd'"),
        (RangeSensor("hnd", "client.ring"), "RangeSensor 'range': .*no frame 'hnd'"),
    ],
)
def test_sensors_refuse_places_that_the_spacecraft_does_not_have(sensor: Any, message: str) -> None:
    with pytest.raises(ff.ModelError, match=message):
        sensor.check(ARM)


def test_forces_are_not_known_without_a_run() -> None:
    with pytest.raises(ff.SoftwareError, match="Accelerations and forces are known at ticks only"):
        Accelerometer("eye").measure(truth_of(ARM, STATE), ZERO, NOW)
    world = World(hub=ARM, client=CLIENT).connection("grasp", "hub.eye", "client.ring")
    with pytest.raises(ff.SoftwareError, match="Whether 'grasp' holds is known in a run only"):
        Truth(world, world.at_rest()).is_latched("grasp")
    with pytest.raises(ff.SoftwareError, match=r"no connection 'grip'. Connections: grasp"):
        Truth(world, world.at_rest()).is_latched("grip")


# ---- range


def two(position: tuple[float, float, float], velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Truth:
    client = CLIENT.in_motion(CLIENT.at_rest(at=position), velocity=velocity)
    return Truth(World(hub=ARM, client=CLIENT), (ARM.at_rest(), client))


def test_a_range_sensor_measures_distance_and_range_rate_of_another_spacecraft() -> None:
    sensor, at = RangeSensor("eye", "client.ring", bias=0.5), two((4.0, 4.0, 0.0), (1.0, 2.0, 7.0))
    measured = sensor.measure(at, ZERO, NOW)
    assert float(measured["distance"]) == pytest.approx(5.5, abs=1e-14)
    # Separating: along the line (3, 4, 0)/5 the velocity is (3 + 8)/5; what goes across it does not count.
    assert float(measured["range_rate"]) == pytest.approx(2.2, abs=1e-14)
    assert float(RangeSensor("eye", "client.ring", step=0.3).measure(at, ZERO, NOW)["distance"]) == pytest.approx(5.1)
    with pytest.raises(ff.ModelError, match="no frame 'rng'"):
        RangeSensor("eye", "client.rng").measure(at, ZERO, NOW)
    with pytest.raises(ff.ModelError, match="from 'eye' to itself"):
        RangeSensor("eye", "eye")


def test_a_range_sensor_sees_as_far_as_it_does_and_loses_samples() -> None:
    sensor = RangeSensor("eye", "client.ring", farthest=5.0)
    assert not bool(sensor.seen(two((6.1, 0.0, 0.0)), ZERO, NOW))
    assert bool(sensor.seen(two((5.9, 0.0, 0.0)), ZERO, NOW))
    blind = RangeSensor("eye", "client.ring", imperfection=Imperfection(dropout=1.0))
    assert not bool(blind.seen(two((2.0, 0.0, 0.0)), ZERO, NOW))
    noisy = RangeSensor("eye", "client.ring", noise=1e-2, rate_noise=1e-3)
    for name, size in (("distance", 1e-2), ("range_rate", 1e-3)):
        assert samples(noisy, name, two((2.0, 0.0, 0.0))).std() == pytest.approx(size, rel=0.06)

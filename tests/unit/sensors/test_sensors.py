"""What each sensor does to the truth: errors, names, latency, dropouts."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.actuators import BlindSensor
from freefloat.dynamics import inertial_frame_pose
from freefloat.library import ets7
from freefloat.model import Spacecraft, State, Truth, World
from freefloat.sensors import (
    Gyro,
    Imperfection,
    JointEncoder,
    MotorEncoder,
    RelativePoseCamera,
    StarTracker,
    noise_key,
)
from freefloat.sensors.ideal import true_value
from freefloat.sensors.imperfection import ImperfectSensor
from freefloat.spatial import Pose
from freefloat.spatial.rotations import (
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_multiply,
    quaternion_of,
    rotation_exp,
    rotation_matrix,
)
from freefloat.values import ModelError
from support.compiling import compiled
from support.ports import clock_at, truth_of

ZERO, NOW = jnp.zeros((), jnp.int32), clock_at(0.0)
ROD = Spacecraft.from_base("hub", mass=10.0, inertia=(1.0, 1.0, 1.0))
for _name, _parent in (("upper", "base"), ("lower", "upper")):
    ROD = ROD.with_link(_name, parent=_parent, joint="revolute", mass=1.0, inertia=(0.1, 0.1, 0.1))
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def truth(rate=(0.0, 0.0, 0.0), quat=UPRIGHT, q=(0.0, 0.0)) -> Truth:
    return truth_of(ROD, State(np.zeros(3), np.asarray(quat), np.array(q), np.array([0, 0, 0, *rate, 0, 0], float)))


def errors(sensor: ImperfectSensor, name: str, count: int) -> np.ndarray:
    """Of many samples of a value whose truth is zero, or the unit quaternion."""
    numbers = jnp.arange(count, dtype=jnp.int32)
    return np.asarray(jax.vmap(lambda k: sensor.measure(truth(), k, NOW)[name])(numbers))


def test_perfect_sensors_tell_the_truth() -> None:
    quat = np.asarray(quaternion_exp(jnp.array([0.3, 0.2, -0.1])))
    at = truth(rate=(0.1, -0.2, 0.3), quat=quat, q=(0.5, 1.0))
    np.testing.assert_array_equal(Gyro().measure(at, ZERO, NOW)["base.rate"], [0.1, -0.2, 0.3])
    np.testing.assert_array_equal(JointEncoder().measure(at, ZERO, NOW)["joints.position"], [0.5, 1.0])
    np.testing.assert_allclose(StarTracker().measure(at, ZERO, NOW)["base.attitude"], quat, atol=1e-16)
    assert all(bool(sensor.seen(at, ZERO, NOW)) for sensor in (Gyro(), JointEncoder(), StarTracker()))


def test_gyro_bias_scale_and_steps() -> None:
    gyro = Gyro(bias=np.array([1e-3, 0.0, 0.0]), scale_error=0.01, step=1e-4)
    measured = gyro.measure(truth(rate=(0.1, 0.0, -0.1)), ZERO, NOW)["base.rate"]
    np.testing.assert_allclose(measured, [0.102, 0.0, -0.101], atol=1e-12)
    # The bias is what it tells at rest: the scale error is of the rate alone.
    fine = Gyro(bias=np.array([1e-3, 0.0, 0.0]), scale_error=0.01).measure(truth(rate=(0.1, 0.0, 0.0)), ZERO, NOW)
    np.testing.assert_allclose(fine["base.rate"], [0.101 + 0.001, 0.0, 0.0], atol=1e-15)


def test_encoder_rounds_to_its_resolution() -> None:
    encoder = JointEncoder(step=np.deg2rad(0.01))
    measured = encoder.measure(truth(q=np.deg2rad([10.004, 10.006])), ZERO, NOW)["joints.position"]
    np.testing.assert_allclose(np.rad2deg(measured), [10.00, 10.01], atol=1e-9)


def test_gyro_and_encoder_noise_has_its_size_and_no_mean() -> None:
    for sensor, name in ((Gyro(noise=1e-3), "base.rate"), (JointEncoder(noise=1e-3), "joints.position")):
        found = errors(sensor, name, 4000)
        # The mean is known to 1/sqrt(n) = 1.6 % of sigma, sigma to 1.1 %; four of each are permitted.
        assert np.all(np.abs(found.mean(axis=0)) < 0.064e-3)
        np.testing.assert_allclose(found.std(axis=0), 1e-3, rtol=0.045)


def test_star_tracker_is_worse_about_its_boresight() -> None:
    tracker = StarTracker(cross_noise=1e-5, roll_noise=1e-4, imperfection=Imperfection(seed=4))
    turned = jax.vmap(quaternion_log)(jnp.asarray(errors(tracker, "base.attitude", 2000)))
    # 2000 samples: the standard deviation is known to 1.6 %.
    np.testing.assert_allclose(np.asarray(turned).std(axis=0), [1e-5, 1e-5, 1e-4], rtol=0.07)


def test_a_star_tracker_errs_in_its_own_axes(rng: np.random.Generator) -> None:
    """Mounted by R_BS, its errors are those of an aligned one turned by R_BS; the bias stays in base axes."""
    R_BS = np.asarray(rotation_exp(jnp.asarray(rng.normal(size=3))))
    sizes = {"cross_noise": 1e-5, "roll_noise": 1e-4}
    aligned, mounted = (
        np.asarray(jax.vmap(quaternion_log)(jnp.asarray(errors(tracker, "base.attitude", 50))))
        for tracker in (StarTracker(**sizes), StarTracker(**sizes, R_BS=R_BS, bias=(3e-4, 0.0, 0.0)))
    )
    np.testing.assert_allclose(mounted, aligned @ R_BS.T + np.array([3e-4, 0.0, 0.0]), atol=1e-15)
    # Base axes, however the base is turned.
    quat = np.asarray(quaternion_exp(jnp.asarray(rng.normal(size=3))))
    told = StarTracker(bias=(3e-4, 0.0, 0.0)).measure(truth(quat=quat), ZERO, NOW)["base.attitude"]
    error = quaternion_log(quaternion_multiply(quaternion_conjugate(jnp.asarray(quat)), told))
    np.testing.assert_allclose(error, [3e-4, 0.0, 0.0], atol=1e-15)


def test_a_motor_encoder_s_errors_of_position_and_rate_are_independent() -> None:
    encoder = MotorEncoder(noise=1e-3, rate_noise=1e-3)
    both = np.hstack([errors(encoder, name, 2000) for name in ("joints.position", "joints.rate")])
    np.testing.assert_allclose(both.std(axis=0), 1e-3, rtol=0.07)  # known to 1.6 %
    assert np.all(np.abs(np.corrcoef(both.T) - np.eye(4)) < 0.09)  # four times 0.022


def test_the_attitude_of_a_frame_on_the_base_is_that_of_the_base_and_then_its_own(rng: np.random.Generator) -> None:
    R_BF, R_NB = (np.asarray(rotation_exp(jnp.asarray(rng.normal(size=3)))) for _ in range(2))
    craft = ROD.with_frame("eye", body="base", at=Pose(rotation=R_BF))
    state = dataclasses.replace(craft.at_rest(), quat_NB=np.asarray(quaternion_of(jnp.asarray(R_NB))))
    found = rotation_matrix(true_value(truth_of(craft, state), "eye.attitude"))
    np.testing.assert_allclose(found, R_NB @ R_BF, atol=1e-14)


def test_errors_are_keyed_by_spacecraft_class_and_name() -> None:
    one = errors(Gyro(noise=1.0), "base.rate", 2000)
    np.testing.assert_array_equal(errors(Gyro(noise=1.0, bias=np.zeros(3)), "base.rate", 2000), one)
    other = errors(Gyro(noise=1.0, name="gyro.2"), "base.rate", 2000)
    # The correlation of 2000 independent numbers is zero to 0.022; four of these are permitted.
    assert np.all(np.abs(np.corrcoef(one.T, other.T) - np.eye(6)) < 0.09)
    two = World(a=ROD, b=ROD)
    keys = {noise_key(Gyro(), Truth(two, (truth().state,) * 2, own)) for own in (0, 1)}
    keys |= {noise_key(sensor, truth()) for sensor in (Gyro(), JointEncoder(), StarTracker(), Gyro(name="gyro.2"))}
    assert len(keys) == 6
    assert noise_key(Gyro(), truth()) == 53651582  # the same in every process and on every machine


def test_runs_and_seeds_have_errors_of_their_own() -> None:
    drawn = set()
    for seed, run in ((0, 0), (1, 0), (0, 1)):
        gyro = Gyro(noise=1.0, imperfection=Imperfection(seed, run))
        drawn.add(tuple(np.asarray(gyro.measure(truth(), ZERO, NOW)["base.rate"])))
    assert len(drawn) == 3


def test_native_code_draws_the_same_errors() -> None:
    gyro = Gyro(noise=1.0, imperfection=Imperfection(dropout=0.5))
    draw = compiled(lambda k: (gyro.measure(truth(), k, NOW)["base.rate"], gyro.seen(truth(), k, NOW)))
    for k in (0, 1, 12345):
        number = np.asarray(k, np.int32)
        rate, seen = draw(number)
        # log, sin and cos differ by a unit in the last place between the two libraries.
        np.testing.assert_allclose(rate, gyro.measure(truth(), number, NOW)["base.rate"], rtol=1e-12, atol=1e-14)
        assert bool(seen) == bool(gyro.seen(truth(), number, NOW))


def test_dropouts_come_at_their_share_and_leave_the_older_value() -> None:
    stars = StarTracker(imperfection=Imperfection(seed=2, dropout=0.3))
    numbers = jnp.arange(4000, dtype=jnp.int32)
    seen = np.asarray(jax.vmap(lambda k: stars.seen(truth(), k, NOW))(numbers))
    assert abs(seen.mean() - 0.7) < 0.03  # four standard errors
    memory, expected = stars.begin(truth(), NOW), -np.inf
    for k in range(12):
        clock = clock_at(0.25 * k)
        memory = stars.sense(memory, truth(), numbers[k], clock)
        expected = 0.25 * k if seen[k] else expected
        _, taken, valid = stars.read(memory, clock)
        assert float(taken) == expected
        assert bool(valid) == np.isfinite(expected)
    assert not np.all(seen[:12])


@pytest.mark.parametrize("latency", [0.0, 0.1, 0.5, 0.6])
def test_a_measurement_is_told_its_latency_later(latency: float) -> None:
    gyro, dt = Gyro(period=0.25, latency=latency), 0.05
    memory = gyro.begin(truth(), clock_at(0.0))
    for tick in range(41):
        clock = clock_at(dt * tick)
        if tick % 5 == 0:  # the rate is the time at which it is taken
            at = truth(rate=(dt * tick, 0.0, 0.0))
            memory = gyro.sense(memory, at, jnp.asarray(tick // 5, jnp.int32), clock)
        values, taken, valid = gyro.read(memory, clock)
        ready = [k * 0.25 for k in range(9) if k * 0.25 + latency <= dt * tick + 1e-9]
        assert bool(valid) == bool(ready)
        if ready:
            np.testing.assert_allclose(float(taken), ready[-1], atol=1e-12)
            np.testing.assert_allclose(values["base.rate"], [ready[-1], 0.0, 0.0], atol=1e-12)


def test_a_sensor_that_no_longer_works_keeps_its_last_measurement() -> None:
    gyro = BlindSensor(sensor="Gyro", at=0.1).wrap(Gyro())
    memory = gyro.begin(truth(), NOW)
    for tick in range(4):
        at, clock = truth(rate=(tick, 0.0, 0.0)), clock_at(0.05 * tick)
        memory = gyro.sense(memory, at, jnp.asarray(tick, jnp.int32), clock)
    values, taken, valid = gyro.read(memory, clock_at(0.15))
    assert (float(values["base.rate"][0]), float(taken), bool(valid)) == (1.0, 0.05, True)


def test_a_named_sensor_tells_under_its_name() -> None:
    def told(sensor):
        return set(sensor.read(sensor.begin(truth(), NOW), NOW)[0])

    assert told(Gyro()) == {"base.rate"}
    assert told(Gyro(name="gyro.2")) == {"gyro.2.base.rate"}
    assert told(Gyro(name="gyro.2", latency=0.1)) == {"gyro.2.base.rate"}
    assert told(RelativePoseCamera(frame="lower", target="base")) == {"camera.position", "camera.attitude"}
    assert told(RelativePoseCamera(frame="lower", target="base", name="eye")) == {"eye.position", "eye.attitude"}


# ---- the camera

CLIENT = Spacecraft.from_base("client", mass=10.0, inertia=(1.0, 1.0, 1.0)).with_frame(
    "ring", body="base", at=(0.0, 0.0, 0.5)
)


def scene(rng: np.random.Generator) -> Truth:
    """A servicer and a client, anywhere."""
    craft = ets7()
    states = []
    for spacecraft in (craft, CLIENT):
        quat = np.asarray(quaternion_exp(jnp.asarray(rng.normal(size=3))))
        q, v = rng.normal(size=spacecraft.layout.nq), np.zeros(spacecraft.layout.nv)
        states.append(State(rng.normal(size=3), quat, q, v))
    return Truth(World(servicer=craft, client=CLIENT), tuple(states))


def test_camera_measures_a_frame_of_another_spacecraft(rng: np.random.Generator) -> None:
    at = scene(rng)
    camera = RelativePoseCamera(frame="hand", target="client.ring", bias=(0.1, 0.0, 0.0))
    measured = camera.measure(at, ZERO, NOW)
    X_NK = inertial_frame_pose(at.world.crafts[0], at.states[0], "hand")
    X_NT = inertial_frame_pose(CLIENT, at.states[1], "ring")
    p_KT = np.asarray(X_NK.R).T @ np.asarray(X_NT.p - X_NK.p)
    np.testing.assert_allclose(measured["position"], p_KT + np.array([0.1, 0.0, 0.0]), atol=1e-14)
    turn = quaternion_multiply(quaternion_conjugate(X_NK.quaternion), X_NT.quaternion)
    np.testing.assert_allclose(np.abs(measured["attitude"] @ turn), 1.0, atol=1e-14)


def test_camera_noise_and_range(rng: np.random.Generator) -> None:
    at = scene(rng)
    camera = RelativePoseCamera(frame="hand", target="client.ring", noise=1e-3, angle_noise=1e-4)
    X_KT, numbers = camera.true_pose(at), jnp.arange(2000, dtype=jnp.int32)
    measured = jax.vmap(lambda k: camera.measure(at, k, NOW))(numbers)
    # 2000 samples: the standard deviation is known to 1.6 %.
    np.testing.assert_allclose(np.std(np.asarray(measured["position"] - X_KT.p), axis=0), 1e-3, rtol=0.07)
    back = quaternion_conjugate(X_KT.quaternion)
    turned = jax.vmap(lambda quat: quaternion_log(quaternion_multiply(back, quat)))(measured["attitude"])
    turned = np.asarray(turned)
    np.testing.assert_allclose(turned.std(axis=0), 1e-4, rtol=0.07)
    away = float(np.linalg.norm(X_KT.p))
    for farthest, expected in ((1.01 * away, True), (0.99 * away, False)):
        assert bool(dataclasses.replace(camera, farthest=farthest).seen(at, ZERO, NOW)) is expected


def test_a_camera_in_range_loses_pictures_at_their_share(rng: np.random.Generator) -> None:
    at, numbers = scene(rng), jnp.arange(4000, dtype=jnp.int32)
    lossy = RelativePoseCamera(frame="hand", target="client.ring", imperfection=Imperfection(seed=5, dropout=0.3))
    seen = np.asarray(jax.vmap(lambda k: lossy.seen(at, k, NOW))(numbers))
    assert abs(seen.mean() - 0.7) < 0.03  # four standard errors
    blind = dataclasses.replace(lossy, farthest=0.1)
    assert not np.any(jax.vmap(lambda k: blind.seen(at, k, NOW))(numbers))


def test_unknown_frames_are_refused_by_the_cameras_name(rng: np.random.Generator) -> None:
    at = scene(rng)
    with pytest.raises(ModelError, match=r"RelativePoseCamera 'camera': Spacecraft 'ets7' has no frame 'hnd'. Frames:"):
        RelativePoseCamera(frame="hnd", target="client.ring").check(at.craft)
    with pytest.raises(ModelError, match=r"'camera': Spacecraft 'client' has no frame 'rng'. Frames: base, ring"):
        RelativePoseCamera(frame="hand", target="client.rng").begin(at, NOW)
    with pytest.raises(ModelError, match="needs a name that is text"):
        RelativePoseCamera(frame="hand", target="client.ring", name="")
    with pytest.raises(ModelError, match="has no joint that moves"):
        JointEncoder().check(CLIENT)
    with pytest.raises(ModelError, match="latency must be at least 0"):
        RelativePoseCamera(frame="hand", target="client.ring", latency=-1.0)

"""What each sensor does to the truth."""

import jax.numpy as jnp
import numpy as np

from freefloat.sensors import Gyro, Imperfection, JointEncoder, RelativePoseCamera, StarTracker
from freefloat.spatial import Pose
from freefloat.spatial.rotations import quaternion_conjugate, quaternion_exp, quaternion_log, quaternion_multiply

ZERO = np.zeros((), np.int32)


def test_perfect_sensors_tell_the_truth() -> None:
    rate, joints = np.array([0.1, -0.2, 0.3]), np.array([0.5, 1.0])
    quat = np.asarray(quaternion_exp(jnp.array([0.3, 0.2, -0.1])))
    np.testing.assert_array_equal(Gyro().measure(rate, ZERO), rate)
    np.testing.assert_array_equal(JointEncoder().measure(joints, ZERO), joints)
    measured, valid = StarTracker().measure(quat, ZERO)
    np.testing.assert_allclose(measured, quat, atol=1e-16)
    assert bool(valid)


def test_gyro_bias_scale_and_steps() -> None:
    gyro = Gyro(bias=np.array([1e-3, 0.0, 0.0]), scale_error=0.01, step=1e-4)
    measured = np.asarray(gyro.measure(np.array([0.1, 0.0, -0.1]), ZERO))
    np.testing.assert_allclose(measured, [0.102, 0.0, -0.101], atol=1e-12)


def test_encoder_rounds_to_its_resolution() -> None:
    encoder = JointEncoder(step=np.deg2rad(0.01))
    measured = np.asarray(encoder.measure(np.deg2rad([10.004, 10.006]), ZERO))
    np.testing.assert_allclose(np.rad2deg(measured), [10.00, 10.01], atol=1e-9)


def test_star_tracker_is_worse_about_its_boresight() -> None:
    tracker = StarTracker(cross_noise=1e-5, roll_noise=1e-4, imperfection=Imperfection(seed=4))
    truth = np.array([1.0, 0.0, 0.0, 0.0])
    errors = np.stack(
        [
            np.asarray(
                quaternion_log(
                    quaternion_multiply(
                        quaternion_conjugate(jnp.asarray(truth)), tracker.measure(truth, np.asarray(k, np.int32))[0]
                    )
                )
            )
            for k in range(300)
        ]
    )
    # 300 samples: the standard deviation is known to 4 %.
    np.testing.assert_allclose(errors.std(axis=0), [1e-5, 1e-5, 1e-4], rtol=0.2)


def test_dropouts_come_at_their_share() -> None:
    imperfection = Imperfection(seed=2, dropout=0.3)
    lost = np.asarray(imperfection.lost(jnp.arange(4000, dtype=jnp.int32)))
    assert abs(lost.mean() - 0.3) < 0.03  # four standard errors


def test_camera_delays_by_its_latency_and_says_when_it_sees_nothing() -> None:
    camera = RelativePoseCamera(period=0.25, latency=0.5, blind_from=2.0)
    memory = camera.memory()
    seen = []
    for tick in range(61):
        t = np.asarray(0.05 * tick)
        memory = camera.look(memory, Pose(position=np.array([0.05 * tick, 0.0, 1.0])), t)
        seen.append(camera.latest(memory, t))
    assert not bool(seen[9].valid)  # 0.45 s: the first picture, of 0 s, is not ready
    assert bool(seen[10].valid)
    assert float(seen[10].taken) == 0.0
    np.testing.assert_allclose(seen[32].position, [1.0, 0.0, 1.0], atol=1e-12)  # at 1.6 s the picture of 1.0 s
    # The last picture before the failure was taken at 1.75 s; nothing newer ever comes.
    np.testing.assert_allclose(float(seen[60].taken), 1.75, atol=1e-12)

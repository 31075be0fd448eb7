"""Envisat and its servicer: totals, principal moments, where the tool is."""

import numpy as np
import pytest

from freefloat import library
from freefloat.dynamics import frame_pose, inertial_frame_pose, inertial_frame_twist
from freefloat.model import World
from freefloat.spatial import Pose


def test_envisat_is_what_esa_says():
    craft = library.envisat()
    assert craft.mass == 7827.867
    moments, axes = np.linalg.eigh(craft.body("base").inertia)
    assert moments == pytest.approx((16979.740, 124801.207, 129180.253), abs=5e-4)
    # The major axis is 4.553 deg from y: a spin about y nutates.
    assert np.rad2deg(np.arccos(abs(axes[1, 2]))) == pytest.approx(4.553, abs=5e-4)


def test_mapping_of_envisat_s_axes_is_a_rotation_of_the_published_matrix():
    published = np.array([[17023.3, 397.1, -2171.4], [397.1, 124825.7, 344.2], [-2171.4, 344.2, 129112.2]])
    ours = np.asarray(library.envisat().body("base").inertia)
    x, y, z = 0, 2, 1  # x = x_E, y = z_E, z = -y_E
    assert np.diag(ours) == pytest.approx([published[x, x], published[y, y], published[z, z]])
    assert (ours[0, 1], ours[0, 2], ours[1, 2]) == pytest.approx((published[x, y], -published[x, z], -published[y, z]))


def test_servicer_totals():
    craft = library.servicer()
    assert craft.mass == pytest.approx(867.0)
    assert craft.layout.moving_joints == tuple(f"arm.{k}" for k in range(1, 8))


def test_tool_at_the_postures_that_are_used():
    craft = library.servicer()
    folded = frame_pose(craft, np.array(library.SERVICER_FOLDED), "tool")
    assert folded.R[:, 2] == pytest.approx((-0.857, 0.0, 0.516), abs=5e-4)
    capture = frame_pose(craft, np.array(library.SERVICER_CAPTURE), "tool")
    assert capture.p == pytest.approx((1.990015, 0.0, 0.005646), abs=5e-7)
    assert capture.R[:, 2] == pytest.approx((1.0, 0.0, 0.0), abs=1e-12)


def test_start_is_a_gap_off_the_ring_and_turns_with_envisat():
    client = library.envisat_start()
    servicer = library.servicer_start(client)
    assert servicer.p_NB == pytest.approx((4.391844, 0.0, -0.671642), abs=5e-7)
    np.testing.assert_allclose(servicer.X_NB.R, np.diag([-1.0, -1.0, 1.0]), atol=1e-15)
    tool = inertial_frame_pose(library.servicer(), servicer, "tool")
    assert tool.p == pytest.approx((3.05, 0.0, 0.0))
    # Nothing moves relative to Envisat: the tool's velocity is that of the point of Envisat's frame where it is.
    twist = inertial_frame_twist(library.servicer(), servicer, "tool")
    rate = np.array([0.0, np.deg2rad(-2.5), 0.0])
    assert twist == pytest.approx(np.r_[np.cross(rate, tool.p), rate])


def test_at_the_capture_posture_the_tool_faces_the_ring_wherever_envisat_is():
    """Gap closed, tool and ring frames coincide: one pose in the other is the identity."""
    elsewhere = library.envisat().at_rest(at=Pose.from_rpy_deg((20.0, -40.0, 70.0), (5.0, -3.0, 1.0)))
    servicer = library.servicer_start(elsewhere, joints=library.SERVICER_CAPTURE, gap=0.0)
    world = World(servicer=library.servicer(), client=library.envisat())
    states = world.require_states((servicer, elsewhere))
    tool, ring = (
        inertial_frame_pose(craft, state, frame)
        for craft, state, frame in zip(world.crafts, states, ("tool", "ring"), strict=True)
    )
    between = ring.inverse() @ tool
    assert between.p == pytest.approx(np.zeros(3), abs=1e-12)
    np.testing.assert_allclose(between.R, np.eye(3), atol=1e-12)

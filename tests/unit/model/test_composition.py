"""Attach, grasp, detach: names, places, and one undoing the other."""

import jax
import numpy as np
import pytest

from freefloat.spatial import Pose
from freefloat.values import ModelError

MOUNT = Pose.from_rpy_deg((5.0, 6.0, 7.0), (0.0, 0.0, 0.2))


def same(a, b):
    """Same structure and the same numbers, to the last digit."""
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_array_equal(x, y)


def test_attach_prefixes_the_names(chaser, client):
    joined = chaser.mount(client, name="client", to="hand", at=MOUNT)
    assert joined.body_names[4:] == ("client", "client.antenna")
    assert joined.joint_names[3:] == ("client", "client.antenna")
    assert joined.wheel_names[3:] == ("client.rotor",)
    assert joined.frame_names[-2:] == ("client.grip", "client.feed")
    assert joined.joint("client.antenna").parent == "client"
    assert joined.frame("client.feed").body == "client.antenna"
    assert joined.wheels_on("client")[0].name == "client.rotor"


def test_attach_to_a_frame_lands_on_its_body(chaser, client):
    joined = chaser.mount(client, name="client", to="hand", at=MOUNT)
    joint = joined.joint("client")
    assert (joint.parent, joint.kind) == ("wrist", "fixed")
    expected = chaser.frame("hand").X_BF @ MOUNT
    np.testing.assert_array_equal(joint.X_PJ.p, expected.p)
    np.testing.assert_array_equal(joint.X_PJ.R, expected.R)


def test_attach_on_a_moving_joint(chaser, client):
    joined = chaser.mount(client, name="turret", joint="revolute", axis=(0.0, 2.0, 0.0))
    assert joined.layout.nq == chaser.layout.nq + 2
    np.testing.assert_array_equal(joined.joint("turret").axis, [0.0, 1.0, 0.0])


def test_detach_undoes_attach(chaser, client):
    remaining, left = chaser.mount(client, name="client", to="hand", at=MOUNT).detach("client")
    same(remaining, chaser)
    same(left, client)


def test_attach_undoes_detach(chaser, client):
    joined = chaser.mount(client, name="client", to="wrist", at=MOUNT)
    remaining, left = joined.detach("client")
    same(remaining.mount(left, name="client", to="wrist", at=MOUNT), joined)


def test_detach_in_the_middle_takes_the_whole_branch(chaser):
    remaining, left = chaser.detach("slide")
    assert remaining.body_names == ("base", "shoulder")
    assert remaining.wheel_names == ("wheel_x", "wheel_y")
    assert remaining.frame_names == ("base", "shoulder", "camera")
    assert left.name == "slide"
    assert left.body_names == ("base", "wrist")
    assert left.joint_names == ("turn",)
    assert left.wheels_on("base")[0].name == "spinner"
    assert left.frame("hand").body == "wrist"


def test_grasp_makes_the_frames_coincide(chaser, client):
    held = chaser.grasp(client, name="client", hand="hand", grip="grip")
    X_BG = held.joint("client").X_PJ @ held.frame("client.grip").X_BF
    X_BH = held.frame("hand").X_BF
    # One inverse and two products of O(1) numbers.
    np.testing.assert_allclose(X_BG.p, X_BH.p, rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(X_BG.R, X_BH.R, rtol=0.0, atol=1e-15)
    same(held.detach("client")[1], client)


def test_grasp_by_a_frame_of_another_body_is_refused(chaser, client):
    with pytest.raises(
        ModelError, match=r"Grasping 'client' by 'feed'.*on 'antenna'. Grasp it by a frame of its base\."
    ):
        chaser.grasp(client, name="client", hand="hand", grip="feed")


@pytest.mark.parametrize(
    ("compose", "said"),
    [
        (lambda a, b: a.mount(b, name="client", to="hnd"), ["'chaser' has no frame 'hnd'", "hand"]),
        (lambda a, b: a.mount(b, name="wrist"), ["'wrist'", "Choose another name"]),
        (lambda a, b: a.mount(b, name="wheel_x"), ["'wheel_x'", "Choose another name"]),
        (lambda a, b: a.mount(b, name="c").mount(b, name="c"), ["'c'", "Choose another name"]),
        (
            lambda a, b: a.with_frame("c.grip", body="base").mount(b, name="c"),
            ["frame 'c.grip'", "Choose another"],
        ),
        (
            lambda a, b: a.with_wheel("c.rotor", axis=(1.0, 0.0, 0.0), inertia=0.1).mount(b, name="c"),
            ["'c.rotor'", "Choose"],
        ),
        (
            lambda a, b: a.grasp(b, name="c", hand="hand", grip="handle"),
            ["'client' has no frame 'handle'", "grip"],
        ),
        (lambda a, _: a.detach("base"), ["'chaser'", "base cannot be detached"]),
        (lambda a, _: a.detach("arm"), ["has no body 'arm'", "shoulder"]),
    ],
)
def test_what_cannot_be_joined_is_refused_by_name(chaser, client, compose, said):
    with pytest.raises(ModelError) as caught:
        compose(chaser, client)
    for words in said:
        assert words in str(caught.value)

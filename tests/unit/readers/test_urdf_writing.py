"""URDF out: reading it back gives the same spacecraft, and others can read it too."""

import re
import xml.etree.ElementTree as ET

import jax
import mujoco
import numpy as np
import pinocchio as pin
import pytest

from freefloat.model import Spacecraft
from freefloat.readers import read_urdf, write_urdf
from freefloat.readers.urdf.reader import lint_urdf
from freefloat.spatial import Pose

# Rotations pass through three angles, each rounded to 4.4e-16 at worst, and back through two products.
ROTATION = 1e-15


def same(a: Spacecraft, b: Spacecraft):
    """Same names in the same order, every number to the last digit, rotations to ROTATION."""
    assert jax.tree.structure(a) == jax.tree.structure(b)
    ours, theirs = jax.tree.leaves_with_path(a), jax.tree.leaves_with_path(b)
    for (path, x), (_, y) in zip(ours, theirs, strict=True):
        if jax.tree_util.keystr(path).endswith(".rotation"):
            np.testing.assert_allclose(x, y, rtol=0.0, atol=ROTATION)
        else:
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("count", [0, 1, 4, 12])
def test_random_trees_come_back(random_craft, count):
    craft = random_craft(count)
    same(read_urdf(write_urdf(craft)), craft)


def test_composed_spacecraft_come_back(chaser, client):
    craft = chaser.grasp(client, name="client", hand="hand", grip="grip")
    same(read_urdf(write_urdf(craft)), craft)


@pytest.mark.parametrize("pitch", [90.0, -90.0, 90.0 - 1e-6, 0.0])
def test_gimbal_lock_costs_nothing(pitch):
    pose = Pose.from_rpy_deg((17.0, pitch, -140.0), (1.0, 2.0, 3.0))
    craft = Spacecraft.from_base("c", mass=1.0, inertia=(1.0, 1.0, 1.0)).with_frame("eye", body="base", at=pose)
    same(read_urdf(write_urdf(craft)), craft)


def test_a_written_file_has_no_findings(chaser, client):
    found = lint_urdf(write_urdf(chaser.mount(client, name="client")))
    # The bodies of these two have their centres of mass at their joints, which is worth a warning and nothing else.
    assert ["centres of mass of all" in finding.text for finding in found] == [True]


def test_the_file_holds_the_text(tmp_path, chaser):
    text = write_urdf(chaser, tmp_path / "chaser.urdf")
    assert (tmp_path / "chaser.urdf").read_text() == text
    same(read_urdf(tmp_path / "chaser.urdf"), chaser)


def test_names_with_special_characters_come_back():
    craft = Spacecraft.from_base('a<b>&"c"', mass=1.0, inertia=(1.0, 1.0, 1.0)).with_frame("ä & ö", body="base")
    same(read_urdf(write_urdf(craft)), craft)


def test_joints_of_frames_find_free_names(chaser):
    craft = chaser.with_link(
        "l", parent="base", joint="revolute", mass=1.0, inertia=(1.0, 1.0, 1.0), joint_name="hand.mount"
    )
    same(read_urdf(write_urdf(craft)), craft)


def test_no_infinity_is_written(random_craft):
    assert not re.search(r"\binf\b|\bnan\b", write_urdf(random_craft(6)))


def test_endless_revolute_joints_are_continuous(chaser):
    kinds = {j.get("name"): j.get("type") for j in ET.fromstring(write_urdf(chaser)).iter("joint")}
    assert (kinds["shoulder"], kinds["slide"], kinds["turn"]) == ("revolute", "prismatic", "continuous")


def test_pinocchio_reads_it(chaser, client):
    craft = chaser.mount(client, name="client", to="hand")
    model = pin.buildModelFromXML(write_urdf(craft), pin.JointModelFreeFlyer())
    assert model.nv == craft.layout.nv - len(craft.wheels)
    assert all(model.existFrame(name) for name in craft.frame_names)
    assert pin.computeTotalMass(model) == pytest.approx(sum(b.mass for b in craft.bodies), rel=1e-14)
    index = model.getJointId("shoulder")
    place = model.joints[index].idx_q
    assert (model.lowerPositionLimit[place], model.upperPositionLimit[place]) == (-1.0, 2.0)


def test_mujoco_reads_it(chaser, client):
    """MuJoCo welds the root to its world and merges fixed links, so only the moving part can be compared."""
    craft = chaser.mount(client, name="client", to="hand")
    model = mujoco.MjModel.from_xml_string(write_urdf(craft))
    assert model.nv == craft.layout.nq
    expected = sum(b.mass for b in craft.bodies[1:])
    assert float(np.sum(model.body_mass)) == pytest.approx(expected, rel=1e-12)

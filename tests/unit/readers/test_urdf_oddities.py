"""Robot files as people have them: harmless oddities are read as meant and told, harmful ones refused or repaired."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

from freefloat import dynamics
from freefloat.model.physical_checks import inertia_faults
from freefloat.readers import read_urdf
from freefloat.readers.findings import summary_lines
from freefloat.readers.repairs import ball_inertia, nearest_moments
from freefloat.readers.reports import ReadingNote
from freefloat.readers.urdf.reader import lint_urdf
from freefloat.values import ModelError

ROOT = Path(__file__).parents[3]
ROBOTS = ROOT / "examples" / "data" / "robots"
ARM, GRIPPER, IMPOSSIBLE = (ROBOTS / f"{name}.urdf" for name in ("bench_arm", "gripper", "impossible"))


@pytest.fixture(autouse=True)
def _benchmarks_can_be_imported(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    yield
    sys.modules.pop("robot_files", None)


def read(source, **options):
    """The spacecraft and the lines of the note."""
    with pytest.warns(ReadingNote) as caught:
        craft = read_urdf(source, **options)
    first, *lines = str(caught[0].message).splitlines()
    assert first.endswith("is read, with these remarks:")
    return craft, [line.strip() for line in lines]


# ---- read as meant


def test_harmless_oddities_are_read_and_told_in_one_line_each():
    craft, told = read(ARM)
    assert craft.name == "bench_arm"
    assert craft.body_names == ("base", "upper", "forearm")
    assert craft.frame_names[3:] == ("world", "pedestal", "base_2", "placeholder", "camera", "tool")
    assert [joint.friction for joint in craft.joints] == [1.5, 0.8]
    expected = (
        "note: joint 'ground': <axis xyz> is zero, which a fixed joint does not need. The same for joint "
        "'controller_frame', joint 'flange'.",
        "note: joint 'shoulder': dry friction 1.5 is kept as joint.friction",
        "note: link 'base': it is called 'base_2' here",
        "note: robot: it has no name; it is called 'bench_arm' here.",
        "note: link 'world': it held the robot to the ground; here the robot floats",
        "note: link 'placeholder': ",
        "note: link 'camera': principal moments violate the triangle inequality: 1e-05 + 1e-05 < 5e-05 kg m2, "
        "by 3e-05; it is part of body 'upper', which is possible as a whole.",
    )
    for line, start in zip(told, expected, strict=True):
        assert line.startswith(start)


def test_a_mass_of_its_own_makes_world_a_link_like_any_other():
    text = ARM.read_text().replace(
        '<link name="world"/>',
        '<link name="world"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>',
    )
    _, told = read(text)
    assert not any("held the robot" in line for line in told)


def test_mimic_joints_share_their_leader_s_coordinate():
    craft, told = read(GRIPPER)
    assert craft.layout.moving_joints == ("roll", "outer_joint", "left")
    assert craft.joint_names == ("roll", "outer_joint", "inner_joint", "tip_joint", "left", "right")
    tip = craft.joint("tip_joint").follows
    # 1.5 (-0.7 q + 0.2) - 0.1: a chain of two, multiplied out.
    assert tip.leader == "outer_joint"
    assert (tip.ratio, tip.offset) == (pytest.approx(-1.05), pytest.approx(0.2))
    assert any("'inner_joint': it follows -0.7 times 'outer_joint' plus 0.2" in line for line in told)


def test_a_joint_called_base_gets_another_name():
    text = GRIPPER.read_text().replace('"left"', '"base"').replace('"roll"', '"base_2"')
    craft, told = read(text)
    assert craft.joint("right").follows.leader == "base_3"
    assert any("joint 'base': it is called 'base_3' here" in line for line in told)


@pytest.mark.parametrize("path", [ARM, GRIPPER, IMPOSSIBLE], ids=lambda path: path.stem)
def test_they_are_those_of_pinocchio(path):
    """Mass matrix, bias and the pose of every link; repaired bodies with our numbers. Tolerance as for all robots."""
    import robot_files

    craft = robot_files.read_quietly(path, repair=True)
    repairs = [finding for finding in lint_urdf(path, repair=True) if finding.severity == "repair"]
    peer = robot_files.peer_of(path, craft, repairs)
    gaps = robot_files.differences(craft, peer, np.random.default_rng(1))
    assert max(gaps.values()) < robot_files.TOLERANCE, gaps


def test_the_public_robots_are_listed_by_hash():
    import robot_files

    listed = robot_files.listed_files()
    assert len(listed) == len(set(listed.values())) == 72
    assert all(len(digest) == 64 for digest in listed.values())


# ---- refused, or repaired


def test_harmful_bodies_are_refused_together_with_the_remedy():
    with pytest.raises(ModelError) as caught:
        read_urdf(IMPOSSIBLE)
    first, *lines, last = str(caught.value).splitlines()
    assert first == "URDF 'impossible.urdf': 5 faults:"
    assert last == "read_urdf(..., repair=True) removes all of them."
    starts = {
        "hub": "it is the free base, but inertia must be positive definite, its smallest principal moment is -0.5",
        "arm": "it moves on joint 'shoulder', but principal moments violate the triangle inequality: 0.02 + 0.03 < 0.2",
        "finger": "it moves on joint 'finger_joint' but has no mass",
        "weight": "it moves on joint 'wire', but inertia must be positive definite",
        "rod": "it moves on joint 'hinge', but inertia must be positive definite",
    }
    for line, (name, words) in zip(lines, starts.items(), strict=True):
        assert line.strip().startswith(f"link '{name}': {words}")


def test_repair_changes_only_what_is_impossible_and_says_every_number():
    craft, told = read(IMPOSSIBLE, repair=True)
    assert all(line.startswith("repair: ") for line in told)
    # The nearest possible moments to (0.02, 0.03, 0.2): the excess of 0.15 is shared equally, two up and one down.
    assert "ixx 0.02 -> 0.07 kg m2, iyy 0.03 -> 0.08 kg m2, izz 0.2 -> 0.15 kg m2" in told[1]
    assert "mass 0 -> 0.001 kg" in told[2]
    assert craft.body("arm").mass == 4.0
    np.testing.assert_array_equal(craft.body("arm").com, [0.0, 0.0, 0.3])
    for body in craft.bodies:
        assert not inertia_faults(float(body.mass), np.asarray(body.inertia))
    assert craft.body("weight").inertia[0, 0] == pytest.approx(ball_inertia(0.5))


def test_repaired_robots_can_be_simulated():
    """The mass matrix can be solved: its eigenvalues are positive."""
    craft, _ = read(IMPOSSIBLE, repair=True)
    q = np.array([0.3, 0.1, -0.4, 0.8])
    assert np.min(np.linalg.eigvalsh(np.asarray(dynamics.mass_matrix(craft, q)))) > 0.0


def test_no_possible_moments_are_nearer(rng):
    """Against many random possible bodies."""
    for _ in range(20):
        stated = np.sort(rng.normal(size=3))
        found = nearest_moments(stated, 0.0)
        s = rng.exponential(size=(2000, 3)) * rng.choice([0.0, 0.3, 1.0], size=(2000, 3))
        others = s @ (np.ones((3, 3)) - np.eye(3))
        assert np.min(np.linalg.norm(others - stated, axis=1)) > np.linalg.norm(found - stated) - 1e-12
        assert 2.0 * np.max(found) <= np.sum(found) + 1e-12


def test_a_leader_that_is_missing_is_removed_by_repair_only():
    text = GRIPPER.read_text().replace('mimic joint="left"', 'mimic joint="lft"')
    with pytest.raises(ModelError, match="joint 'right': it mimics 'lft', which does not exist"):
        read_urdf(text)
    craft, told = read(text, repair=True)
    assert told[0].startswith("repair: joint 'right': it mimics 'lft', which does not exist: <mimic> is removed")
    assert "right" in craft.layout.moving_joints


# ---- options


def test_another_root_leaves_out_what_does_not_hang_on_it():
    craft, told = read(GRIPPER, root="wrist")
    assert craft.frame("wrist").body == "base"
    assert "roll" not in craft.joint_names
    assert any(line == "note: link 'wrist': it is the root, as asked for; left out: palm." for line in told)
    with pytest.raises(ModelError, match=r"robot: there is no link 'hnd' to be the root\. Links: palm, wrist"):
        read_urdf(GRIPPER, root="hnd")


def test_links_and_joints_get_other_names():
    craft, _ = read(GRIPPER, name="hand", names={"jaw_left": "thumb", "left": "close"})
    assert craft.name == "hand"
    assert "thumb" in craft.body_names
    assert craft.joint("right").follows.leader == "close"
    with pytest.raises(ModelError, match="names: there is no link or joint 'nothing'"):
        read_urdf(GRIPPER, names={"nothing": "x"})
    with pytest.raises(ModelError, match="two links of this name"):
        read_urdf(GRIPPER, names={"jaw_left": "palm"})


def test_fixed_joints_are_kept_on_request():
    text = ARM.read_text().replace('izz="5e-5"', 'izz="1.5e-5"')
    for keep in (["bracket"], "bracket"):
        craft, _ = read(text, keep=keep)
        assert "camera" in craft.body_names
    with pytest.raises(ModelError, match="no fixed joint 'elbow'"):
        read_urdf(text, keep=["elbow"])


# ---- lint


def chain(*masses, com="0 0 0.1", at="0 0 0.3"):
    inertial = '<inertial><origin xyz="{}"/><mass value="{}"/><inertia ixx="{i}" iyy="{i}" izz="{i}"/></inertial>'
    links = [f'<link name="l{k}">{inertial.format(com, m, i=0.01 * m)}</link>' for k, m in enumerate(masses)]
    joints = [
        f'<joint name="j{k}" type="continuous">'
        f'<parent link="l{k - 1}"/><child link="l{k}"/><origin xyz="{at}"/></joint>'
        for k in range(1, len(masses))
    ]
    return f'<robot name="chain">{"".join(links)}{"".join(joints)}</robot>'


def test_what_matters_is_warned_of_once():
    assert lint_urdf(chain(5, 4, 3, 2)) == []
    (finding,) = lint_urdf(chain(5, 4, 3, 2, com="0 0 0"))
    assert str(finding).startswith("robot: the centres of mass of all 3 moving bodies are at their joints.")
    (finding,) = lint_urdf(chain(5, 4, 3, 2e-7))
    assert "masses span 7 decades, from 2e-07 kg (link 'l3') to 5 kg (link 'l0')" in finding.text
    millimetres = chain(5, 4, 3, 2).replace(
        '<child link="l3"/><origin xyz="0 0 0.3"/>', '<child link="l3"/><origin xyz="0 0 300"/>'
    )
    assert any(
        "it sits 300 m from its parent, the others about 0.3 m. Is it in mm?" in f.text for f in lint_urdf(millimetres)
    )


def test_the_most_important_comes_first_and_repeats_are_one_line():
    noisy = chain(5, 4, 3, 2, com="0 0 0").replace(
        '<origin xyz="0 0 0.3"/>', '<origin xyz="0 0 0.3"/><safety_controller/>'
    )
    lines = summary_lines(lint_urdf(noisy))
    assert len(lines) == 2
    assert "centres of mass" in lines[0][1]
    assert lines[1][1].endswith("The same for joint 'j2', joint 'j3'.")


# ---- large files


def test_large_broken_files_are_answered_soon():
    """Thousands of faults, of links and of levels: nothing grows with the square of the file."""
    joints = [f'<joint name="j{k}" type="fixed"><parent link="x{k}"/><child link="y{k}"/></joint>' for k in range(3000)]
    links = [f'<link name="l{k}"/>' for k in range(3000)]
    found = lint_urdf(f'<robot name="r">{"".join(links + joints)}</robot>')
    assert len(found) == 6000
    assert max(len(finding.text) for finding in found) < 300
    (deep,) = lint_urdf("<robot>" + "<a>" * 20_000 + "</a>" * 20_000 + "</robot>")
    assert "nested more than 200 deep" in deep.text
    ring = [
        f'<joint name="j{k}" type="fixed"><parent link="l{k}"/><child link="l{(k + 1) % 3000}"/></joint>'
        for k in range(3000)
    ]
    assert "cycle" in lint_urdf(f'<robot name="r">{"".join(links + ring)}</robot>')[0].text


def test_findings_are_plain_data():
    (finding,) = lint_urdf(chain(5, 4, 3, 2, com="0 0 0"))
    assert set(dataclasses.asdict(finding)) == {"severity", "part", "text", "minor", "repairable"}

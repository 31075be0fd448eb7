"""Every URDF of two public collections: read, repaired, and compared with Pinocchio.

    git clone https://github.com/Gepetto/example-robot-data
    git clone https://github.com/vyas-shubham/TraceableRobotModels
    python benchmarks/robot_files.py FOLDER

FOLDER holds both collections. `robot_files.sha256` lists the files by name and hash; they are not part of this
repository. For each file: whether it is read as it is, with repairs or not at all, every remark with --remarks, and the
largest relative difference of mass matrix, bias and link poses from Pinocchio's, at random joint positions and speeds.
Repaired bodies are given to Pinocchio with our numbers, all others are as it reads them itself.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import warnings
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

from freefloat import dynamics
from freefloat.model import Spacecraft
from freefloat.readers import read_urdf
from freefloat.readers.findings import Finding, summary_lines
from freefloat.readers.reports import ReadingNote
from freefloat.readers.urdf.reader import lint_urdf
from freefloat.values import ModelError

LIST = Path(__file__).with_suffix(".sha256")
TOLERANCE = 1e-10  # of the largest entry, as in tests/reference/test_against_pinocchio.py
READ_AS_THEY_ARE, BROKEN = 47, 2  # at least, at most


def listed_files() -> dict[str, str]:
    """Name in its collection -> SHA-256."""
    rows = [line.split("  ", 1) for line in LIST.read_text().splitlines()]
    return {name: digest for digest, name in rows}


def find_files(folder: Path) -> dict[str, Path]:
    """The listed files that are somewhere below a folder, by their content."""
    found = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in sorted(folder.rglob("*.urdf"))}
    return {name: found[digest] for name, digest in listed_files().items() if digest in found}


# ---- Pinocchio


@dataclass(frozen=True)
class Peer:
    """The same robot in Pinocchio, on a free base, without gravity."""

    model: pin.Model
    names: dict[str, str]  # our link -> its link, where they differ
    joints: dict[str, str]  # our joint -> its joint, where they differ

    def state(self, craft: Spacecraft, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Its q, and the matrix G with its v = G v."""
        theirs, G = pin.neutral(self.model), np.zeros((self.model.nv, craft.layout.nv))
        G[:6, :6] = np.eye(6)
        for ours in craft.joints:
            if ours.kind == "fixed" or ours.follows is not None:
                continue
            joint = self.model.joints[self.model.getJointId(self.joints.get(ours.name, ours.name))]
            at = q[craft.layout.position(ours.name).start]
            theirs[joint.idx_q : joint.idx_q + joint.nq] = at if joint.nq == 1 else (np.cos(at), np.sin(at))
            G[joint.idx_v, craft.layout.velocity(ours.name)] = 1.0
        return theirs, G


def peer_of(path: Path, craft: Spacecraft, repairs: list[Finding]) -> Peer:
    """Pinocchio's own reading; bodies that were repaired get our numbers."""
    changed = {finding.part.split("'")[1] for finding in repairs}
    robot = ET.fromstring(path.read_text())
    robot.set("name", craft.name)  # it demands one
    for joint in robot.findall("joint"):
        if joint.get("name") in changed and (mimic := joint.find("mimic")) is not None:
            joint.remove(mimic)
    joints = put_leaders_first(robot)
    model = pin.buildModelFromXML(ET.tostring(robot, encoding="unicode"), pin.JointModelFreeFlyer(), mimic=True)
    model.gravity.setZero()
    root = model.frames[2].name
    for name in changed - {joint.get("name") for joint in robot.findall("joint")} - set(joints):
        body = craft.body("base" if name == root else name)
        index = model.frames[model.getFrameId(name, pin.FrameType.BODY)].parentJoint
        model.inertias[index] = pin.Inertia(float(body.mass), np.asarray(body.com), np.asarray(body.inertia))
    return Peer(model, {"base": root} | ({} if root == "base" else {"base_2": "base"}), joints)


def put_leaders_first(robot: ET.Element) -> dict[str, str]:
    """Change the text of a robot into what Pinocchio takes; the new names of joints.

    It goes through joints by name and refuses a follower that it meets before its leader, and a follower of a follower:
    chains are multiplied out, and joints on the way to a leader get names that come first.
    """
    joints = {joint.get("name", ""): joint for joint in robot.findall("joint")}
    mimics = {name: mimic for name, joint in joints.items() if (mimic := joint.find("mimic")) is not None}
    for mimic in mimics.values():
        while (further := mimics.get(mimic.get("joint", ""))) is not None:
            ratio, offset = (float(mimic.get(key, default)) for key, default in (("multiplier", 1), ("offset", 0)))
            mimic.set("joint", further.get("joint", ""))
            mimic.set("multiplier", repr(ratio * float(further.get("multiplier", 1))))
            mimic.set("offset", repr(ratio * float(further.get("offset", 0)) + offset))
    above = {_link(joint, "child"): name for name, joint in joints.items()}
    first = set()
    for mimic in mimics.values():
        name = mimic.get("joint", "")
        while name in joints:
            first.add(name)
            name = above.get(_link(joints[name], "parent"), "")
    renamed = {name: f"!{name}" for name in first}
    for name, joint in joints.items():
        joint.set("name", renamed.get(name, name))
        if name in mimics:
            mimics[name].set("joint", renamed.get(mimics[name].get("joint", ""), ""))
    return renamed


def _link(joint: ET.Element, end: str) -> str:
    found = joint.find(end)
    return "" if found is None else found.get("link", "")


def differences(craft: Spacecraft, peer: Peer, rng: np.random.Generator) -> dict[str, float]:
    """Largest relative difference of each quantity."""
    q, v = rng.uniform(-1.0, 1.0, craft.layout.nq), rng.normal(size=craft.layout.nv)
    model, data = peer.model, peer.model.createData()
    theirs, G = peer.state(craft, q)
    M = pin.crba(model, data, theirs)
    M = G.T @ (np.triu(M) + np.triu(M, 1).T) @ G
    bias = G.T @ pin.nonLinearEffects(model, data, theirs, G @ v)
    pin.framesForwardKinematics(model, data, theirs)
    Xs_BL, worst = dynamics.body_poses(craft, q), 0.0
    for name in craft.frame_names:
        frame = craft.frame(name)
        X = Xs_BL[craft.body_index(frame.body)] @ frame.X_BF
        other = data.oMf[model.getFrameId(peer.names.get(name, name), pin.FrameType.BODY)]
        worst = max(worst, _gap(X.R, other.rotation), float(np.max(np.abs(np.asarray(X.p) - other.translation))))
    return {
        "mass matrix": _gap(dynamics.mass_matrix(craft, q), M),
        "bias": _gap(dynamics.bias(craft, q, v), bias),
        "link poses": worst,
    }


def _gap(ours: object, theirs: np.ndarray) -> float:
    return float(np.max(np.abs(np.asarray(ours) - theirs)) / np.max(np.abs(theirs)))


# ---- the tables


def read_quietly(source: Path | str, *, repair: bool) -> Spacecraft | None:
    """The spacecraft, or None where the file is refused; remarks are asked for apart."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingNote)
        try:
            return read_urdf(source, repair=repair)
        except ModelError:
            return None


def read_all(files: dict[str, Path], *, remarks: bool) -> bool:
    """One line for each file, then the counts; True if they are as good as they must be."""
    counts, worst = {"as it is": 0, "repaired": 0, "refused": 0}, 0.0
    rng = np.random.default_rng(20260101)
    for name, path in files.items():
        plain = read_quietly(path, repair=False)
        craft = plain or read_quietly(path, repair=True)
        found = lint_urdf(path, repair=plain is None)
        repairs = [finding for finding in found if finding.severity == "repair"]
        verdict = "refused" if craft is None else "repaired" if plain is None else "as it is"
        counts[verdict] += 1
        if craft is None:
            print(f"{name}: refused: {'; '.join(str(f) for f in found if f.severity == 'error')}")
            continue
        peer = peer_of(path, craft, repairs)
        gaps = differences(craft, peer, rng)
        worst = max(worst, *gaps.values())
        told = ", ".join(f"{what} {gap:.0e}" for what, gap in gaps.items())
        print(f"{name}: {verdict} ({len(repairs)} repairs), {craft.layout.nv} speeds; {told}", flush=True)
        for severity, line in summary_lines(found) if remarks else ():
            print(f"    {severity}: {line}")
    print(f"{len(files)} files: {counts}; largest difference from Pinocchio {worst:.1e}")
    return counts["as it is"] >= READ_AS_THEY_ARE and counts["refused"] <= BROKEN and worst < TOLERANCE


def main() -> int:
    """Read the command line, print the tables; 1 where something is worse than it must be."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder", type=Path)
    words.add_argument("--remarks", action="store_true", help="print every remark")
    asked = words.parse_args()
    files = find_files(asked.folder)
    missing = [name for name in listed_files() if name not in files]
    print(
        f"{len(files)} of {len(listed_files())} listed files found."
        + f" Missing: {', '.join(missing)}." * bool(missing)
    )
    good = read_all(files, remarks=asked.remarks) and not missing
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

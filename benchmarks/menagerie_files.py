"""Arms of MuJoCo Menagerie: read from MJCF and compared with MuJoCo itself.

    git clone https://github.com/google-deepmind/mujoco_menagerie
    python benchmarks/menagerie_files.py FOLDER

`menagerie_files.sha256` lists the files by name and hash; they are not part of this repository. For each file: whether
it is read as it is, with repairs or not at all, and the largest relative difference from MuJoCo's mass matrix (armature
included), bias, damping forces and body poses, at random joint positions and speeds. For this the robot gets a free
joint in MuJoCo, where it has none; where MuJoCo cannot do that (two arms on the ground, a base without inertia), both
are compared on a base that is held. Coupled joints have one coordinate here and two in MuJoCo: its matrices are
projected.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import warnings
from pathlib import Path

import mujoco
import numpy as np

from freefloat import dynamics
from freefloat.model import Follow, Spacecraft
from freefloat.readers import read_mjcf
from freefloat.readers.findings import summary_lines
from freefloat.readers.mjcf.reader import lint_mjcf
from freefloat.readers.reports import ReadingNote
from freefloat.values import ModelError

LIST = Path(__file__).with_suffix(".sha256")
TOLERANCE = 1e-9  # of the largest entry: MuJoCo diagonalises inertias and normalises quaternions in its own way
AT_LEAST = 20  # arms that are read as they are


def find_files(folder: Path) -> dict[str, Path]:
    """The listed files that are somewhere below a folder, by their content."""
    found = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in sorted(folder.rglob("*.xml"))}
    rows = [line.split("  ", 1) for line in LIST.read_text().splitlines()]
    return {name: found[digest] for digest, name in rows if digest in found}


class Peer:
    """The same robot in MuJoCo, on a free base at the origin, without gravity, contacts and springs."""

    def __init__(self, source: Path | str) -> None:
        self.floats = True
        try:
            self.model = self._compile(source)
        except ValueError:
            self.floats = False
            self.model = self._compile(source)
        self.data = mujoco.MjData(self.model)
        self.model.jnt_stiffness[:] = 0.0
        self.model.dof_frictionloss[:] = 0.0
        self.model.tendon_stiffness[:] = 0.0
        self.model.tendon_damping[:] = 0.0

    def _spec(self, source: Path | str) -> mujoco.MjSpec:
        spec = mujoco.MjSpec.from_file(str(source)) if isinstance(source, Path) else mujoco.MjSpec.from_string(source)
        for key in list(spec.keys):
            spec.delete(key)
        spec.option.gravity = np.zeros(3)
        first, joints = spec.worldbody.first_body(), list(spec.worldbody.first_body().joints)
        alone = len([body for body in spec.bodies if body.parent == spec.worldbody]) == 1
        self.floats = self.floats and alone and (not joints or joints[0].type == mujoco.mjtJoint.mjJNT_FREE)
        if self.floats and not joints:
            first.add_freejoint(name="free base")
        if alone and not (joints and not self.floats):
            # Where the base stands does not matter, and at the origin its axes are the world's.
            first.pos, first.quat, first.alt.type = np.zeros(3), [1.0, 0.0, 0.0, 0.0], mujoco.mjtOrientation(0)
        return spec

    def _compile(self, source: Path | str) -> mujoco.MjModel:
        """Meshes are left out where some are missing: every mass is stated, so that they only look."""
        try:
            return self._spec(source).compile()
        except ValueError:
            spec = self._spec(source)
            for geom in [geom for geom in spec.geoms if geom.meshname]:
                if geom.parent.id != 0 and not geom.parent.explicitinertial:
                    raise
                spec.delete(geom)
            for part in (*spec.meshes, *spec.textures):
                spec.delete(part)
            for material in spec.materials:
                material.textures = [""] * len(material.textures)
            return spec.compile()

    def move(self, craft: Spacecraft, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Put it there; the matrix G with its v = G v."""
        G = np.zeros((self.model.nv, craft.layout.nv))
        if self.floats:
            G[:6, :6] = np.eye(6)
            self.data.qpos[:7] = np.eye(7)[3]
        for ours in craft.joints:
            if ours.kind == "fixed":
                continue
            follows, joint = ours.follows or Follow(ours.name), self.model.joint(ours.name)
            at = follows.ratio * q[craft.layout.position(follows.leader).start] + follows.offset
            self.data.qpos[joint.qposadr[0]] = at
            G[joint.dofadr[0], craft.layout.velocity(follows.leader)] = follows.ratio
        self.data.qvel[:] = G @ v
        mujoco.mj_forward(self.model, self.data)
        return G


def differences(craft: Spacecraft, peer: Peer, rng: np.random.Generator) -> dict[str, float]:
    """Largest relative difference of each quantity."""
    q, v = rng.uniform(-1.0, 1.0, craft.layout.nq), rng.normal(size=craft.layout.nv)
    v[:6] *= peer.floats
    free = slice(0 if peer.floats else 6, None)  # speeds that both have
    G = peer.move(craft, q, v)
    M = np.zeros((peer.model.nv, peer.model.nv))
    mujoco.mj_fullM(peer.model, peer.data, M)
    # Its linear velocity is in world axes, ours in body axes: their rates differ by omega x v.
    turning = np.concatenate([np.cross(v[3:6], v[:3]), np.zeros(craft.layout.nv - 3)])
    bias = G.T @ (peer.data.qfrc_bias + M @ G @ turning)
    damping = G.T @ peer.data.qfrc_damper
    Xs_BL, worst = dynamics.body_poses(craft, q), 0.0
    for name in craft.frame_names:
        frame = craft.frame(name)
        theirs = _their_pose(peer, name)
        if theirs is not None:
            X = Xs_BL[craft.body_index(frame.body)] @ frame.X_BF
            worst = max(worst, _gap(X.R, theirs[1]), float(np.max(np.abs(np.asarray(X.p) - theirs[0]))))
    return {
        "mass matrix": _gap(dynamics.mass_matrix(craft, q)[free, free], (G.T @ M @ G)[free, free]),
        "bias": _gap(dynamics.bias(craft, q, v)[free], bias[free]),
        "damping": _gap(dynamics.damping_force(craft, q, v)[free], damping[free]),
        "poses": worst,
    }


def _their_pose(peer: Peer, name: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Of a body or site of that name; None for those that we named ourselves."""
    if name == "base":  # the root, whatever its own name is
        return None
    kinds = (("body", peer.data.xpos, peer.data.xmat), ("site", peer.data.site_xpos, peer.data.site_xmat))
    objects = {"body": mujoco.mjtObj.mjOBJ_BODY, "site": mujoco.mjtObj.mjOBJ_SITE}
    for kind, positions, rotations in kinds:
        index = mujoco.mj_name2id(peer.model, objects[kind], name)
        if index > 0 or (kind == "site" and index == 0):
            return positions[index], rotations[index].reshape(3, 3)
    return None


def _gap(ours: object, theirs: np.ndarray) -> float:
    return float(np.max(np.abs(np.asarray(ours) - theirs)) / (np.max(np.abs(theirs)) or 1.0))


def read_quietly(source: Path | str, *, repair: bool) -> Spacecraft | None:
    """The spacecraft, or None where the file is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingNote)
        try:
            return read_mjcf(source, repair=repair)
        except ModelError:
            return None


def describe(craft: Spacecraft) -> str:
    """How much there is to compare."""
    rotors, damped = (sum(float(getattr(j, name)) > 0.0 for j in craft.joints) for name in ("rotor_inertia", "damping"))
    return f"{craft.layout.nv} speeds, {rotors} rotors, {damped} damped joints"


def main() -> int:
    """Print the table; 1 where something is worse than it must be."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder", type=Path)
    words.add_argument("--remarks", action="store_true", help="print every remark")
    asked = words.parse_args()
    files, rng = find_files(asked.folder), np.random.default_rng(20260103)
    listed = len(LIST.read_text().splitlines())
    counts, worst = {"as it is": 0, "repaired": 0, "refused": 0}, 0.0
    for name, path in files.items():
        plain = read_quietly(path, repair=False)
        craft = plain or read_quietly(path, repair=True)
        verdict = "refused" if craft is None else "repaired" if plain is None else "as it is"
        counts[verdict] += 1
        found = lint_mjcf(path, repair=plain is None) if asked.remarks or craft is None or plain is None else []
        gaps = {} if craft is None else differences(craft, Peer(path), rng)
        worst = max(worst, *gaps.values(), 0.0)
        told = ", ".join(f"{what} {gap:.0e}" for what, gap in gaps.items())
        print(f"{name}: {verdict}; {'' if craft is None else describe(craft)}; {told}", flush=True)
        for severity, line in summary_lines(found):
            if asked.remarks or severity in ("error", "repair"):
                print(f"    {severity}: {line}")
    print(f"{len(files)} of {listed} listed files: {counts}; largest difference from MuJoCo {worst:.1e}")
    return 0 if counts["as it is"] >= AT_LEAST and worst < TOLERANCE and len(files) == listed else 1


if __name__ == "__main__":
    sys.exit(main())

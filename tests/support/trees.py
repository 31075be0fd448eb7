"""Random free-floating trees of a few fixed topologies, and the same trees in Pinocchio and MuJoCo.

Names and parents belong to a topology, so a compiled function serves every draw of it; every number is drawn.
The two converters are written here, from the parts, and share nothing with the URDF reader and writer.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from freefloat import dynamics
from freefloat.model import Spacecraft, State
from freefloat.spatial import Pose
from support.compiling import compiled

_KINDS = {"R": "revolute", "P": "prismatic", "F": "fixed"}


@dataclass(frozen=True)
class Topology:
    """Joint i is of kind `kinds[i]` and carries body i + 1 on body `parents[i]`; body 0 is the base."""

    kinds: str
    parents: tuple[int, ...]
    wheels: tuple[int, ...] = ()  # index of the body that carries each wheel


def _chain(kinds: str, wheels: tuple[int, ...] = ()) -> Topology:
    return Topology(kinds, tuple(range(len(kinds))), wheels)


TOPOLOGIES = {
    "free body": Topology("", ()),
    "tiny": _chain("RP", wheels=(0,)),
    "chain of 2": _chain("RR"),
    "chain of 6": _chain("RRRRRR"),
    "branched 7": Topology("RRRPRRR", (0, 1, 2, 1, 4, 0, 6)),
    "branched 7, revolute": Topology("RRRRRRR", (0, 1, 2, 1, 4, 0, 6)),
    "branched 10": Topology("RRPRRRRPRR", (0, 1, 2, 3, 0, 5, 6, 5, 8, 0)),
    # 20 joints that move and 2 that do not, one of those in the middle of an arm.
    "branched 20": Topology(
        "RRPFRRRPRRRRRPRRFRRPRR", (0, 1, 2, 3, 4, 5, 0, 7, 8, 9, 8, 11, 12, 0, 14, 15, 16, 17, 18, 14, 20, 0)
    ),
    # Three wheels on the base, one on a link, one on a body that a fixed joint carries.
    "wheels": _chain("RPFR", wheels=(0, 0, 2, 0, 3)),
    # Every kind of part, and small: for derivatives.
    "small": _chain("RPFR", wheels=(0, 3)),
}


# ---- drawing


def draw_rotation(rng: np.random.Generator) -> np.ndarray:
    """A rotation matrix, uniformly drawn: a quaternion uniform on its sphere."""
    w, x, y, z = (lambda a: a / np.linalg.norm(a))(rng.normal(size=4))
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def draw_pose(rng: np.random.Generator, reach: float = 0.5) -> Pose:
    """A placement within about `reach` metres."""
    return Pose(position=rng.uniform(-reach, reach, size=3), rotation=draw_rotation(rng))


def draw_body(rng: np.random.Generator, mass: tuple[float, float]) -> dict[str, Any]:
    """Mass, centre of mass and inertia of a body that can exist: a cloud of equal particles."""
    cloud = rng.normal(size=(6, 3)) * 0.3
    d = cloud - cloud.mean(axis=0)
    kilograms = float(rng.uniform(*mass))
    inertia = kilograms / len(cloud) * (np.sum(d * d) * np.eye(3) - d.T @ d)
    return {
        "mass": kilograms,
        "com": rng.uniform(-0.3, 0.3, size=3),
        "inertia": (inertia + inertia.T) / 2.0,
    }


def draw_tree(rng: np.random.Generator, name: str) -> Spacecraft:
    """A spacecraft of a topology, with frames `hand` on its last body and `camera` on its base."""
    topology = TOPOLOGIES[name]
    craft = Spacecraft.from_base(name, **draw_body(rng, (20.0, 60.0)))
    for index, (kind, parent) in enumerate(zip(topology.kinds, topology.parents, strict=True), start=1):
        craft = craft.with_link(
            f"link{index}",
            parent=f"link{parent}" if parent else "base",
            joint=_KINDS[kind],
            at=draw_pose(rng),
            axis=rng.normal(size=3),
            joint_name=f"joint{index}",
            **draw_body(rng, (2.0, 10.0)),
        )
    for index, body in enumerate(topology.wheels):
        craft = craft.with_wheel(
            f"wheel{index}",
            body=craft.body_names[body],
            axis=rng.normal(size=3),
            inertia=float(rng.uniform(0.005, 0.02)),
        )
    craft = craft.with_frame("hand", body=craft.body_names[-1], at=draw_pose(rng))
    return craft.with_frame("camera", body="base", at=draw_pose(rng))


def with_joint_rotors(rng: np.random.Generator, craft: Spacecraft) -> Spacecraft:
    """The same with motor rotors of the order of the links' inertia on every joint."""
    joints = (dataclasses.replace(joint, rotor_inertia=float(rng.uniform(0.1, 3.0))) for joint in craft.joints)
    return dataclasses.replace(craft, joints=tuple(joints))


def draw_configuration(rng: np.random.Generator, craft: Spacecraft) -> np.ndarray:
    """Joint positions: anywhere on the circle, sliders within half a metre."""
    turns = [craft.joint(name).kind == "revolute" for name in craft.layout.moving_joints]
    return np.where(turns, rng.uniform(-np.pi, np.pi, size=len(turns)), rng.uniform(-0.5, 0.5, size=len(turns)))


def draw_speeds(rng: np.random.Generator, craft: Spacecraft) -> np.ndarray:
    """Generalised speeds of the order of one; wheels turn at hundreds of rad/s."""
    v = rng.normal(size=craft.layout.nv)
    v[list(craft.layout.wheel_velocities)] *= 300.0
    return v


def draw_state(rng: np.random.Generator, craft: Spacecraft) -> State:
    """Anywhere, at any attitude, moving."""
    quat = rng.normal(size=4)
    return State(
        p_NB=rng.normal(size=3),
        quat_NB=quat / np.linalg.norm(quat),
        q=draw_configuration(rng, craft),
        v=draw_speeds(rng, craft),
    )


# ---- compiled once, shared by all test files


@cache
def compiled_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the package, compiled, the same one for every test that asks."""
    return compiled(function)


@cache
def at_frame(function: Callable[..., Any], frame: str) -> Callable[..., Any]:
    """A function of the package that takes a frame's name, compiled for that frame."""
    return compiled(partial(function, frame=frame))


mass_matrix = compiled_once(dynamics.mass_matrix)
bias = compiled_once(dynamics.bias)
inverse_dynamics = compiled_once(dynamics.inverse_dynamics)
forward_dynamics = compiled_once(dynamics.forward_dynamics)
kinetic_energy = compiled_once(dynamics.kinetic_energy)
momentum_about_base = compiled_once(dynamics.momentum_about_base)
centre_of_mass = compiled_once(dynamics.centre_of_mass)
free_floating = compiled_once(dynamics.free_floating)


# ---- comparing


def relative_error(ours: Any, theirs: Any) -> float:
    """Largest difference of two arrays, relative to the largest entry of the second.

    Entries of one array share one scale here: where a small entry is the difference of large ones, both codes
    have lost the same digits of it, and neither is right to more than the scale times the rounding.
    """
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    return float(np.max(np.abs(ours - theirs), initial=0.0) / np.max(np.abs(theirs), initial=1e-300))


def report(*measured: Any) -> None:
    """Say what was measured: pytest shows it beside a failure, and with -rP always."""
    print(*measured)  # noqa: T201


# ---- the same tree elsewhere


@dataclass(frozen=True)
class Rotor:
    """A wheel as a body of its own: what Pinocchio and MuJoCo need, and what its carrier's inertia then lacks."""

    wheel: str
    body: str
    axis: np.ndarray
    point: np.ndarray  # where it sits on its carrier [m]
    mass: float  # [kg]
    inertia: np.ndarray  # about its centre, carrier axes [kg m2]


def rotors_of(craft: Spacecraft, rng: np.random.Generator | None = None) -> list[Rotor]:
    """Axisymmetric rotors that stand for the wheels; where they sit and what they weigh makes no difference."""
    rotors = []
    for wheel in craft.wheels:
        across = 0.6 * wheel.inertia  # of a thick disc
        point = np.zeros(3) if rng is None else rng.uniform(-0.05, 0.05, size=3)
        inertia = across * np.eye(3) + (wheel.inertia - across) * np.outer(wheel.axis, wheel.axis)
        rotors.append(Rotor(wheel.name, wheel.body, np.asarray(wheel.axis), point, 0.05, inertia))
    return rotors


def without_rotors(body: Any, rotors: list[Rotor]) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia of a body less its rotors: moments about the origin subtract."""

    def about_origin(mass: float, com: np.ndarray, inertia: np.ndarray) -> np.ndarray:
        return inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))

    mass, moment = float(body.mass), float(body.mass) * np.asarray(body.com)
    inertia = about_origin(mass, np.asarray(body.com), np.asarray(body.inertia))
    for rotor in rotors:
        mass, moment = mass - rotor.mass, moment - rotor.mass * rotor.point
        inertia = inertia - about_origin(rotor.mass, rotor.point, rotor.inertia)
    com = moment / mass
    return mass, com, inertia - mass * (com @ com * np.eye(3) - np.outer(com, com))


class InPinocchio:
    """The tree as a Pinocchio model with a free-flyer and no gravity; its v is ordered as ours.

    With `held` its base is the world itself: no free-flyer, and v is ours without the first six.
    """

    def __init__(self, craft: Spacecraft, *, held: bool = False) -> None:
        import pinocchio as pin

        self.model = model = pin.Model()
        model.gravity = pin.Motion.Zero()
        rotors = rotors_of(craft)
        # Where each body hangs: the joint that carries it, and its frame in that joint's frame.
        carried: dict[str, tuple[int, Any]] = {}
        for body, joint in zip(craft.bodies, (None, *craft.joints), strict=True):
            if joint is None:
                at = pin.SE3.Identity()
                added = 0 if held else model.addJoint(0, pin.JointModelFreeFlyer(), at, "base")
            else:
                above, X_parent = carried[joint.parent]
                at = X_parent * pin.SE3(np.asarray(joint.X_PJ.R), np.asarray(joint.X_PJ.p))
                added = above
                if joint.kind != "fixed":
                    turns = joint.kind == "revolute"
                    kind = pin.JointModelRevoluteUnaligned if turns else pin.JointModelPrismaticUnaligned
                    added = model.addJoint(above, kind(np.asarray(joint.axis)), at, joint.name)
                    model.armature[model.joints[added].idx_v] = joint.rotor_inertia
                    at = pin.SE3.Identity()
            carried[body.name] = (added, at)
            here = [rotor for rotor in rotors if rotor.body == body.name]
            model.appendBodyToJoint(added, pin.Inertia(*without_rotors(body, here)), at)
            for rotor in here:
                spin = pin.JointModelRevoluteUnaligned(rotor.axis)
                place = at * pin.SE3(np.eye(3), rotor.point)
                turning = model.addJoint(added, spin, place, rotor.wheel)
                inertia = pin.Inertia(rotor.mass, np.zeros(3), rotor.inertia)
                model.appendBodyToJoint(turning, inertia, pin.SE3.Identity())
        self.frames = {
            frame.name: model.addFrame(
                pin.Frame(
                    frame.name,
                    carried[frame.body][0],
                    0,
                    carried[frame.body][1] * pin.SE3(np.asarray(frame.X_BF.R), np.asarray(frame.X_BF.p)),
                    pin.FrameType.OP_FRAME,
                )
            )
            for frame in craft.frames
        }
        self.data = model.createData()
        self.moving = craft.layout.moving_joints

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's q: base at the inertial origin, aligned; the angles of the rotors do not matter."""
        import pinocchio as pin

        full = pin.neutral(self.model)
        for name, value in zip(self.moving, q, strict=True):
            full[self.model.joints[self.model.getJointId(name)].idx_q] = value
        return full


class InMujoco:
    """The tree as a MuJoCo model with a free joint and no gravity (wheels not modelled)."""

    def __init__(self, craft: Spacecraft) -> None:
        import mujoco

        assert not craft.wheels
        spec = mujoco.MjSpec()
        spec.option.gravity = np.zeros(3)
        spec.compiler.degree = False
        bodies = {}
        for body, joint in zip(craft.bodies, (None, *craft.joints), strict=True):
            if joint is None:
                made = spec.worldbody.add_body(name=body.name)
                made.add_freejoint(name="base")
            else:
                made = bodies[joint.parent].add_body(
                    name=body.name, pos=joint.X_PJ.p, quat=_mujoco_quaternion(np.asarray(joint.X_PJ.R))
                )
                if joint.kind != "fixed":
                    kinds = {"revolute": mujoco.mjtJoint.mjJNT_HINGE, "prismatic": mujoco.mjtJoint.mjJNT_SLIDE}
                    made.add_joint(
                        name=joint.name,
                        type=kinds[joint.kind],
                        axis=joint.axis,
                        armature=float(joint.rotor_inertia),
                    )
            I = np.asarray(body.inertia)
            made.mass, made.ipos, made.explicitinertial = body.mass, body.com, True
            made.fullinertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
            bodies[body.name] = made
        self.spec, self.model = spec, spec.compile()
        self.data = mujoco.MjData(self.model)
        self.moving = craft.layout.moving_joints

    def mass_matrix(self, state: State) -> np.ndarray:
        """Mass matrix for our generalised speeds, in our order.

        MuJoCo numbers bodies depth first, and its free joint moves linearly in world axes but turns in body axes.
        """
        import mujoco

        model, data = self.model, self.data
        data.qpos[:7] = np.concatenate([state.p_NB, state.quat_NB])
        places = list(range(6))
        for name, value in zip(self.moving, state.q, strict=True):
            joint = model.joint(name)
            data.qpos[joint.qposadr[0]] = value
            places.append(joint.dofadr[0])
        mujoco.mj_forward(model, data)
        theirs = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, theirs)
        to_theirs = np.eye(model.nv)
        to_theirs[:3, :3] = np.asarray(state.X_NB.R)
        return to_theirs.T @ theirs[np.ix_(places, places)] @ to_theirs


def _mujoco_quaternion(R: np.ndarray) -> np.ndarray:
    """Scalar-first quaternion by MuJoCo's own routine."""
    import mujoco

    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, np.ascontiguousarray(R).ravel())
    return quat

"""A Shuttle-like manipulator on an orbiter-like base, and its payload (Cyril, Jaar and Misra 1993).

The paper gives no table ("similar to the SRMS", payload mass ratio 10). Sources and assumptions here:

- Boom lengths and masses, masses of wrist and end effector: Nguyen and Hughes 1994 (Progress in Astronautics and
  Aeronautics 161), by way of a public model. The booms are taken as uniform.
- Bending stiffness 4.0e6 and 2.8e6 N m2: assumed, an estimate for 13-inch graphite-epoxy tubes.
- Base (100 t, orbiter-like) and shoulder position: assumed. Payload: 10 t (the ratio), a solid cylinder of 1 m radius
  (0.5 rpm and 0.052 m/s in the paper) and 6 m length: assumed. No damping, joints free.
- Shapes of orbiter and payload: a sketch for pictures, sizes plausible.
- Gears, with `flexible_joints`: see `_GEARS`.
"""

from __future__ import annotations

import numpy as np

from freefloat.model import Joint, JointFlexibility, RigidBody, Spacecraft
from freefloat.model.shapes import Box, Cylinder, Ellipsoid, Shape
from freefloat.spatial import Pose
from freefloat.values.errors import ModelError

Axis = tuple[float, float, float]

_BOOMS = (  # length [m], mass [kg], bending stiffness [N m2]
    (6.377, 139.35, 4.0e6),
    (7.06, 87.42, 2.8e6),
)
_BASE_MASS = 1.0e5  # [kg]
_BASE_INERTIA = (1.3e6, 1.0e7, 1.03e7)  # about x, y, z of the spatial arm [kg m2]
_HAND_MASS, _HAND_LENGTH = 99.63, 1.8796  # wrist and end effector in one, of the planar arm [kg], [m]
_PAYLOAD_MASS, _PAYLOAD_RADIUS, _PAYLOAD_LENGTH = 1.0e4, 1.0, 6.0  # [kg], [m], [m]
# Stiffness of the gears: no table of it was found that could be cited. Identified from the frequencies that a paper by
# the arm's makers gives for the unloaded arm, stretched out sideways, brakes on, on an orbiter that does not move
# (Table 4, row S: 0.3463, 0.4614 and 3.5544 Hz for the first three; transcription.si.edu/view/24585, page 12 of
# NASM.2014.0025-bx011-fd006, without its title page; by its subject P. K. Nguyen, R. Ravindran, R. Carr et al., 1982),
# wrists like the pitch of the shoulder. What is left to compare is in docs/flexible-joints.md. The ratios are those
# that are commonly quoted; they and the rotors, of which nothing was found, have no part in those frequencies.
_ROTOR = 1.0e-4  # [kg m2]
_GEARS = {  # stiffness at the joint [N m/rad], gear ratio
    "shoulder.yaw": (3.73e5, 1842.0),
    "shoulder.pitch": (1.85e5, 1842.0),
    "elbow": (1.51e6, 1261.0),
    "wrist": (1.85e5, 738.0),
}
_WRIST = (  # name, axis, mass [kg], centre of mass [m], inertia about it [kg m2], length along x [m]
    ("wrist.pitch", (0.0, -1.0, 0.0), 8.48, 0.2286, (0.02, 0.15, 0.15), 0.4572),
    ("wrist.yaw", (0.0, 0.0, 1.0), 45.94, 0.381, (0.4, 2.2, 2.2), 0.762),
    ("wrist.roll", (1.0, 0.0, 0.0), 45.21, 0.3302, (0.6, 1.6, 1.6), 0.6604),
)
_Z_TO_Y = ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0))
# Name of the solid, its sizes and its place along x (forward), y (side) and z (up), as for the spatial arm [m].
_ORBITER = (
    (Box, (26.0, 5.0, 4.4), (-4.0, 0.0, 0.0), "tank"),  # hull
    (Ellipsoid, (4.5, 2.5, 2.2), (9.0, 0.0, 0.0), "tank"),  # nose
    (Box, (13.0, 22.0, 0.5), (-9.0, 0.0, -1.8), "joint"),  # wings
    (Box, (4.5, 0.5, 7.0), (-15.0, 0.0, 5.0), "joint"),  # fin
    (Box, (18.0, 4.0, 0.2), (-3.0, 0.0, 2.2), "panel"),  # bay
    (Box, (1.0, 1.0, 0.7), (10.0, 0.0, 2.15), "joint"),  # foot of the arm
)


def srms(*, modes: int = 2, planar: bool = False, flexible_joints: bool = False) -> Spacecraft:
    """The arm on its base, joints free; `modes` bending modes for each boom and plane, 0 for rigid booms.

    With `flexible_joints` gears wind up between motors and joints, which is most of the flexibility of this arm.

    Spatial: joints `shoulder.yaw`, `shoulder.pitch`, `elbow`, `wrist.pitch`, `wrist.yaw`, `wrist.roll`; it is stretched
    along x at zero and pitches up towards z. Planar, in x and y: `shoulder`, `elbow`, `wrist` about z. Booms `boom.1`
    and `boom.2`, frame `hand` at the tip of the end effector.
    """
    if isinstance(modes, bool) or not isinstance(modes, (int, np.integer)) or modes < 0:
        raise ModelError(f"srms: modes must be a whole number of bending modes, 0 or more, got {modes!r}.")
    craft = _planar_arm(int(modes)) if planar else _spatial_arm(int(modes))
    for joint in craft.layout.moving_joints if flexible_joints else ():
        craft = craft.with_flexible_joint(joint, _gear(joint))
    return _with_orbiter_shapes(craft, planar=planar)


def srms_payload(*, planar: bool = False) -> Spacecraft:
    """The 10 t cylinder, its axis across the plane in which the arm pitches; frame `grip` on its side, x inward."""
    across = _PAYLOAD_MASS * (3.0 * _PAYLOAD_RADIUS**2 + _PAYLOAD_LENGTH**2) / 12.0
    along = 0.5 * _PAYLOAD_MASS * _PAYLOAD_RADIUS**2
    inertia = (across, across, along) if planar else (across, along, across)
    payload = Spacecraft.from_base("payload", mass=_PAYLOAD_MASS, inertia=inertia)
    payload = payload.with_frame("grip", body="base", at=Pose(position=(-_PAYLOAD_RADIUS, 0.0, 0.0)))
    cylinder = Cylinder(_PAYLOAD_RADIUS, _PAYLOAD_LENGTH)
    hull = Shape(cylinder, colour="target") if planar else Shape(cylinder, rotation=_Z_TO_Y, colour="target")
    pin = Shape.tube((-_PAYLOAD_RADIUS - 0.1, 0.0, 0.0), (-_PAYLOAD_RADIUS + 0.1, 0.0, 0.0), 0.15, "hand")
    return payload.with_shapes("base", hull, pin)


def _with_orbiter_shapes(craft: Spacecraft, *, planar: bool) -> Spacecraft:
    """The base drawn as an orbiter; the plane of the planar arm is the orbiter's plane of symmetry."""
    shapes = []
    for solid, (a, b, c), (x, y, z), colour in _ORBITER:
        size, place = ((a, c, b), (x, z, -y)) if planar else ((a, b, c), (x, y, z))
        shapes.append(Shape(solid(size), place, colour=colour))
    return craft.with_shapes("base", *shapes)


def _planar_arm(modes: int) -> Spacecraft:
    Ixx, Iyy, Izz = _BASE_INERTIA
    craft = Spacecraft.from_base("srms", mass=_BASE_MASS, inertia=(Ixx, Izz, Iyy))  # y here is z of the spatial arm
    joints = (("shoulder", "base", Pose(position=(10.0, 2.5, 0.0))), ("elbow", "boom.1", Pose()))  # [m]
    craft = _with_booms(craft, joints, axis=(0.0, 0.0, 1.0), modes={"y": modes})
    about_axis = sum(inertia[0] for *_, inertia, _ in _WRIST)  # of no consequence in the plane
    across = _HAND_MASS * _HAND_LENGTH**2 / 12.0
    hand = RigidBody("hand.link", _HAND_MASS, (0.5 * _HAND_LENGTH, 0.0, 0.0), (about_axis, across, across))
    craft = craft.with_body(hand, _joint("wrist", "boom.2", (0.0, 0.0, 1.0), Pose()))
    return craft.with_frame("hand", body="hand.link", at=Pose(position=(_HAND_LENGTH, 0.0, 0.0)))


def _spatial_arm(modes: int) -> Spacecraft:
    craft = Spacecraft.from_base("srms", mass=_BASE_MASS, inertia=_BASE_INERTIA).with_link(
        "shoulder.link",
        joint_name="shoulder.yaw",
        parent="base",
        joint="revolute",
        at=Pose(position=(10.0, 0.0, 2.5)),  # [m]
        mass=32.12,  # [kg]
        com=(0.0, 0.0, 0.15),  # [m]
        inertia=(0.5, 0.5, 0.3),  # [kg m2]
    )
    joints = (
        ("shoulder.pitch", "shoulder.link", Pose(position=(0.0, 0.0, 0.3048))),  # [m]
        ("elbow", "boom.1", Pose()),
    )
    craft = _with_booms(craft, joints, axis=(0.0, -1.0, 0.0), modes={"y": modes, "z": modes})
    parent, at = "boom.2", Pose()
    for name, axis, mass, com, inertia, length in _WRIST:
        body = RigidBody(f"{name}.link", mass, (com, 0.0, 0.0), inertia)
        craft = craft.with_body(body, _joint(name, parent, axis, at))
        parent, at = body.name, Pose(position=(length, 0.0, 0.0))
    return craft.with_frame("hand", body=parent, at=at)


def _with_booms(
    craft: Spacecraft, joints: tuple[tuple[str, str, Pose], ...], *, axis: Axis, modes: dict[str, int]
) -> Spacecraft:
    """Both booms, each on a joint (name, parent, placement); what follows hangs on the tip of the second."""
    from freefloat.flex import beam  # brings scipy, which the other spacecraft do without

    for number, ((length, mass, stiffness), (joint, parent, at)) in enumerate(zip(_BOOMS, joints, strict=True), 1):
        boom = beam(length=length, mass=mass, bending_stiffness=stiffness, modes=modes, name=f"boom.{number}")
        craft = craft.with_body(boom, _joint(joint, parent, axis, at))
    return craft


def _gear(joint: str) -> JointFlexibility:
    """Gear of a joint of either arm; the joints of the planar arm are pitch joints."""
    kind = {"shoulder": "shoulder.pitch"}.get(joint, joint if joint in _GEARS else joint.partition(".")[0])
    stiffness, ratio = _GEARS[kind]
    return JointFlexibility(stiffness=stiffness, motor_inertia=_ROTOR, ratio=ratio)


def _joint(name: str, parent: str, axis: Axis, at: Pose) -> Joint:
    """A revolute joint; on a boom it sits at the tip, which moves with the modes."""
    return Joint(name, kind="revolute", parent=parent, X_PJ=at, axis=axis, node="tip" * parent.startswith("boom"))

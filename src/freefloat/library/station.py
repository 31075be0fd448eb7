"""A gravity-gradient station: a 100 m bus, two plate arrays at its base and a two-link arm that travels along it.

Body axes at the middle of the bus: x along it, y to the arrays' sides, z out of their plane; everything bends along z.
The paper's table is incomplete, so some numbers are assumed:

- Density, Young's modulus, lengths, diameters and the size of the arrays: the paper's.
- Poisson ratio, walls of the tubes, where the arrays and the arm's base sit, no mass of base and payload: assumed.

`flex` and scipy are imported where a structure is made: the other spacecraft of the library do without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.model import Joint, JointLimits, ModalBody, RigidBody, Spacecraft
from freefloat.spatial import Pose
from freefloat.values.errors import ModelError

if TYPE_CHECKING:
    from freefloat.flex.structure import Structure

DENSITY, YOUNG, POISSON = 1769.0, 7.3084e10, 0.3  # [kg/m3], [Pa]
BUS_LENGTH, BUS_DIAMETER, BUS_WALL = 100.0, 5.0, 0.003  # [m]
ARM_LENGTH, ARM_DIAMETER, ARM_WALL = 10.0, 0.01, 0.001  # of each link [m]
ARRAY_SIDE, ARRAY_THICKNESS = 10.0, 0.003  # [m]
# The station's axes in the orbital frame O: x away from the Earth, y along the flight, z along the orbit normal.
STATION_ATTITUDE = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]])  # R_OB
_UPRIGHT = (0.0, -1.0, 0.0)  # axis of both joints: a positive angle lifts the arm towards z
_FINE = (8, 6, 6)  # elements of a bus half, of an arm, along and across an array, before reduction
_PAPER = (2, 1, 2)  # the same, as coordinates of their own


@dataclass(frozen=True)
class _Choice:
    """Numbers of elements and coordinates of each component."""

    elements: tuple[int, int, int]  # bus half, arm, array
    columns: tuple[int, int, int] | None  # coordinates of each after reduction; None: every nodal freedom


def station(
    *,
    reduction: str = "craig-bampton",
    columns: Sequence[int] = (3, 3, 8),
    elements: Sequence[int] | None = None,
    base_height: float = 0.5 * BUS_DIAMETER,
    base_mass: float = 0.0,
    payload_mass: float = 0.0,
    damping_ratio: float = 0.0,
    force_chord: float = 5.0,
) -> Spacecraft:
    """The station, its arm stretched along x at zero; the rail joint's coordinate is x of the arm's base [m].

    `reduction`: "craig-bampton" with `columns` coordinates for each (bus half, arm, array), or "nodal" with every
    freedom of the finite elements, as in the paper. `elements` of the same components: (8, 6, 6), nodal (2, 1, 2).
    The arm's base rides `base_height` above the bus axis [m]; `station_reference` sets where along it. Point masses
    `base_mass` at the arm's base and `payload_mass` at its tip [kg]; `damping_ratio` of the
    modes of each component alone; `force_chord`: where along the tip edge of the arrays `array.1.thruster` sits [m].
    """
    choice = _choice(reduction, columns, elements)
    craft = Spacecraft.from_body("station", _bus(choice, damping_ratio))
    craft = _with_arm(craft, choice, base_height, base_mass, payload_mass, damping_ratio)
    for number, side in ((1, 1.0), (2, -1.0)):
        array = _array(choice, number, side, force_chord, damping_ratio)
        seat = Pose(position=np.array([0.0, side * 0.5 * BUS_DIAMETER, 0.0]))
        craft = craft.with_body(
            array, Joint(array.name, kind="fixed", parent="base", X_PJ=seat, axis=(0, 0, 1), node="left.tip")
        )
    return craft


@dataclass(frozen=True)
class StationReference:
    """The station's nominal place in orbit and the names of its linear model, as `linearise_in_orbit` takes them."""

    q: np.ndarray  # joints and modes [rad, m]
    attitude: np.ndarray  # R_OB
    rotations: tuple[str, str, str]
    coordinates: dict[str, str | tuple[str, ...]]  # order and labels
    inputs: dict[str, str]  # label -> port

    def arguments(self) -> dict[str, Any]:
        """All fields by name."""
        return {name: getattr(self, name) for name in ("q", "attitude", "rotations", "coordinates", "inputs")}


def station_reference(craft: Spacecraft, *, arm_at: float = 25.0) -> StationReference:
    """Reference with the arm's base at x [m] on the bus, the arm stretched along x; x up, z along the orbit normal.

    Rotations are yaw, roll and pitch about x, y and z; inputs are their torques, the joints' and six tip forces
    along z.
    """
    q = np.zeros(craft.layout.nq)
    q[craft.layout.position("rail")] = arm_at
    modes = {name: craft.body(name.removesuffix(".modes")).mode_names for name in craft.layout.modes}  # pyright: ignore[reportAttributeAccessIssue]
    return StationReference(
        q=q,
        attitude=STATION_ATTITUDE,
        rotations=("yaw", "roll", "pitch"),
        coordinates={"shoulder": "theta1", "elbow": "theta2", "rail": "zeta", **modes},
        inputs={
            **{
                f"{name} torque": f"base.torque.{axis}"
                for name, axis in zip(("yaw", "roll", "pitch"), "xyz", strict=True)
            },
            "theta1 torque": "shoulder",
            "theta2 torque": "elbow",
            "zeta force": "rail",
            "bus left tip": "base.left.tip.force.z",
            "bus right tip": "base.right.tip.force.z",
            **{f"arm {k} tip": f"arm.{k}.tip.force.z" for k in (1, 2)},
            **{f"array {k} tip": f"array.{k}.thruster.force.z" for k in (1, 2)},
        },
    )


def _choice(reduction: str, columns: Sequence[int], elements: Sequence[int] | None) -> _Choice:
    if reduction not in ("craig-bampton", "nodal"):
        raise ModelError(f"station: reduction '{reduction}' is unknown. Choose 'craig-bampton' or 'nodal'.")
    nodal = reduction == "nodal"
    mesh = tuple(int(n) for n in (elements or (_PAPER if nodal else _FINE)))
    kept = tuple(int(n) for n in columns)
    if len(mesh) != 3 or min(mesh) < 1:
        raise ModelError(f"station: elements must be three positive numbers (bus half, arm, array), got {elements}.")
    if not nodal and (len(kept) != 3 or min(kept[:2]) < 2 or kept[2] < 1):
        raise ModelError(
            f"station: columns must be three numbers (bus half, arm, array), at least (2, 2, 1), got {columns}."
        )
    return _Choice(mesh, None if nodal else kept)  # pyright: ignore[reportArgumentType]


# ---- components


def _tube(diameter: float, wall: float) -> dict[str, Any]:
    """Mass per length [kg/m] and bending stiffness [N m2] of a thin tube."""
    area, second = np.pi * diameter * wall, np.pi * diameter**3 * wall / 8.0
    return {"mass_per_length": DENSITY * area, "bending_stiffness_z": YOUNG * second}


def _bus(choice: _Choice, damping_ratio: float) -> ModalBody:
    """The bus: both halves, clamped in the middle, as one flexible base with a rail along it."""
    from freefloat.flex import meshed_beam, modal_damping, natural_modes
    from freefloat.flex.craig_bampton import craig_bampton_basis
    from freefloat.flex.surface import tube_skin

    half = choice.elements[0]
    tube = _tube(BUS_DIAMETER, BUS_WALL)
    whole = meshed_beam(
        length=BUS_LENGTH,
        **tube,
        section_inertia=tube["mass_per_length"] * (0.5 * BUS_DIAMETER) ** 2,
        planes="z",
        ends=("free", "free"),
        elements=2 * half,
        stations={"left.tip": 0.0, "right.tip": BUS_LENGTH, "middle": 0.5 * BUS_LENGTH},
        held=("middle",),
        rail_stations=8 * half + 1,
        name="bus",
    ).place_at(Pose(position=np.array([-0.5 * BUS_LENGTH, 0.0, 0.0])))
    whole = replace(whole, places=tuple(p for p in whole.places if p.name not in ("root", "tip")))
    left, right = _halves(len(whole.coordinates) // 2)
    if choice.columns is not None:
        k = choice.columns[0]
        own = whole.project(left, _numbered_names("left", left.shape[1]))
        left = left @ craig_bampton_basis(own, ["left.tip"], k - 2)[0]
        right = right @ natural_modes(whole.project(right, _numbered_names("right", right.shape[1])), k)[1]
    names = (*_numbered_names("bus left", left.shape[1]), *_numbered_names("bus right", right.shape[1]))
    body = whole.project(np.hstack([left, right]), names).body("base", damping=modal_damping(damping_ratio))
    assert body.rail is not None
    skin = tube_skin(body.rail, 0.5 * BUS_DIAMETER)
    return replace(body, rail=replace(body.rail, start=-0.5 * BUS_LENGTH), skin=skin)


def _halves(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of each half from the middle outwards: deflection, and slope along the way outwards.

    The beam's own are (deflection, slope along x) at every mesh line from the left tip, without the middle.
    """
    turned = np.diag([1.0, -1.0] * (count // 2))
    outwards = turned.reshape(count, count // 2, 2)[:, ::-1].reshape(count, count)
    nothing = np.zeros((count, count))
    return np.vstack([outwards, nothing]), np.vstack([nothing, np.eye(count)])


def _with_arm(
    craft: Spacecraft, choice: _Choice, height: float, base_mass: float, payload_mass: float, damping_ratio: float
) -> Spacecraft:
    """The station with its arm: carriage on the rail, two links, frame of the hand."""
    carriage = RigidBody.without_mass("carriage")
    if base_mass:
        carriage = RigidBody("carriage", mass=base_mass, com=np.zeros(3), inertia=np.zeros(3))
    seat, reach = Pose(position=np.array([0.0, 0.0, height])), JointLimits(-0.5 * BUS_LENGTH, 0.5 * BUS_LENGTH)
    craft = craft.with_body(carriage, Joint("rail", "rail", "base", seat, axis=(1, 0, 0), limits=reach))
    links = (("arm.1", "shoulder", "carriage", "", True), ("arm.2", "elbow", "arm.1", "tip", False))
    for name, joint, parent, node, carries in links:
        body = _link(choice, name, carries, damping_ratio)
        craft = craft.with_body(body, Joint(joint, "revolute", parent, Pose(), axis=_UPRIGHT, node=node))
    if payload_mass:
        craft = craft.with_point_mass("payload", mass=payload_mass, to="arm.2.tip")
    return craft.with_frame("hand", body="arm.2", node="tip")


def _link(choice: _Choice, name: str, carries: bool, damping_ratio: float) -> ModalBody:
    """A link of the arm; one that carries another keeps its tip's motion as coordinates."""
    from freefloat.flex import craig_bampton, meshed_beam, modal_damping, truncate_modes

    mesh = meshed_beam(
        length=ARM_LENGTH, **_tube(ARM_DIAMETER, ARM_WALL), planes="z", elements=choice.elements[1], name=name
    )
    mesh = replace(mesh, places=tuple(p for p in mesh.places if p.name == "tip"))
    if choice.columns is not None:
        k = choice.columns[1]
        mesh = craig_bampton(mesh, ["tip"], k - 2) if carries else truncate_modes(mesh, k)
    return _rename(mesh, name).body(name, damping=modal_damping(damping_ratio))


def _array(choice: _Choice, number: int, side: float, force_chord: float, damping_ratio: float) -> ModalBody:
    """A plate along +y or -y from the bus wall, its chord along x; `corner` is its tip corner towards the bus."""
    from freefloat.flex import meshed_plate, modal_damping, truncate_modes

    n, span = choice.elements[2], ARRAY_SIDE
    towards = -side  # of the mesh's own chord coordinate, along the chord x of the bus
    plate = meshed_plate(
        size=(span, span),
        surface_density=DENSITY * ARRAY_THICKNESS,
        bending_rigidity=YOUNG * ARRAY_THICKNESS**3 / (12.0 * (1.0 - POISSON**2)),
        poisson=POISSON,
        elements=(n, n),
        places={"corner": (span, towards * 0.5 * span)},
        points={"thruster": (span, towards * force_chord)},
        name=f"array.{number}",
    )
    plate = plate.project(_chord_along_x(n, len(plate.coordinates), towards), plate.coordinates)
    turn = np.array([[0.0, -side, 0.0], [side, 0.0, 0.0], [0.0, 0.0, 1.0]])  # span to +-y, bending stays along z
    plate = plate.place_at(Pose(rotation=turn))
    if choice.columns is not None:
        plate = truncate_modes(plate, choice.columns[2])
    return _rename(plate, plate.name).body(damping=modal_damping(damping_ratio))


def _chord_along_x(n: int, count: int, towards: float) -> np.ndarray:
    """The plate's freedoms (w, w_s, w_t, w_st) at nodes s outer, t inner, with chord t along x of the bus."""
    if towards > 0.0:
        return np.eye(count)
    order = np.arange(count).reshape(n, -1, 4)[:, ::-1].ravel()
    return np.eye(count)[:, order] * np.tile([1.0, 1.0, -1.0, -1.0], count // 4)


def _rename(structure: Structure, name: str) -> Structure:
    label = name.replace(".", " ")
    return replace(structure, coordinates=_numbered_names(label, len(structure.coordinates)))


def _numbered_names(label: str, count: int) -> tuple[str, ...]:
    return tuple(f"{label} {k + 1}" for k in range(count))

"""Small motion of a spacecraft that turns with its circular orbit: M p'' + (G + C) p' + K p = Bf u.

p = (psi, q): a small rotation of the base against its reference in the orbital frame, base axes, and the coordinates
of joints and modes. The centre of mass stays on the orbit: translation is eliminated exactly. The equations of psi are
torques about the centre of mass in base axes, those of q the generalised forces. Wheels are locked (docs/orbit.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag, eigh

from freefloat.analysis.orbit_names import OrbitNames, input_columns, output_rows
from freefloat.analysis.tidal_stiffness import tidal_stiffness
from freefloat.control.lqr import SecondOrderModel
from freefloat.dynamics.displacement_moments import DisplacementMoments, displacement_moments
from freefloat.dynamics.elastic import flexible_bodies
from freefloat.effects import CircularOrbit
from freefloat.model import Spacecraft
from freefloat.values.arrays import ArrayLike
from freefloat.values.errors import ModelError
from freefloat.values.short_text import record_text

GRADIENTS = ("exact", "full", "paper")


@dataclass(frozen=True)
class OrbitModel:
    """Linear equations about a reference, and the force that would hold the reference itself."""

    structure: SecondOrderModel
    trim: np.ndarray  # generalised force that would hold the reference, by coordinate; zero at an equilibrium
    mass: float  # [kg]
    com: np.ndarray  # centre of mass of the whole spacecraft, in the base frame [m]
    inertia: np.ndarray  # about the centre of mass, base axes [kg m2]
    rate: float  # orbital rate [rad/s]
    motion: np.ndarray  # (nv, coordinates): velocities of the spacecraft by rates of the coordinates, for pictures

    __repr__ = record_text  # one line, without arrays


def linearise_in_orbit(
    craft: Spacecraft,
    orbit: CircularOrbit,
    q: ArrayLike | None = None,
    *,
    attitude: ArrayLike | None = None,
    gradient: str = "exact",
    damping_ratio: float = 0.0,
    rotations: Sequence[str] = ("psi.x", "psi.y", "psi.z"),
    coordinates: Mapping[str, str | Sequence[str]] | None = None,
    inputs: Mapping[str, str] | Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
) -> OrbitModel:
    """Linear equations about the configuration q and the attitude R_OB (3, 3) of the base in the orbital frame.

    `gradient`: "exact" is the derivative of the nonlinear model; "full" takes displacements as straight lines, so it
    lacks what tides do to rotating links; "paper" lets gravity gradient and orbital rate act on the attitude only
    (gyroscopic coupling stays). `damping_ratio` of all modes with attitude and joints held adds to the bodies' own.

    `coordinates` gives order and labels of joints and modes: {"elbow": "theta2", "panel.modes": ("panel 1", ...)}.
    Inputs are `base.torque.x`, joints by name, `tip.force.z` of any frame in its axes; a mapping gives them labels.
    Outputs are coordinates by label, `tip.displacement.z` and `tip.rotation.y` of any frame in the base, along base
    axes, and their rates (`pitch rate`); by default all coordinates and rates.
    """
    if gradient not in GRADIENTS:
        raise ModelError(f"There is no gradient '{gradient}'. Choose {', '.join(GRADIENTS)}.")
    q = np.zeros(craft.layout.nq) if q is None else np.asarray(craft.layout.require_size("q", np.asarray(q), "q"))
    R_OB, rate = _attitude(attitude), _rate(orbit)
    names = OrbitNames.of(craft, rotations, coordinates)
    moments = displacement_moments(craft, q)
    turning = _OrbitalFrame(-rate, R_OB[1], R_OB[2])  # rows of R_OB: its axes y and z in base axes
    M, G = _inertia(moments), _gyroscopic(moments, turning)
    K = _stiffness(craft, q, moments, turning, gradient)
    C = np.asarray(block_diag(np.zeros((3, 3)), _damping(craft)))
    if damping_ratio:
        C = C + _modal_damping(craft, M, damping_ratio)
    ports, columns = input_columns(craft, q, moments, inputs)
    order = names.order
    both = np.ix_(order, order)
    structure = SecondOrderModel(
        M=M[both], K=K[both], G=G[both], C=C[both], Bf=columns[order], coordinates=names.labels, inputs=ports
    )
    if outputs is not None:
        own = tuple(names.labels[k] for k in np.argsort(order))  # in the order of (psi, q)
        Cp, Cv = output_rows(craft, q, moments, own, outputs)
        structure = structure.with_outputs(Cp[:, order], Cv[:, order], outputs)
    trim = -_rest_force(craft, q, moments, turning)
    motion = _velocities(craft, moments)[:, order]
    return OrbitModel(structure, trim[order], moments.mass, moments.com, moments.J, rate, motion)


def trim_in_orbit(
    craft: Spacecraft,
    orbit: CircularOrbit,
    q: ArrayLike | None = None,
    *,
    attitude: ArrayLike | None = None,
    free_joints: Sequence[str] = (),
    iterations: int = 30,
) -> tuple[np.ndarray, np.ndarray]:
    """(q, R_OB) of the equilibrium near a reference; attitude, modes and `free_joints` vary, other joints are held."""
    q = np.zeros(craft.layout.nq) if q is None else np.array(q, dtype=float)
    R_OB, rate = _attitude(attitude), _rate(orbit)
    craft.layout.require_moving(free_joints)
    moving = [*craft.layout.modes, *free_joints]
    places = [k for name in moving for k in range(*craft.layout.positions[name].indices(len(q)))]
    free = np.array([0, 1, 2, *(3 + k for k in places)], dtype=int)
    for _ in range(iterations):
        moments, turning = displacement_moments(craft, q), _OrbitalFrame(-rate, R_OB[1], R_OB[2])
        force = _rest_force(craft, q, moments, turning)[free]
        K = _stiffness(craft, q, moments, turning, "exact")[np.ix_(free, free)]
        step = _solve(craft, K, force)
        R_OB = R_OB @ _rotation(step[:3])
        q[places] += step[3:]
        if np.max(np.abs(step)) < 1e-13:
            return q, R_OB
    raise _equilibrium_error(craft)


def _solve(craft: Spacecraft, K: np.ndarray, force: np.ndarray) -> np.ndarray:
    size = np.sqrt(np.maximum(np.abs(np.diag(K)), 1e-300))
    scaled = K / np.multiply.outer(size, size)
    if np.linalg.cond(scaled) > 1e13:
        raise _equilibrium_error(craft)
    return np.linalg.solve(scaled, force / size) / size


def _equilibrium_error(craft: Spacecraft) -> ModelError:
    return ModelError(
        f"Spacecraft '{craft.name}' found no equilibrium in orbit near this reference. "
        "Start nearer to one: long axis along the vertical, axis of most inertia along the orbit normal."
    )


def _velocities(craft: Spacecraft, moments: DisplacementMoments) -> np.ndarray:
    """Matrix from rates of (psi, q) to v relative to the orbital frame, with the centre of mass at rest."""
    layout = craft.layout
    found = np.zeros((layout.nv, 3 + layout.nq))
    found[:3, :3], found[:3, 3:], found[3:6, :3] = _skew(moments.com), -moments.com_motion, np.eye(3)
    for name, at in layout.positions.items():
        places = np.arange(layout.nq)[at]
        found[np.arange(layout.nv)[layout.velocities[name]], 3 + places] = 1.0
    return found


# ---- the blocks


@dataclass(frozen=True)
class _OrbitalFrame:
    """The orbital frame: its rate about the axis y of O, and unit vectors of y and z (nadir), base axes."""

    about_y: float  # [rad/s]; O turns with -n about its y
    y: np.ndarray
    nadir: np.ndarray

    @property
    def omega(self) -> np.ndarray:
        """Angular velocity, base axes [rad/s]."""
        return self.about_y * self.y

    @property
    def field(self) -> np.ndarray:
        """(3, 3): acceleration of a free point per metre from the centre, seen in the turning frame [1/s2]."""
        return self.about_y**2 * (3.0 * np.outer(self.nadir, self.nadir) - np.outer(self.y, self.y))


def _inertia(moments: DisplacementMoments) -> np.ndarray:
    return np.block([[moments.J, moments.spin], [moments.spin.T, moments.inertia]])


def _gyroscopic(moments: DisplacementMoments, turning: _OrbitalFrame) -> np.ndarray:
    w, J = turning.omega, moments.J
    W = _skew(w)
    on_attitude = J @ W + W @ J - _skew(J @ w)
    across = moments.inertia_slope(w) + W @ moments.spin
    return np.block([[on_attitude, across], [-across.T, 2.0 * moments.twirl @ w]])


def _stiffness(
    craft: Spacecraft, q: np.ndarray, moments: DisplacementMoments, turning: _OrbitalFrame, gradient: str
) -> np.ndarray:
    J, w, c, n = moments.J, turning.omega, turning.nadir, turning.about_y
    W, N = _skew(w), _skew(c)
    attitude = W @ J @ W - _skew(J @ w) @ W + 3.0 * n**2 * (_skew(J @ c) @ N - N @ J @ N)
    across, own = np.zeros((3, len(q))), _elastic_stiffness(craft)
    if gradient != "paper":
        across = W @ moments.inertia_slope(w) - 3.0 * n**2 * N @ moments.inertia_slope(c)
        own = own - np.einsum("ijab,ab->ij", moments.DD, turning.field)
    if gradient == "exact":
        own = own + tidal_stiffness(craft, q, moments, turning.field)
    return np.block([[attitude, across], [across.T, own]])


def _rest_force(craft: Spacecraft, q: np.ndarray, moments: DisplacementMoments, turning: _OrbitalFrame) -> np.ndarray:
    """Torque about the centre of mass and generalised forces that act on the reference at rest in orbit."""
    J, w, c = moments.J, turning.omega, turning.nadir
    torque = 3.0 * turning.about_y**2 * np.cross(c, J @ c) - np.cross(w, J @ w)
    return np.concatenate([torque, np.einsum("jab,ab->j", moments.XD, turning.field) - _elastic_stiffness(craft) @ q])


def _elastic_stiffness(craft: Spacecraft) -> np.ndarray:
    return _modal_blocks(craft, "stiffness")


def _damping(craft: Spacecraft) -> np.ndarray:
    found = _modal_blocks(craft, "damping")
    for joint in craft.joints:
        ratio = 1.0 if joint.follows is None else joint.follows.ratio
        at = craft.layout.positions[joint.name if joint.follows is None else joint.follows.leader]
        found[at, at] += joint.damping * ratio**2
    return found


def _modal_blocks(craft: Spacecraft, matrix: str) -> np.ndarray:
    found = np.zeros((craft.layout.nq, craft.layout.nq))
    for body in flexible_bodies(craft):
        at = craft.layout.positions[f"{body.name}.modes"]
        found[at, at] = np.asarray(getattr(body, matrix))
    return found


def _modal_damping(craft: Spacecraft, M: np.ndarray, ratio: float) -> np.ndarray:
    """Damping matrix with one ratio for every mode of the whole spacecraft, attitude and joints held."""
    places = [k for name in craft.layout.modes for k in range(*craft.layout.positions[name].indices(craft.layout.nq))]
    block = np.ix_([3 + k for k in places], [3 + k for k in places])
    m, found = M[block], np.zeros_like(M)
    squared, shapes = eigh(_elastic_stiffness(craft)[np.ix_(places, places)], m)
    momenta = m @ shapes
    found[block] = (momenta * (2.0 * ratio * np.sqrt(np.maximum(squared, 0.0)))) @ momenta.T
    return found


def _rate(orbit: CircularOrbit) -> float:
    if not isinstance(orbit, CircularOrbit):
        raise ModelError(
            "Only a circular orbit turns evenly, so that small motion has constant coefficients. Give one."
        )
    return float(orbit.rate)


def _attitude(attitude: ArrayLike | None) -> np.ndarray:
    R_OB = np.eye(3) if attitude is None else np.asarray(attitude, dtype=float)
    if R_OB.shape != (3, 3) or np.max(np.abs(R_OB.T @ R_OB - np.eye(3))) > 1e-9 or np.linalg.det(R_OB) < 0.0:
        raise ModelError(f"The attitude in orbit must be a rotation matrix R_OB (3, 3), got {R_OB.tolist()}.")
    return R_OB


def _rotation(turn: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(turn).as_matrix()


def _skew(v: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])

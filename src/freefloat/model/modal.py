"""Flexible bodies in a floating frame of reference: rigid motion of the frame plus small modal deformation.

A material point at rest position x moves to

    u(x) = x + sum_j phi_j(x) b_j + 1/2 sum_ij chi_ij(x) b_i b_j

in the body frame, with modal coordinates b. The quadratic field chi is the foreshortening of a bending body (a
beam's axis does not stretch); without it the body has no geometric stiffening. Kinetic energy keeps every term up
to second order in (b, b') (docs/theory-flexible.md).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from freefloat.model.shapes import Skin
from freefloat.values import quiet, record, static
from freefloat.values.arrays import Mat3, Matrix, Numeric, Scalar, Vec3, is_traced
from freefloat.values.errors import ModelError

ModeShapes = Float[Numeric, "3 modes"]


@record
class Node:
    """A place on a flexible body where frames and joints attach: it moves and turns with the modes."""

    name: str = static()
    position: Vec3  # at rest, body frame [m]
    translation: ModeShapes  # phi_j(x)
    rotation: ModeShapes  # small rotation vector per unit modal coordinate [rad]
    foreshortening: Float[Numeric, "3 modes modes"]  # chi_ij(x); zeros where there is no stiffening


@record
class Rail:
    """A track along a flexible body: where a carriage is, and how the modes move it there, at evenly spaced stations.

    Between stations everything is interpolated by cubic Hermite polynomials, so a slope comes with every value.
    """

    start: Scalar | float  # first station [m]
    spacing: Scalar | float  # between stations [m]
    position: Float[Numeric, "stations 3"]  # at rest [m]
    position_slope: Float[Numeric, "stations 3"]  # per metre along the rail
    translation: Float[Numeric, "stations 3 modes"]  # phi_j
    translation_slope: Float[Numeric, "stations 3 modes"]
    rotation: Float[Numeric, "stations 3 modes"]  # [rad] per unit modal coordinate
    rotation_slope: Float[Numeric, "stations 3 modes"]


@record
class ModalBody:
    """A flexible body by its modal integrals about the origin of its frame, at rest (docs/theory-flexible.md)."""

    name: str = static()
    mass: Scalar | float  # [kg]
    moment: Vec3  # int x dm [kg m]
    second_moment: Mat3  # int x x^T dm [kg m2]
    modal_moment: ModeShapes  # int phi_j dm
    mixed_moment: Float[Numeric, "modes 3 3"]  # int x phi_j^T dm
    pair_moment: Float[Numeric, "modes modes 3 3"]  # int phi_i phi_j^T dm; zeros: inertia known to first order only
    modal_mass: Float[Numeric, "modes modes"]  # int phi_i . phi_j dm
    stiffness: Float[Numeric, "modes modes"]
    damping: Float[Numeric, "modes modes"]
    short_moment: Float[Numeric, "modes modes 3"]  # int chi_ij dm; zeros where there is no stiffening
    short_mixed_moment: Float[Numeric, "modes modes 3 3"]  # int x chi_ij^T dm
    nodes: tuple[Node, ...] = ()
    rail: Rail | None = None
    mode_names: tuple[str, ...] = static(default=())
    skin: Skin | None = quiet(default=None)  # its picture; None: lines through its nodes
    first_order: bool = static(default=False)  # shapes unknown: the inertia does not change with deformation

    @property
    def modes(self) -> int:
        """Number of modal coordinates."""
        return self.modal_mass.shape[0]

    @property
    def com(self) -> Vec3:
        """Centre of mass at rest [m]."""
        return self.moment / self.mass

    @property
    def inertia(self) -> Mat3:
        """Inertia about the centre of mass at rest [kg m2]."""
        central = self.second_moment - self.mass * np.outer(np.asarray(self.com), np.asarray(self.com))
        return np.trace(central) * np.eye(3) - central

    @property
    def node_names(self) -> tuple[str, ...]:
        """Names of the nodes."""
        return tuple(node.name for node in self.nodes)

    def node(self, name: str) -> Node:
        """The node of that name."""
        for node in self.nodes:
            if node.name == name:
                return node
        known = ", ".join(self.node_names) or "none"
        raise ModelError(f"Flexible body '{self.name}' has no node '{name}'. Nodes: {known}.")

    def frequencies(self) -> Numeric:
        """Natural frequencies [rad/s] with the body frame held, ascending."""
        from scipy.linalg import eigh

        squared = eigh(np.asarray(self.stiffness), np.asarray(self.modal_mass), eigvals_only=True)
        return np.sqrt(np.maximum(squared, 0.0))


def require_possible_body(body: object) -> None:
    """Raise an error for a flexible body that cannot exist; other parts are checked when they are built."""
    if isinstance(body, ModalBody) and not is_traced(body) and (faults := modal_faults(body)):
        raise ModelError(f"Flexible body '{body.name}': " + "; ".join(faults) + ".")


def modal_faults(body: ModalBody) -> list[str]:
    """Everything that is impossible about a flexible body's numbers."""
    faults = []
    mass, stiffness, damping = (np.asarray(m, dtype=float) for m in (body.modal_mass, body.stiffness, body.damping))
    for label, matrix in (("modal mass", mass), ("stiffness", stiffness), ("damping", damping)):
        if not np.all(np.isfinite(matrix)):
            faults.append(f"its {label} matrix has numbers that are not finite")
        elif matrix.size and np.max(np.abs(matrix - matrix.T)) > 1e-9 * max(np.max(np.abs(matrix)), 1e-300):
            faults.append(f"its {label} matrix is not symmetric")
    if faults or not body.modes:
        return faults
    # The modes need inertia; a thin rod has none about its own axis, which is fine: another body gives it.
    smallest = min(_smallest_scaled(mass) - 1e-12, _smallest_scaled(_rest_inertia(body)) + 1e-9)
    if smallest <= 0.0:
        faults.append(f"its mass matrix at rest is indefinite (smallest scaled eigenvalue {smallest:g})")
    largest = max(float(np.max(np.abs(stiffness))), 1e-300)
    if (softest := np.linalg.eigvalsh(stiffness)[0]) < -1e-9 * largest:
        faults.append(f"its stiffness matrix has a negative eigenvalue, {softest:g}")
    if np.linalg.eigvalsh(damping)[0] < -1e-9 * max(float(np.max(np.abs(damping))), 1e-300):
        faults.append("its damping matrix has a negative eigenvalue: it would create energy")
    return faults


def _smallest_scaled(matrix: Matrix) -> float:
    """Smallest eigenvalue with a unit diagonal, so that metres, radians and modes of any normalisation compare."""
    size = np.sqrt(np.abs(np.diag(matrix)))
    size = np.where(size > 0.0, size, 1.0)
    return float(np.linalg.eigvalsh(matrix / np.multiply.outer(size, size))[0])


def _rest_inertia(body: ModalBody) -> Matrix:
    """The (6 + modes) square inertia at rest, as NumPy."""
    S, P = np.asarray(body.moment), np.asarray(body.second_moment)
    cross = np.array([[0.0, -S[2], S[1]], [S[2], 0.0, -S[0]], [-S[1], S[0], 0.0]])
    mixed = np.asarray(body.mixed_moment)
    turning = np.stack(
        [mixed[:, 1, 2] - mixed[:, 2, 1], mixed[:, 2, 0] - mixed[:, 0, 2], mixed[:, 0, 1] - mixed[:, 1, 0]]
    )
    rigid = np.block([[float(body.mass) * np.eye(3), -cross], [cross, np.trace(P) * np.eye(3) - P]])
    coupling = np.vstack([np.asarray(body.modal_moment), turning])
    return np.block([[rigid, coupling], [coupling.T, np.asarray(body.modal_mass)]])

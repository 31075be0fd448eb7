"""Sums over the mass of a spacecraft: where it is, and how each coordinate displaces it, about the centre of mass.

A material point at X (from the centre of mass, base axes) moves by D_j per unit of coordinate q_j, the base frame
standing still and the centre of mass with it. From the sums of X X^T, X D_j^T and D_i D_j^T follow mass matrix,
gyroscopic and tidal terms of small motion in a turning frame. In plain NumPy, from the modal integrals.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np

from freefloat.dynamics.tree import Edge, edges, rotor_inertias
from freefloat.model import ModalBody, Spacecraft
from freefloat.values.arrays import Vector
from freefloat.values.compiling import compiled_on_call

_MANY = 100_000  # numbers of a spacecraft; with more than these as inputs, code is compiled slower than by JAX
_compiled_edges = compiled_on_call(edges)


@dataclass(frozen=True)
class BodyMoments:
    """One body: its pose in the base frame, how coordinates move its frame, and the integrals over its points x.

    x is counted from the body's origin in its own axes, deformed as it stands; phi_k is its displacement per own mode.
    """

    R: np.ndarray  # R_BL
    p: np.ndarray  # p_BL [m]
    moving: np.ndarray  # (3, nq) of the origin, base axes
    turning: np.ndarray  # (3, nq) of the frame, base axes
    modes: np.ndarray  # indices of its own modes in q
    mass: float
    x: np.ndarray  # int x (3)
    xx: np.ndarray  # int x x^T (3, 3)
    phi: np.ndarray  # int phi_k (modes, 3)
    xphi: np.ndarray  # int x phi_k^T (modes, 3, 3)
    phiphi: np.ndarray  # int phi_k phi_l^T (modes, modes, 3, 3)
    modal_mass: np.ndarray  # int phi_k . phi_l
    chi: np.ndarray  # int of the second-order field (modes, modes, 3)
    xchi: np.ndarray  # int x chi_kl^T (modes, modes, 3, 3)

    @property
    def gradient(self) -> np.ndarray:
        """Displacement per unit x from the turning of the frame, base axes, (nq, 3, 3)."""
        return np.cross(self.turning.T[:, :, None], self.R[None], axis=1)


@dataclass(frozen=True)
class DisplacementMoments:
    """Sums over all bodies about the centre of mass, base axes."""

    bodies: tuple[BodyMoments, ...]
    mass: float  # [kg]
    com: np.ndarray  # p_BC [m]
    com_motion: np.ndarray  # (3, nq) of the centre of mass in the base frame
    XX: np.ndarray  # sum of X X^T (3, 3)
    XD: np.ndarray  # sum of X_a D_jb (nq, 3, 3)
    DD: np.ndarray  # sum of D_ia D_jb (nq, nq, 3, 3)
    inertia: np.ndarray  # (nq, nq) sum of D_i . D_j, with rotors

    @property
    def J(self) -> np.ndarray:
        """Inertia about the centre of mass [kg m2]."""
        return np.trace(self.XX) * np.eye(3) - self.XX

    @property
    def spin(self) -> np.ndarray:
        """Angular momentum about the centre of mass per unit coordinate rate, sum of X x D_j, (3, nq)."""
        T = self.XD
        return np.stack([T[:, 1, 2] - T[:, 2, 1], T[:, 2, 0] - T[:, 0, 2], T[:, 0, 1] - T[:, 1, 0]])

    def inertia_slope(self, axis: np.ndarray) -> np.ndarray:
        """Derivative dJ/dq_j of the inertia times an axis, (3, nq)."""
        both = self.XD + np.swapaxes(self.XD, 1, 2)
        return (np.einsum("jaa,b->bj", both, axis) - np.einsum("jab,b->aj", both, axis)).copy()

    @property
    def twirl(self) -> np.ndarray:
        """Sum of D_j x D_i at [i, j], (nq, nq, 3)."""
        T = self.DD  # [i, j, a, b] = D_ia D_jb
        pairs = ((2, 1), (0, 2), (1, 0))  # (D_j x D_i)_x = D_jy D_iz - D_jz D_iy
        return np.stack([T[:, :, a, b] - T[:, :, b, a] for a, b in pairs], axis=2)


def displacement_moments(craft: Spacecraft, q: Vector) -> DisplacementMoments:
    """Displacement moments of a spacecraft at a configuration; wheels are locked to their bodies."""
    bodies = body_moments(craft, np.asarray(q, dtype=float))
    mass = float(sum(body.mass for body in bodies))
    com = np.sum([body.mass * body.p + body.R @ body.x for body in bodies], axis=0) / mass
    com_motion = np.sum([_displacement_sum(body) for body in bodies], axis=0) / mass
    nq, coordinates = craft.layout.nq, np.array(craft.layout.coordinates, dtype=int)
    XX, XD, DD = np.zeros((3, 3)), np.zeros((nq, 3, 3)), np.zeros((nq, nq, 3, 3))
    inertia = np.diag(np.asarray(rotor_inertias(craft))[coordinates])
    for body in bodies:
        XX += _position_pairs(body, com)
        XD += _mixed_pairs(body, com)
        pairs = _displacement_pairs(body)
        DD += pairs
        inertia += np.einsum("ijaa->ij", pairs)
        # A body whose inertia is given to first order only has modal mass nevertheless.
        own = np.ix_(body.modes, body.modes)
        inertia[own] += body.modal_mass - np.einsum("klaa->kl", body.phiphi)
    DD -= mass * np.einsum("ai,bj->ijab", com_motion, com_motion)
    inertia -= mass * com_motion.T @ com_motion
    return DisplacementMoments(bodies, mass, com, com_motion, XX, XD, DD, inertia)


# ---- one body


def _edges_at(craft: Spacecraft, q: np.ndarray) -> tuple[Edge, ...]:
    if sum(np.size(leaf) for leaf in jax.tree.leaves(craft)) < _MANY:
        return _compiled_edges(craft, q)
    return jax.jit(lambda at: edges(craft, at))(q)


def body_moments(craft: Spacecraft, q: np.ndarray) -> tuple[BodyMoments, ...]:
    """Poses, motion and integrals of every body, in tree order."""
    nq, column = craft.layout.nq, {dof: k for k, dof in enumerate(craft.layout.coordinates)}
    poses = [(np.eye(3), np.zeros(3))]
    motions = [(np.zeros((3, nq)), np.zeros((3, nq)))]
    for edge, parent in zip(_edges_at(craft, q), craft.parents[1:], strict=True):
        (R_P, p_P), (move, turn) = poses[parent], motions[parent]
        offset = R_P @ np.asarray(edge.X_PB.p)
        R, own = R_P @ np.asarray(edge.X_PB.R), np.asarray(edge.columns)
        move, turn = move + np.cross(turn.T, offset).T, turn.copy()
        for k, dof in enumerate(edge.dofs):
            move[:, column[dof]] += R @ own[:3, k]
            turn[:, column[dof]] += R @ own[3:, k]
        poses.append((R, p_P + offset))
        motions.append((move, turn))
    return tuple(
        _integrals(craft, body, q, *pose, *motion)
        for body, pose, motion in zip(craft.bodies, poses, motions, strict=True)
    )


def _integrals(
    craft: Spacecraft, body: object, q: np.ndarray, R: np.ndarray, p: np.ndarray, move: np.ndarray, turn: np.ndarray
) -> BodyMoments:
    if isinstance(body, ModalBody) and body.modes:
        at = craft.layout.positions[f"{body.name}.modes"]
        modes, b = np.arange(at.start, at.stop), q[at]
    else:
        modes, b = np.zeros(0, dtype=int), np.zeros(0)
    if not isinstance(body, ModalBody):
        m, c = float(body.mass), np.asarray(body.com)  # pyright: ignore[reportAttributeAccessIssue]
        J = np.asarray(body.inertia)  # pyright: ignore[reportAttributeAccessIssue]
        xx = 0.5 * np.trace(J) * np.eye(3) - J + m * np.outer(c, c)
        empty = [np.zeros(shape) for shape in ((0, 3), (0, 3, 3), (0, 0, 3, 3), (0, 0), (0, 0, 3), (0, 0, 3, 3))]
        return BodyMoments(R, p, move, turn, modes, m, m * c, xx, *empty)
    short, short_mixed = np.asarray(body.short_moment), np.asarray(body.short_mixed_moment)
    pair, mixed = np.asarray(body.pair_moment), np.asarray(body.mixed_moment)
    bent_short, bent_mixed = np.tensordot(b, short, 1), np.tensordot(b, short_mixed, 1)
    bent_pair = np.tensordot(b, pair, 1)  # (modes, 3, 3): int (phi b) phi_k^T
    stretched = np.tensordot(b, mixed + 0.5 * bent_mixed, 1)
    return BodyMoments(
        R,
        p,
        move,
        turn,
        modes,
        float(body.mass),
        np.asarray(body.moment) + np.asarray(body.modal_moment) @ b + 0.5 * b @ bent_short,
        np.asarray(body.second_moment) + stretched + stretched.T + np.tensordot(b, bent_pair, 1),
        np.asarray(body.modal_moment).T + bent_short,
        mixed + bent_pair + bent_mixed,
        pair,
        np.asarray(body.modal_mass),
        short,
        short_mixed,
    )


def _displacement_sum(body: BodyMoments) -> np.ndarray:
    """Sum of displacements over the mass of a body, (3, nq)."""
    total = body.mass * body.moving + np.cross(body.turning.T, body.R @ body.x).T
    total[:, body.modes] += body.R @ body.phi.T
    return total


def _position_pairs(body: BodyMoments, com: np.ndarray) -> np.ndarray:
    a, s = body.p - com, body.R @ body.x
    return body.mass * np.outer(a, a) + np.outer(a, s) + np.outer(s, a) + body.R @ body.xx @ body.R.T


def _mixed_pairs(body: BodyMoments, com: np.ndarray) -> np.ndarray:
    """Sum of X_a D_jb, (nq, 3, 3); taking the mean of D off would change nothing, since X has none over all."""
    a, R = body.p - com, body.R
    first, turned = body.mass * a + R @ body.x, np.outer(a, body.x) + R @ body.xx  # int X, int X x^T
    found = np.einsum("a,bj->jab", first, body.moving) + np.einsum("ac,jbc->jab", turned, body.gradient)
    found[body.modes] += np.einsum("a,kb->kab", a, body.phi @ R.T) + R @ body.xphi @ R.T
    return found


def _displacement_pairs(body: BodyMoments) -> np.ndarray:
    """Sum of D_ia D_jb, (nq, nq, 3, 3), before the part of the centre of mass is taken off."""
    c, g, R, own = body.moving.T, body.gradient, body.R, body.modes
    along = np.einsum("iac,c->ia", g, body.x)
    half = 0.5 * body.mass * np.einsum("ia,jb->ijab", c, c) + np.einsum("ia,jb->ijab", c, along)
    half += 0.5 * np.einsum("iac,cd,jbd->ijab", g, body.xx, g, optimize=True)
    if len(own):
        phi = body.phi @ R.T
        to_own = np.einsum("ia,kb->ikab", c, phi) + np.einsum("iac,kcd,bd->ikab", g, body.xphi, R, optimize=True)
        half[:, own] += to_own
        half[np.ix_(own, own)] += 0.5 * np.einsum("ac,klcd,bd->klab", R, body.phiphi, R, optimize=True)
    return half + np.transpose(half, (1, 0, 3, 2))

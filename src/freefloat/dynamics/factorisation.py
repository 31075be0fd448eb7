"""The mass matrix as a product, leaf first: what solving it for several forces at once needs.

M = L D L^T over the dofs that are free. `reduce` turns forces F into z = L^-1 F, so that F^T M^-1 F = z^T D^-1 z;
`expand` turns z into the answer M^-1 F = L^-T D^-1 z. A connection needs both, and M^-1 J^T is never formed.
"""

from __future__ import annotations

from typing import TypeAlias

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.articulated import ArticulatedInertia
from freefloat.dynamics.mass_matrix import mass_matrix
from freefloat.dynamics.tree import Edge, ExtendedInertia, edges, extended_inertias, rotor_inertias
from freefloat.model import Spacecraft
from freefloat.values import record, static
from freefloat.values.arrays import Matrix, Numeric, Scalar, Vec6, Vector

PrescribedDofs: TypeAlias = tuple[int, ...]  # dofs that follow a prescribed motion


@record
class DenseFactor:
    """Factors L D L^T of a matrix, the last coordinate eliminated first."""

    free: PrescribedDofs = static()  # the dofs in the matrix
    size: int = static()  # of all dofs
    columns: tuple[Vector, ...]  # of L, last first
    reciprocals: Vector  # 1 / D, last first

    @staticmethod
    def of(A: Matrix, free: PrescribedDofs, size: int) -> DenseFactor:
        """Factorise A, which belongs to some dofs out of `size`."""
        reciprocals, columns = [], []
        for k in range(A.shape[0] - 1, -1, -1):
            reciprocals.append(1.0 / A[k, k])
            columns.append(A[:k, k] * reciprocals[-1])
            A = A[:k, :k] - jnp.outer(columns[-1], A[:k, k])
        return DenseFactor(free=free, size=size, columns=tuple(columns), reciprocals=_stack(reciprocals))

    @property
    def weights(self) -> Vector:
        """Weights 1 / D in the order of z."""
        return self.reciprocals

    def reduce(self, forces: Matrix) -> Matrix:
        """Reduced forces z (free, m) from forces (nv, m)."""
        F, z = forces[np.array(self.free, dtype=int)], []
        for column in self.columns:
            z.append(F[-1])
            F = F[:-1] - column[:, None] * z[-1]
        return _rows(z, forces.shape[1])

    def expand(self, z: Vector) -> Vector:
        """Answer M^-1 F (nv) from the z (free) of one force; zero at prescribed dofs."""
        x, scaled = jnp.zeros(0), z * self.reciprocals
        for k in range(len(self.free) - 1, -1, -1):
            x = jnp.append(x, scaled[k] - self.columns[k] @ x)
        return jnp.zeros(self.size).at[np.array(self.free, dtype=int)].set(x)


@record
class ReleasedDof:
    """One dof of an articulated body, which gives way along the column S."""

    dof: int = static()
    S: Vec6  # twist per unit rate
    U: Vec6  # inertia @ S
    reciprocal: Scalar  # 1 / (S . U + rotor)


@record
class ArticulatedFactor:
    """The mass matrix factorised by articulated bodies: linear in their number. Rigid bodies and wheels."""

    parents: PrescribedDofs = static()
    size: int = static()
    links: tuple[Edge, ...]
    wheels: tuple[tuple[ReleasedDof, ...], ...]  # of each body; U is the coupling
    joints: tuple[tuple[ReleasedDof, ...], ...]  # of each link
    base: DenseFactor  # of the six speeds of the base, or of none

    @property
    def weights(self) -> Vector:
        """Weights 1 / D in the order of z: wheels, joints from the last one inward, base."""
        loose = [*(w for body in self.wheels for w in body), *(j for link in self.joints[::-1] for j in link)]
        return jnp.concatenate([_stack([dof.reciprocal for dof in loose]), self.base.weights])

    def reduce(self, forces: Matrix) -> Matrix:
        """Reduced forces z from forces (nv, m): what acts on each dof after everything outboard has given way."""
        columns = forces.shape[1]
        wrenches, z = [jnp.zeros((6, columns)) for _ in self.parents], []
        for i, wheels in enumerate(self.wheels):
            for wheel in wheels:
                z.append(forces[wheel.dof])
                wrenches[i] = wrenches[i] + wheel.U[:, None] * (wheel.reciprocal * z[-1])
        for i in range(len(self.links), 0, -1):
            for joint in self.joints[i - 1]:
                z.append(forces[joint.dof] - joint.S @ wrenches[i])
                wrenches[i] = wrenches[i] + joint.U[:, None] * (joint.reciprocal * z[-1])
            parent = self.parents[i]
            wrenches[parent] = wrenches[parent] + self.links[i - 1].X_PB.wrench_to_A(wrenches[i])
        on_base = self.base.reduce(forces[:6] - wrenches[0])
        return jnp.concatenate([_rows(z, columns), on_base])

    def expand(self, z: Vector) -> Vector:
        """Answer M^-1 F (nv) from the z of one force; zero at prescribed dofs."""
        own = len(self.base.free)
        x = jnp.zeros(self.size).at[:6].set(self.base.expand(z[z.shape[0] - own :]))
        rates, last = [x[:6]], z.shape[0] - own
        for link, joints, parent in zip(self.links, self.joints, self.parents[1:], strict=True):
            rate = link.X_PB.twist_to_B(rates[parent])
            for joint in reversed(joints):
                last = last - 1
                x = x.at[joint.dof].set((z[last] - joint.U @ rate) * joint.reciprocal)
                rate = rate + joint.S * x[joint.dof]
            rates.append(rate)
        first = 0
        for wheels, rate in zip(self.wheels, rates, strict=True):
            for wheel in wheels:
                x = x.at[wheel.dof].set((z[first] - wheel.U @ rate) * wheel.reciprocal)
                first += 1
        return x


Factor: TypeAlias = DenseFactor | ArticulatedFactor


def factorise(craft: Spacecraft, q: Vector, given: PrescribedDofs = ()) -> Factor:
    """Factorise the mass matrix at q; dofs in `given` follow a prescribed motion and respond to no force."""
    base_free = [d not in given for d in range(6)]
    wheels_free = not set(given) & {*craft.layout.wheel_velocities, *craft.layout.motor_velocities}
    if craft.is_rigid and not craft.has_followers and wheels_free and len(set(base_free)) == 1:
        return _articulate(craft, q, given)
    free = tuple(d for d in range(craft.layout.nv) if d not in given)
    at = np.array(free, dtype=int)
    return DenseFactor.of(mass_matrix(craft, q)[np.ix_(at, at)], free, craft.layout.nv)


def _articulate(craft: Spacecraft, q: Vector, given: PrescribedDofs) -> ArticulatedFactor:
    links, rotors = edges(craft, q), rotor_inertias(craft)
    inertias, wheels = [], []
    for body in extended_inertias(craft, q):
        inertia, loose = _release_wheels(body)
        inertias.append(inertia)
        wheels.append(loose)
    joints: list[tuple[ReleasedDof, ...]] = []
    for i in range(len(links), 0, -1):
        edge, parent, inertia, loose = links[i - 1], craft.parents[i], inertias[i], []
        for k, dof in enumerate(edge.dofs):
            if dof in given:
                continue
            S = edge.columns[:, k]
            U = inertia @ S
            loose.append(ReleasedDof(dof=dof, S=S, U=U, reciprocal=1.0 / (S @ U + rotors[dof])))
            inertia = inertia.without(U, U * loose[-1].reciprocal)
        joints.append(tuple(loose))
        inertias[parent] = inertias[parent] + inertia.to_A(edge.X_PB)
    free = () if 0 in given else tuple(range(6))
    at = np.array(free, dtype=int)
    return ArticulatedFactor(
        parents=craft.parents,
        size=craft.layout.nv,
        links=links,
        wheels=tuple(wheels),
        joints=tuple(joints[::-1]),
        base=DenseFactor.of(inertias[0].matrix()[np.ix_(at, at)], free, 6),
    )


def _release_wheels(body: ExtendedInertia) -> tuple[ArticulatedInertia, tuple[ReleasedDof, ...]]:
    """Inertia of a body that is left when its wheels give way, and the dofs of the wheels."""
    inertia, loose = ArticulatedInertia.of(body.rigid), []
    for k, dof in enumerate(body.dofs):
        U, reciprocal = body.coupling[:, k], 1.0 / body.own[k, k]
        loose.append(ReleasedDof(dof=dof, S=np.zeros(6), U=U, reciprocal=reciprocal))
        inertia = inertia.without(U, U * reciprocal)
    return inertia, tuple(loose)


def _stack(values: list[Scalar]) -> Vector:
    return jnp.stack(values) if values else jnp.zeros(0)


def _rows(values: list[Numeric], columns: int) -> Matrix:
    return jnp.stack(values) if values else jnp.zeros((0, columns))

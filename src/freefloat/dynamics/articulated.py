"""Forward dynamics by articulated bodies: linear in the number of bodies. Rigid bodies and wheels."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.solve import spd_solve
from freefloat.dynamics.tree import base_entries, edges, extended_inertias, rotor_inertias, select_entries
from freefloat.model import Spacecraft
from freefloat.spatial import Pose, SpatialInertia, angular, cross_force, cross_motion, linear, six
from freefloat.spatial.rotations import skew, symmetric
from freefloat.values import ModelError, record
from freefloat.values.arrays import Mat3, Vec6, Vector
from freefloat.values.compiling import compiled_on_call


@record
class ArticulatedInertia:
    """A symmetric 6x6 inertia [[M, H^T], [H, J]] kept as its three blocks."""

    M: Mat3
    H: Mat3
    J: Mat3

    @staticmethod
    def of(rigid: SpatialInertia) -> ArticulatedInertia:
        """Articulated inertia of a rigid body."""
        return ArticulatedInertia(M=rigid.mass * jnp.eye(3), H=skew(rigid.moment), J=rigid.inertia)

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(M=self.M + other.M, H=self.H + other.H, J=self.J + other.J)

    def __matmul__(self, A: Vec6) -> Vec6:
        a, w = linear(A), angular(A)
        return six(self.M @ a + self.H.T @ w, self.H @ a + self.J @ w)

    def without(self, U: Vec6, scaled: Vec6) -> ArticulatedInertia:
        """The inertia that is left when a dof gives way: this one minus U scaled^T."""
        return ArticulatedInertia(
            M=symmetric(self.M - jnp.outer(linear(U), linear(scaled))),
            H=self.H - jnp.outer(angular(U), linear(scaled)),
            J=symmetric(self.J - jnp.outer(angular(U), angular(scaled))),
        )

    def to_A(self, X_PB: Pose) -> ArticulatedInertia:
        """This inertia about the parent's origin, in the parent's axes."""
        R, P = X_PB.R, skew(X_PB.p)
        M, H, J = symmetric(R @ self.M @ R.T), R @ self.H @ R.T, symmetric(R @ self.J @ R.T)
        shifted = H + P @ M
        return ArticulatedInertia(M=M, H=shifted, J=symmetric(J + P @ H.T - shifted @ P))

    def matrix(self) -> jnp.ndarray:
        """The full 6x6 matrix."""
        return jnp.block([[self.M, self.H.T], [self.H, self.J]])


@compiled_on_call
def articulated_forward_dynamics(craft: Spacecraft, q: Vector, v: Vector, force: Vector) -> Vector:
    """Acceleration vdot (nv) of a rigid tree under the generalised force; base wrench in body axes."""
    if craft.has_followers:
        raise ModelError(
            f"Spacecraft '{craft.name}' has joints that share a coordinate, which do not give way one by one. "
            "Use forward_dynamics."
        )
    links, bodies, parents = edges(craft, q), extended_inertias(craft, q), craft.parents
    on_base, rotors = base_entries(craft, force, "force"), rotor_inertias(craft)

    # Outward: twists, and the rate each joint adds by moving in a moving frame.
    twists, drifts = [base_entries(craft, v)], [jnp.zeros(6)]
    for edge, parent in zip(links, parents[1:], strict=True):
        relative = edge.columns @ select_entries(v, edge.dofs)
        twists.append(edge.X_PB.twist_to_B(twists[parent]) + relative)
        drifts.append(cross_motion(twists[-1], relative))

    # Each body alone; its wheels give way to their motors' torques and only react.
    inertias, wrenches = [], []
    for body, twist in zip(bodies, twists, strict=True):
        momentum = body.rigid @ twist + body.coupling @ select_entries(v, body.dofs)
        inertia, wrench = ArticulatedInertia.of(body.rigid), cross_force(twist, momentum)
        for k, dof in enumerate(body.dofs):
            scaled = body.coupling[:, k] / body.own[k, k]
            inertia, wrench = inertia.without(body.coupling[:, k], scaled), wrench + scaled * force[dof]
        inertias.append(inertia)
        wrenches.append(wrench)

    # Inward: each joint gives way to its torque, the rest is carried by the parent.
    effective = {}
    for i in range(len(links), 0, -1):
        edge, parent = links[i - 1], parents[i]
        inertia, wrench = inertias[i], wrenches[i]
        gave_way = np.zeros(6)
        for k, dof in enumerate(edge.dofs):
            S = edge.columns[:, k]
            U = inertia @ S
            reciprocal = 1.0 / (S @ U + rotors[dof])
            torque = force[dof] - S @ wrench
            effective[dof] = (U, reciprocal, torque)
            inertia, gave_way = inertia.without(U, U * reciprocal), U * (reciprocal * torque)
        wrench = wrench + inertia @ drifts[i] + gave_way
        inertias[parent] = inertias[parent] + inertia.to_A(edge.X_PB)
        wrenches[parent] = wrenches[parent] + edge.X_PB.wrench_to_A(wrench)

    # The base, then outward again: accelerations.
    rates = [spd_solve(inertias[0].matrix(), on_base - wrenches[0])]
    vdot = [jnp.zeros(())] * (craft.layout.nv - 6)
    for i, edge in enumerate(links, start=1):
        rate = edge.X_PB.twist_to_B(rates[parents[i]]) + drifts[i]
        for k, dof in enumerate(edge.dofs):
            U, reciprocal, torque = effective[dof]
            vdot[dof - 6] = (torque - U @ rate) * reciprocal
            rate = rate + edge.columns[:, k] * vdot[dof - 6]
        rates.append(rate)
    for body, rate in zip(bodies, rates, strict=True):
        for k, dof in enumerate(body.dofs):
            vdot[dof - 6] = (force[dof] - body.coupling[:, k] @ rate) / body.own[k, k]
    return jnp.concatenate([rates[0], jnp.stack(vdot)]) if vdot else rates[0]

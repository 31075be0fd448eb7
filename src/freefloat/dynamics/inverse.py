"""Inverse dynamics by the recursive Newton-Euler pass; the bias is its value at zero acceleration."""

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.tree import (
    edge_drifts,
    edges,
    extended_inertias,
    flexible_inertia,
    modal_coordinates,
    rotor_inertias,
    select_entries,
)
from freefloat.model import ModalBody, Spacecraft
from freefloat.spatial import cross_force, cross_motion
from freefloat.values.arrays import Vec6, Vector
from freefloat.values.compiling import compiled_on_call


@compiled_on_call
def inverse_dynamics(craft: Spacecraft, q: Vector, v: Vector, vdot: Vector) -> Vector:
    """Generalised force (nv) that gives the acceleration vdot: M vdot + bias; base wrench in body axes.

    Elastic and damping forces are not in it: they are forces like any other (see `elastic`).
    """
    force, wrenches = _newton_euler(craft, q, v, vdot)
    return force.at[:6].add(wrenches[0])


@compiled_on_call
def carried_wrenches(craft: Spacecraft, q: Vector, v: Vector, vdot: Vector) -> tuple[Vec6, ...]:
    """Rate of momentum of each body with all that it carries, about its origin, in its axes [N, N m], in tree order.

    Less the wrench from outside on these bodies it is what the joint that carries them transmits to them.
    """
    return tuple(_newton_euler(craft, q, v, vdot)[1])


def _newton_euler(craft: Spacecraft, q: Vector, v: Vector, vdot: Vector) -> tuple[Vector, list[Vec6]]:
    """Generalised force, and the rate of momentum of each body with what it carries; the base's is not in the force."""
    layout = craft.layout
    q, v, vdot = layout.require_size("q", q, "q"), layout.require_size("v", v), layout.require_size("vdot", vdot)
    links, parents = edges(craft, q), craft.parents

    # Outward: twists and their rates (in each body's axes).
    twists, rates = [v[:6]], [vdot[:6]]
    for edge, drift, parent in zip(links, edge_drifts(craft, q, v), parents[1:], strict=True):
        relative = edge.columns @ select_entries(v, edge.dofs)
        twist = edge.X_PB.twist_to_B(twists[parent]) + relative
        twists.append(twist)
        rates.append(
            edge.X_PB.twist_to_B(rates[parent])
            + edge.columns @ select_entries(vdot, edge.dofs)
            + cross_motion(twist, relative)
            + drift
        )

    # Each rotor alone; each body: rate of its momentum, and the force on its own speeds.
    force = jnp.asarray(rotor_inertias(craft) * vdot)
    wrenches = []
    for body, inertia, twist, rate in zip(craft.bodies, extended_inertias(craft, q), twists, rates, strict=True):
        own, own_rate = select_entries(v, inertia.dofs), select_entries(vdot, inertia.dofs)
        momentum = inertia.rigid @ twist + inertia.coupling @ own
        wrench = inertia.rigid @ rate + inertia.coupling @ own_rate + cross_force(twist, momentum)
        on_own = inertia.coupling.T @ rate + inertia.own @ own_rate
        if isinstance(body, ModalBody) and body.modes:
            bending, on_modes = _bending(craft, body, modal_coordinates(craft, body, q), twist, own)
            wrench, on_own = wrench + bending, on_own + on_modes
        wrenches.append(wrench)
        force = force.at[np.array(inertia.dofs, dtype=int)].add(on_own)

    # Inward: what each edge must carry.
    for i in range(len(links), 0, -1):
        edge = links[i - 1]
        force = force.at[np.array(edge.dofs, dtype=int)].add(edge.columns.T @ wrenches[i])
        wrenches[parents[i]] = wrenches[parents[i]] + edge.X_PB.wrench_to_A(wrenches[i])
    return force, wrenches


def _bending(craft: Spacecraft, body: ModalBody, b: Vector, twist: Vec6, rate: Vector) -> tuple[Vec6, Vector]:
    """Wrench, and forces on the own speeds, from the changing inertia of a flexible body.

    Both follow from one kinetic energy T(b, V, b'): d/dt of dT/dV and of dT/db' at fixed speeds, less dT/db. They are
    differentiated, not written out, so that energy is conserved whatever terms the inertia keeps. The own speeds are
    the modal rates b' and, after them, those of motors.
    """
    motors = bool(craft.motors_on(body.name))  # without them the inertia of the own speeds is constant

    def momenta(b: Vector) -> tuple[Vec6, Vector]:
        inertia = flexible_inertia(craft, body, b)
        own = inertia.coupling.T @ twist
        return inertia.rigid @ twist + inertia.coupling @ rate, own + inertia.own @ rate if motors else own

    def energy(b: Vector) -> jax.Array:
        inertia = flexible_inertia(craft, body, b)
        moving = 0.5 * twist @ (inertia.rigid @ twist) + twist @ (inertia.coupling @ rate)
        return moving + 0.5 * rate @ inertia.own @ rate if motors else moving

    _, (wrench, own) = jax.jvp(momenta, (b,), (rate[: body.modes],))
    slope = jax.grad(energy)(b)
    return wrench, own.at[: body.modes].add(-slope) if motors else own - slope


@compiled_on_call
def bias(craft: Spacecraft, q: Vector, v: Vector) -> Vector:
    """Velocity-dependent generalised force: Coriolis, centrifugal and gyroscopic terms."""
    return inverse_dynamics(craft, q, v, np.zeros(craft.layout.nv))

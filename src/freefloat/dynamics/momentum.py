"""Momentum, kinetic energy and the centre of mass of the whole spacecraft."""

import jax.numpy as jnp

from freefloat.dynamics.kinematics import body_poses, body_twists
from freefloat.dynamics.mass_matrix import mass_matrix
from freefloat.dynamics.tree import edges, extended_inertias, rotor_inertias, select_entries
from freefloat.model import Spacecraft, State
from freefloat.spatial import SpatialInertia, angular, linear, six
from freefloat.spatial.rotations import cross
from freefloat.values.arrays import Matrix, Scalar, Vec3, Vec6, Vector
from freefloat.values.compiling import compiled_on_call


@compiled_on_call
def composite_inertia(craft: Spacecraft, q: Vector) -> SpatialInertia:
    """Inertia of the whole spacecraft, frozen, about the base origin in base axes."""
    first, *others = (
        body.rigid.to_A(X) for body, X in zip(extended_inertias(craft, q), body_poses(craft, q), strict=True)
    )
    return sum(others, start=first)


@compiled_on_call
def centre_of_mass(craft: Spacecraft, q: Vector) -> Vec3:
    """Centre of mass p_BC of the system in the base frame [m]."""
    return composite_inertia(craft, q).com


@compiled_on_call
def momentum_matrix(craft: Spacecraft, q: Vector) -> Matrix:
    """Momentum about the base origin, in base axes, per unit speed, (6, nv) (Yoshida 2003, eq. 2)."""
    return mass_matrix(craft, q)[:6]


@compiled_on_call
def momentum_about_base(craft: Spacecraft, q: Vector, v: Vector) -> Vec6:
    """Momentum (P, L_b) about the base origin, in base axes. L_b is not conserved unless P = 0."""
    bodies, links = extended_inertias(craft, q), edges(craft, q)
    momenta = [
        body.rigid @ twist + body.coupling @ select_entries(v, body.dofs)
        for body, twist in zip(bodies, body_twists(craft, q, v), strict=True)
    ]
    for i in range(len(links), 0, -1):
        parent = craft.parents[i]
        momenta[parent] = momenta[parent] + links[i - 1].X_PB.wrench_to_A(momenta[i])
    return momenta[0]


@compiled_on_call
def momentum_about_com(craft: Spacecraft, q: Vector, v: Vector) -> Vec6:
    """Momentum (P, L_g) about the system centre of mass, in base axes."""
    h = momentum_about_base(craft, q, v)
    return six(linear(h), angular(h) - cross(centre_of_mass(craft, q), linear(h)))


@compiled_on_call
def momentum_about_origin(craft: Spacecraft, state: State) -> Vec6:
    """Momentum (P, L_0) about the inertial origin, in N axes. Constant in free flight."""
    return state.X_NB.wrench_to_A(momentum_about_base(craft, state.q, state.v))


@compiled_on_call
def kinetic_energy(craft: Spacecraft, q: Vector, v: Vector) -> Scalar:
    """Kinetic energy [J], wheels and rotors included."""
    v = craft.layout.require_size("v", v)
    energy = 0.5 * jnp.sum(rotor_inertias(craft) * v * v)
    for body, twist in zip(extended_inertias(craft, q), body_twists(craft, q, v), strict=True):
        own = select_entries(v, body.dofs)
        energy += 0.5 * twist @ (body.rigid @ twist) + twist @ (body.coupling @ own) + 0.5 * own @ body.own @ own
    return energy


@compiled_on_call
def wheel_momentum(craft: Spacecraft, q: Vector, v: Vector) -> Vector:
    """Absolute axial momentum I (speed + axis . rate) of each wheel [N m s]; its rate is just the motor's torque."""
    twists = body_twists(craft, q, v)
    momenta = [
        wheel.inertia
        * (v[craft.layout.velocity(wheel.name).start] + wheel.axis @ angular(twists[craft.body_index(wheel.body)]))
        for wheel in craft.wheels
    ]
    return jnp.stack(momenta) if momenta else jnp.zeros(0)

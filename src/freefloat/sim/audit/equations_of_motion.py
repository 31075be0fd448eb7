"""Residuals of Newton's and Euler's laws at an instant, with the accelerations that are integrated.

They are zero, whatever the step and the integrator: a wrong inertia shows here down to rounding. Rates of momentum
and energy are differentiated from momentum and energy themselves, not taken from the equations of motion.
"""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import elastic_energy, kinetic_energy, mass_matrix
from freefloat.dynamics.elastic import elastic_force
from freefloat.dynamics.inner_motion import inner_motion, speeds_about_com, without_drift_and_spin
from freefloat.dynamics.kinematics import body_twists
from freefloat.dynamics.momentum import wheel_momentum
from freefloat.model import Spacecraft
from freefloat.sim.motion.accelerations import Balance
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import cross
from freefloat.values.arrays import Numeric, Scalar, Vec3, Vector
from freefloat.values.channels import Channel, vector


def equation_of_motion_residuals(craft: Spacecraft, now: Balance) -> Iterator[tuple[Channel, Numeric]]:
    """Channels of the rates of momentum and energy less force, torque and power, and of sizes of rounded terms."""
    q, v = now.state.q, now.state.v
    push, torque, omega = linear(now.force[:6]), angular(now.force[:6]), angular(now.state.V_NB)
    mass, inner_rate = craft.mass, without_drift_and_spin(craft, q, now.vdot)

    def inner_quantities(q: Vector, v: Vector) -> tuple[Numeric, ...]:
        inner = inner_motion(craft, q, v)
        return inner.com, inner.com_velocity, inner.angular_momentum, inner.energy + elastic_energy(craft, q)

    qdot = v[np.array(craft.layout.coordinates, dtype=int)]
    (com, u, L, energy), (_, u_rate, L_rate, energy_rate) = jax.jvp(inner_quantities, (q, v), (qdot, now.vdot))
    # Velocities and momenta are in base axes, which turn.
    drift = cross(omega, linear(now.state.V_NB))
    force_left = mass * (now.vdot[:3] + drift + u_rate + cross(omega, u)) - push
    torque_left = L_rate + cross(omega, L) - (torque - cross(com, push))
    speeds = speeds_about_com(craft, q, v, u)
    powers = (now.force - elastic_force(craft, q)) * speeds
    yield vector("open.force", "Rate of linear momentum less external force", "N", "B"), force_left
    yield vector("open.torque", "Rate of angular momentum less external torque", "N m", "B"), torque_left
    yield Channel("open.power", "Rate of inner energy less power", "W"), energy_rate - jnp.sum(powers)

    # Large terms that cancel are rounded too: drift that turns with the base, what swings back and forth on it, wheels
    # that turn with their carriers.
    forces = mass * (_size(drift) + _size(cross(omega, u)) + _size(u_rate)) + _size(push)
    gyroscopic = _gyroscopic(craft, q, v)
    torques = gyroscopic + _size(torque) + _size(com) * _size(push)
    # Bodies that turn hand energy on to one another at the rate at which they turn, also where no force does work.
    turning = _size(omega) + jnp.sum(jnp.abs(v[_revolute_speeds(craft)]))
    if craft.has_followers:
        turning = turning + _turning_of_followers(craft, v)
    exchanged = gyroscopic * _size(omega) + 2.0 * jnp.abs(energy) * turning
    if now.connection is not None or len(craft.bodies) > 1 or craft.layout.modes:
        # A hand that is held moves little while joints and booms swing against one another, a flexible body swings
        # against its own modes, and a light hub against what it carries: each is rounded by itself.
        moved = jnp.abs(mass_matrix(craft, q)) @ jnp.abs(inner_rate)
        forces = forces + _size(linear(moved[:6]))
        torques = torques + _size(angular(moved[:6])) + _size(com) * _size(linear(moved[:6]))
        exchanged = exchanged + jnp.abs(speeds) @ moved
    if now.connection is not None:
        # A motor works against a brake, or against what is held farther out: their torques cancel, and are rounded.
        held = jnp.sum(jnp.abs(now.connection.pull[6:]))
        torques, exchanged = torques + held, exchanged + held * turning
    yield Channel("turnover.force", "Sizes of external and apparent forces", "N"), forces
    yield Channel("turnover.torque", "Sizes of external and gyroscopic torques", "N m"), torques
    yield Channel("turnover.power", "Sizes of all powers", "W"), jnp.sum(jnp.abs(powers)) + exchanged
    # Kinetic energy of the acceleration: how quickly the motion changes.
    yield (
        Channel("energy.agility", "Half the squared acceleration in the mass metric, wheels apart", "W/s"),
        kinetic_energy(craft, q, inner_rate),
    )


def _revolute_speeds(craft: Spacecraft) -> np.ndarray:
    layout = craft.layout
    return np.array(
        [layout.velocity(name).start for name in layout.moving_joints if name in layout.revolute], dtype=int
    )


def _turning_of_followers(craft: Spacecraft, v: Vector) -> Scalar:
    """Sum of the rates of revolute joints that follow the coordinate of another joint [rad/s]."""
    followers = [(joint.follows, joint.kind) for joint in craft.joints if joint.follows is not None]
    rates = [f.ratio * v[craft.layout.velocity(f.leader).start] for f, kind in followers if kind == "revolute"]
    return sum(map(jnp.abs, rates), start=jnp.zeros(()))


def _gyroscopic(craft: Spacecraft, q: Vector, v: Vector) -> Scalar:
    """Size of the torques of wheels that turn with their carriers [N m]."""
    if not craft.wheels:
        return jnp.zeros(())
    twists = body_twists(craft, q, v)
    carried = [_size(angular(twists[craft.body_index(wheel.body)])) for wheel in craft.wheels]
    return jnp.abs(wheel_momentum(craft, q, v)) @ jnp.stack(carried)


def _size(a: Vec3) -> Scalar:
    return jnp.sqrt(a @ a)

"""Commands of an arm that a robot carries: joint positions, rates, and the torques that it needs on the ground."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.nominal_motion import NominalMotion
from freefloat.dynamics.relative_robots import arm_torque
from freefloat.model import State
from freefloat.sim.motion.port_bus import PortBus
from freefloat.sim.system.system import Inputs, System, SystemState, tick_of
from freefloat.values.arrays import Vec3, Vector


def arm_command(
    system: System,
    loop: SystemState,
    inputs: Inputs,
    c: int,
    joints: tuple[str, ...],
    nominal: NominalMotion,
    relative: State,
    gravity: Vec3,
) -> tuple[Vector, Vector, Vector]:
    """Positions [rad], rates [rad/s] and torques [N m] of joints of spacecraft c, in the order of `joints`.

    The torques are those of its software, those against gravity, and those for a base that moves unlike in orbit.
    `relative` is the state of the spacecraft in the cell, relative to Z; `gravity` [m/s2] is in axes of Z.
    """
    craft, state, tick = system.world.crafts[c], loop.states[c], tick_of(system, loop)
    q = np.array([craft.layout.position(joint).start for joint in joints], dtype=int)
    v = np.array(craft.layout.indices(joints), dtype=int)
    torques = PortBus(system, loop, loop.states, inputs, tick.t, tick.number).joint_torques(c, tick.t)
    torque = arm_torque(craft, nominal, relative, torques[np.arange(6, craft.layout.nv)], gravity).total
    return jnp.asarray(state.q)[q], jnp.asarray(state.v)[v], torque[v - 6]

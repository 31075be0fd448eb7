"""Measured motion of a spacecraft that a facility moves: a step from the simulated state to the measured one.

A rehearsal sets it at an input port, once a cycle. In between the step stays as it is: sensors that read later, and
software that runs in every stage of the integrator, read the simulated motion moved by it.
"""

from __future__ import annotations

from freefloat.dynamics.state_rate import StateRate, retract
from freefloat.model import State, World
from freefloat.sim.system.system import Inputs, System

SEEN = "seen"


def sensed_port(world: World, number: int) -> str:
    """Name of the input port for the step from the simulated to the measured state of a spacecraft."""
    return f"{world.prefix(number)}{SEEN}"


def sensed_size(world: World, number: int) -> int:
    """Count of numbers in such a step: velocity, turn, q, v of a `StateRate`."""
    layout = world.crafts[number].layout
    return 6 + layout.nq + layout.nv


def sensed_states(system: System, states: tuple[State, ...], inputs: Inputs) -> tuple[State, ...]:
    """States that sensors measure: the simulated ones, moved where an input port says so."""
    world = system.world
    ports = [sensed_port(world, number) for number in range(len(states))]
    return tuple(
        retract(state, StateRate.from_vector(inputs[port], craft.layout.nq))
        if port in system.ports and port in inputs
        else state
        for port, state, craft in zip(ports, states, world.crafts, strict=True)
    )

"""What sensors see of a spacecraft that somebody outside moves: where it was there, as a step from the simulated state.

A rehearsal tells it at a port, once a cycle. Between two of them the step stays as it is: sensors that read later, and
software that is asked in every stage of the integrator, see the simulated motion moved by it.
"""

from __future__ import annotations

from freefloat.dynamics.state_rate import StateRate, retract
from freefloat.model import State, World
from freefloat.sim.system.system import Inputs, System

SEEN = "seen"


def seen_port(world: World, number: int) -> str:
    """The port at which the step from the simulated to the seen state of a spacecraft comes in."""
    return f"{world.prefix(number)}{SEEN}"


def seen_size(world: World, number: int) -> int:
    """Numbers of such a step: velocity, turn, q, v of a `StateRate`."""
    layout = world.crafts[number].layout
    return 6 + layout.nq + layout.nv


def seen_states(system: System, states: tuple[State, ...], inputs: Inputs) -> tuple[State, ...]:
    """States as sensors see them: those that are simulated, unless somebody outside says otherwise."""
    world = system.world
    ports = [seen_port(world, number) for number in range(len(states))]
    return tuple(
        retract(state, StateRate.from_vector(inputs[port], craft.layout.nq))
        if port in system.ports and port in inputs
        else state
        for port, state, craft in zip(ports, states, world.crafts, strict=True)
    )

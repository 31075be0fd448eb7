"""A system: a world with all parts that act in it, how they are wired, its state, and the tick of a state."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import jax
import numpy as np

from freefloat.actuators import standard_actuators
from freefloat.model import (
    Actuator,
    Clearance,
    Command,
    Effect,
    Failure,
    Field,
    Interaction,
    Part,
    Quantity,
    Sensor,
    SensorMemory,
    Software,
    Spacecraft,
    State,
    World,
)
from freefloat.model.failure import sound_part
from freefloat.sensors.ideal import Ideal
from freefloat.sensors.quantity_lookup import require_new_names
from freefloat.sim.system.clearance_state import ClearanceState
from freefloat.sim.system.constraint_state import ConstraintState
from freefloat.sim.system.world_fields import one_field_of_each_kind
from freefloat.sim.system.world_state import WorldState
from freefloat.values import ModelError, SoftwareError, record, static
from freefloat.values.arrays import Flag, Numeric, Scalar

# ---- which sensor measures what, which software reads and commands what: static, found when a system begins


@dataclasses.dataclass(frozen=True)
class SensorWires:
    """Wires of a sensor: its spacecraft, its measurements, its period."""

    craft: int
    gives: tuple[str, ...]
    ticks: int  # between two samples


@dataclasses.dataclass(frozen=True)
class SoftwareWires:
    """Wires of a piece of software: its spacecraft, its period, what it commands, sends as messages and reads."""

    craft: int
    ticks: int  # between two of its ticks; 0: continuous
    remembers: bool
    commands: tuple[str, ...] = ()  # ports that it commands
    prescribes: tuple[str, ...] = ()  # joints whose rates it commands; of flexible ones their motors
    tells: tuple[str, ...] = ()
    sensors: tuple[int, ...] = ()  # that it reads
    hears: tuple[int, ...] = ()  # software whose messages it reads


@dataclasses.dataclass(frozen=True)
class Wiring:
    """Wires of a whole system."""

    sensors: tuple[SensorWires, ...] = ()
    software: tuple[SoftwareWires, ...] = ()
    prescribed: tuple[tuple[str, ...], ...] = ()  # of each spacecraft: what has a prescribed rate, in order
    prescribed_by_inputs: tuple[tuple[str, ...], ...] = ()  # the first of these, which input ports prescribe
    resting: tuple[str, ...] = ()  # ports of given actuators that nobody commands: they rest at zero
    # Wheels that are driven and have a limited momentum: number of the spacecraft, name.
    limited_wheels: tuple[tuple[int, str], ...] = ()


# ---- the system


@record
class System:
    """A world with the parts that push, measure and command in it, and the length of its tick."""

    world: World
    effects: tuple[Effect, ...] = ()
    actuators: tuple[Actuator, ...] = ()  # besides those that every spacecraft has
    sensors: tuple[Sensor, ...] = ()
    ideal: tuple[Ideal, ...] = ()
    software: tuple[Software, ...] = ()  # in the order in which it runs
    failures: tuple[Failure, ...] = ()
    interactions: tuple[Interaction, ...] = ()
    clearances: tuple[Clearance, ...] = ()
    quantities: tuple[Quantity, ...] = ()  # that are added to those of the library
    dt: float = static(default=0.01)  # length of a tick [s]
    ports: tuple[str, ...] = static(default=())  # what comes from outside, by name
    vary: str | tuple[str, ...] = static(default="all")  # numbers that are inputs of compiled code: see varied_numbers
    wiring: Wiring = static(default=Wiring())  # who reads and commands what; found by `begin`

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts of the system."""
        alone = (*self.effects, *self.actuators, *self.sensors, *self.ideal, *self.software, *self.failures)
        return (*alone, *self.interactions, *self.clearances, *self.quantities)

    def craft_index(self, part: Part) -> int:
        """Number of the spacecraft that a part is on; 0 for interactions and for parts of the whole world."""
        if isinstance(part, Interaction):
            return 0
        if not isinstance(part.on, str):
            raise ModelError(f"{part.title}: on must be the name of a spacecraft, got {part.on!r}.")
        of_world = isinstance(part, Quantity) and part.is_of_world
        if (isinstance(part, (Clearance, Field)) and not part.on) or of_world:
            return 0  # it concerns all of them
        try:
            return self.world.index(part.on)
        except ModelError as error:
            raise ModelError(f"{part.title}: {error}") from None

    def actuators_of(self, c: int) -> Iterator[tuple[int | None, Actuator]]:
        """Actuators of spacecraft number c with their failures: number of its memory, None for standard ones."""
        for actuator in standard_actuators(self.world, c):
            yield None, self.with_failures(actuator, c)
        for number, actuator in enumerate(self.actuators):
            if self.craft_index(actuator) == c:
                yield number, self.with_failures(actuator, c)

    def with_failures(self, part: Any, c: int) -> Any:
        """An actuator or a sensor on spacecraft number c with the failures that concern it."""
        for failure in self.failures:
            if self.craft_index(failure) == c and failure.concerns(sound_part(part), self.world.crafts[c]):
                part = failure.wrap(part)
        return part

    def stuck_joints(self, c: int) -> list[tuple[Failure, str]]:
        """Joints of spacecraft number c that stick in a failure."""
        own = [failure for failure in self.failures if self.craft_index(failure) == c]
        return [(failure, joint) for failure in own for joint in failure.stuck_joints()]

    def is_prescribed(self, c: int, joint: str) -> bool:
        """Whether the rate of a joint of spacecraft number c is prescribed."""
        return joint in self.wiring.prescribed[c]

    def acts_on(self, effect: Effect, number: int) -> bool:
        """Whether an effect acts on a spacecraft; a field acts on all of them."""
        return isinstance(effect, Field) or self.craft_index(effect) == number

    def spacecraft_of(self, part: Part) -> Spacecraft:
        """The spacecraft that a part is on."""
        return self.world.crafts[self.craft_index(part)]

    def full_name(self, name: str, own: int) -> str:
        """The full name in a run of a name that a part on spacecraft `own` uses."""
        number, rest = self.world.locate(name, own)
        return self.world.prefix(number) + rest


# ---- its state


@record
class SoftwareState:
    """Memory of software and, if it is sampled, the commands and messages that it holds until its next tick."""

    memory: Any
    commands: tuple[Command, ...] = ()  # as it asked; the actuators limit them
    messages: dict[str, Any] = dataclasses.field(default_factory=dict)


@record
class SystemState:
    """Everything that changes while a system runs."""

    tick: jax.Array | np.ndarray  # int32; time is tick * dt
    plants: WorldState
    sensors: tuple[SensorMemory, ...] = ()
    software: tuple[SoftwareState, ...] = ()
    actuators: tuple[Any, ...] = ()  # memory of each given actuator
    constraints: ConstraintState | tuple[()] = ()  # () in a world without connections, brakes and contacts
    clearances: ClearanceState | tuple[()] = ()  # () if no clearance has a limit

    @property
    def states(self) -> tuple[State, ...]:
        """State of every spacecraft."""
        return self.plants.states

    @property
    def modes(self) -> ConstraintState:
        """State of connections, brakes and contacts, in a world that has any."""
        assert isinstance(self.constraints, ConstraintState)
        return self.constraints


@dataclasses.dataclass(frozen=True)
class Tick:
    """Time at which the present step began, and the number of its tick."""

    t: Scalar  # [s]
    number: Numeric  # int32
    whole: Flag | bool = True  # False in the later parts of a tick that is integrated in parts


def tick_of(system: System, state: SystemState, parts: Numeric | None = None) -> Tick:
    """Time and tick number of a state; `parts` as in `step`."""
    if parts is None:
        return Tick(state.tick * system.dt, state.tick)
    return Tick(state.tick * (system.dt / parts), state.tick // parts, state.tick % parts == 0)


Inputs = Mapping[str, Numeric]  # what comes from outside in one step, by port, held over it


# ---- how it is made from parts

_KINDS: tuple[tuple[str, type[Part]], ...] = (
    ("effects", Effect),
    ("actuators", Actuator),
    ("sensors", Sensor),
    ("ideal", Ideal),
    ("software", Software),
    ("failures", Failure),
    ("interactions", Interaction),
    ("clearances", Clearance),
    ("quantities", Quantity),
)


def assemble(
    world: World, parts: Iterable[Any], dt: float, ports: tuple[str, ...] = (), vary: str | tuple[str, ...] = "all"
) -> System:
    """A system from parts of any kind, sorted by their base classes."""
    sorted_parts: dict[str, list[Any]] = {name: [] for name, _ in _KINDS}
    for part in one_field_of_each_kind(world, tuple(parts)):
        sorted_parts[_kind_of(part)].append(part)
    kinds: dict[str, Any] = {name: tuple(some) for name, some in sorted_parts.items()}
    world = _with_brakes_for(world, kinds["failures"])
    system = System(world=world, dt=dt, ports=ports, vary=vary, **kinds)
    for part in system.parts:
        for craft in world.crafts if isinstance(part, Field) else (system.spacecraft_of(part),):
            part.check(craft)
        if isinstance(part, (Field, Interaction)):
            part.check_world(world)
    _check_names(system)
    return system


def _kind_of(part: Any) -> str:
    if isinstance(part, type):
        raise SoftwareError(f"{part.__name__} is a class, not a part. Give an instance of it: {part.__name__}(...).")
    for name, kind in _KINDS:
        if isinstance(part, kind):
            if "__dataclass_fields__" not in type(part).__dict__:
                raise SoftwareError(f"{type(part).__name__} is no record. Write @ff.record above its class.")
            return name
    raise SoftwareError(
        f"{type(part).__name__} is nothing that can act in a run: derive it from ff.Software (a control law or a "
        "filter), ff.Effect (something that pushes), ff.Actuator, ff.Sensor or ff.Quantity (something that is "
        "measured). docs/software.md shows how."
    )


def _with_brakes_for(world: World, failures: tuple[Failure, ...]) -> World:
    """The world with brakes that hold stuck joints, where connections need the joint's force beside those of others."""
    for failure in failures if world.has_events else ():
        own = world.names[world.index(failure.on)]
        for joint in failure.stuck_joints():
            failure.check(world.crafts[world.index(failure.on)])
            if not any((brake.craft, brake.joint) == (own, joint) for brake in world.brakes):
                world = world.brake(joint if world.single else f"{own}.{joint}")
    return world


def _check_names(system: System) -> None:
    """Raise an error if two parts have one name or one port, or a failure concerns nothing."""
    for parts in (system.sensors, system.actuators, system.interactions):
        seen: set[tuple[int, str, str]] = set()
        for part in parts:
            key = system.craft_index(part), type(part).__name__, part.name
            if key in seen:
                raise ModelError(f"Two parts are called {part.title}. Give one of them another name=...")
            seen.add(key)
    for c in range(len(system.world.crafts)):
        _check_ports(system, c)
    require_new_names(system.world, system.quantities)
    for failure in system.failures:
        _check_failure(system, failure)


def _check_ports(system: System, c: int) -> None:
    craft, owners = system.world.crafts[c], dict[str, Actuator]()
    for _, actuator in system.actuators_of(c):
        for port in actuator.accepts(craft):
            if (other := owners.setdefault(port.name, actuator)) is not actuator:
                raise ModelError(
                    f"{sound_part(other).title} and {sound_part(actuator).title} both accept the port '{port.name}' of "
                    f"spacecraft '{craft.name}'. Keep one of them, or give one another name=... and so another port."
                )


def _check_failure(system: System, failure: Failure) -> None:
    c = system.craft_index(failure)
    craft = system.world.crafts[c]
    own = [part for part in (*system.actuators, *system.sensors) if system.craft_index(part) == c]
    parts = (*own, *standard_actuators(system.world, c))
    if not failure.stuck_joints() and not any(failure.concerns(part, craft) for part in parts):
        raise ModelError(failure.missing_text(parts, craft))


def with_entry(entries: tuple, place: int, entry: Any) -> tuple:
    """The entries with the one at a place replaced."""
    return (*entries[:place], entry, *entries[place + 1 :])

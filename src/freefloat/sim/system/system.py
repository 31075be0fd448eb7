"""A system: a world with all parts that act in it, how they are wired, its state, and the tick of a state."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import jax
import numpy as np

from freefloat.effects.failures import BlindSensor, Failure, OpenThruster
from freefloat.effects.thrusters import Thrusters, ValveState
from freefloat.model import (
    Clearance,
    Command,
    Effect,
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
from freefloat.sensors.ideal import Ideal
from freefloat.sensors.quantity_lookup import require_new_names
from freefloat.sim.system.clearance_state import ClearanceState
from freefloat.sim.system.constraint_state import ConstraintState
from freefloat.sim.system.craft_state import CraftState
from freefloat.sim.system.world_fields import one_field_of_each_kind
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
    prescribes: tuple[str, ...] = ()  # joints whose rates it commands; of flexible ones their motors
    pushes: bool = False  # whether it commands anything else that pushes
    switches: bool = False  # whether it latches, releases or brakes
    tells: tuple[str, ...] = ()
    sensors: tuple[int, ...] = ()  # that it reads
    hears: tuple[int, ...] = ()  # software whose messages it reads


@dataclasses.dataclass(frozen=True)
class Wiring:
    """Wires of a whole system."""

    sensors: tuple[SensorWires, ...] = ()
    software: tuple[SoftwareWires, ...] = ()
    prescribed: tuple[tuple[str, ...], ...] = ()  # of each spacecraft: what has a prescribed rate, in order
    # Wheels that are driven and have a limited momentum: number of the spacecraft, name.
    limited_wheels: tuple[tuple[int, str], ...] = ()


# ---- the system


@record
class System:
    """A world with the parts that push, measure and command in it, and the length of its tick."""

    world: World
    effects: tuple[Effect, ...] = ()
    thrusters: tuple[Thrusters, ...] = ()
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
        alone = (*self.effects, *self.thrusters, *self.sensors, *self.ideal, *self.software, *self.failures)
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
    plants: tuple[CraftState, ...]
    sensors: tuple[SensorMemory, ...] = ()
    software: tuple[SoftwareState, ...] = ()
    valves: tuple[ValveState, ...] = ()  # of each set of thrusters
    constraints: ConstraintState | tuple[()] = ()  # () in a world without connections, brakes and contacts
    clearances: ClearanceState | tuple[()] = ()  # () if no clearance has a limit

    @property
    def states(self) -> tuple[State, ...]:
        """State of every spacecraft."""
        return tuple(plant.state for plant in self.plants)

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
    ("thrusters", Thrusters),
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
        "filter), ff.Effect (something that pushes), ff.Sensor or ff.Quantity (something that is measured). "
        "docs/software.md shows how."
    )


def _check_names(system: System) -> None:
    """Raise an error if two parts have one name, or a failure names a part that does not exist."""
    for parts in (system.sensors, system.thrusters, system.interactions):
        seen: set[tuple[int, str, str]] = set()
        for part in parts:
            key = system.craft_index(part), type(part).__name__, part.name
            if key in seen:
                raise ModelError(f"Two parts are called {part.title}. Give one of them another name=...")
            seen.add(key)
    require_new_names(system.world, system.quantities)
    for failure in system.failures:
        _check_failure(system, failure)


def _check_failure(system: System, failure: Failure) -> None:
    if isinstance(failure, OpenThruster):
        names = [
            n.name for t in system.thrusters if system.craft_index(t) == system.craft_index(failure) for n in t.nozzles
        ]
        if failure.thruster not in names:
            known = ", ".join(names) or "none"
            raise ModelError(f"OpenThruster: no thruster '{failure.thruster}'. Thrusters: {known}.")
    if isinstance(failure, BlindSensor):
        sensors = [s for s in system.sensors if system.craft_index(s) == system.craft_index(failure)]
        if not any(failure_matches_sensor(failure, sensor) for sensor in sensors):
            known = ", ".join(s.name or type(s).__name__ for s in sensors) or "none; ideal ones do not fail"
            raise ModelError(f"BlindSensor: no sensor '{failure.sensor}'. Sensors: {known}.")


def failure_matches_sensor(failure: BlindSensor, sensor: Sensor) -> bool:
    """Whether a failure concerns a sensor, which it calls by its name or by its class."""
    return failure.sensor in (sensor.name, type(sensor).__name__)


def with_entry(entries: tuple, place: int, entry: Any) -> tuple:
    """The entries with the one at a place replaced."""
    return (*entries[:place], entry, *entries[place + 1 :])

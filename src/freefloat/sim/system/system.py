"""A system: a world with all that acts in it, and the clock. Everything that is a number in it can be varied."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import jax
import numpy as np

from freefloat.effects.failures import BlindSensor, Failure, OpenThruster
from freefloat.effects.thrusters import Thrusters
from freefloat.model import (
    Clearance,
    Command,
    Effect,
    Field,
    Interaction,
    Part,
    Sensor,
    Software,
    Spacecraft,
    State,
    World,
)
from freefloat.sensors.ideal import Ideal
from freefloat.sim.system.craft_state import Plant
from freefloat.sim.system.fields import one_field_of_each_kind
from freefloat.sim.system.wiring import Wiring
from freefloat.values import LawError, ModelError, record, static
from freefloat.values.arrays import Numeric


@record
class System:
    """A world, what pushes in it, what measures, and what commands; advanced by a fixed step."""

    world: World
    effects: tuple[Effect, ...] = ()
    thrusters: tuple[Thrusters, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    ideal: tuple[Ideal, ...] = ()
    software: tuple[Software, ...] = ()  # in the order in which it runs
    failures: tuple[Failure, ...] = ()
    interactions: tuple[Interaction, ...] = ()
    clearances: tuple[Clearance, ...] = ()
    dt: float = static(default=0.01)  # length of a tick [s]
    ports: tuple[str, ...] = static(default=())  # what comes from outside, by name
    vary: str | tuple[str, ...] = static(default="all")  # numbers that are inputs of compiled code: see varied_numbers
    wiring: Wiring = static(default=Wiring())  # who reads and commands what; found by `begin`

    @property
    def parts(self) -> tuple[Part, ...]:
        """Everything that acts."""
        alone = (*self.effects, *self.thrusters, *self.sensors, *self.ideal, *self.software, *self.failures)
        return (*alone, *self.interactions, *self.clearances)

    def on(self, part: Part) -> int:
        """Number of the spacecraft that a part is on; the first one keeps what is between bodies."""
        if isinstance(part, Interaction):
            return 0
        if not isinstance(part.on, str):
            raise ModelError(f"{part.title}: on must be the name of a spacecraft, got {part.on!r}.")
        if isinstance(part, (Clearance, Field)) and not part.on:
            return 0  # it looks at all of them
        try:
            return self.world.index(part.on)
        except ModelError as error:
            raise ModelError(f"{part.title}: {error}") from None

    def acts_on(self, effect: Effect, number: int) -> bool:
        """Whether an effect pushes a spacecraft; a field pushes all of them."""
        return isinstance(effect, Field) or self.on(effect) == number

    def spacecraft_of(self, part: Part) -> Spacecraft:
        """The spacecraft that a part is on."""
        return self.world.crafts[self.on(part)]

    def full_name(self, name: str, own: int) -> str:
        """A name as the run has it, from that which a part on spacecraft `own` uses."""
        number, rest = self.world.locate(name, own)
        return self.world.prefix(number) + rest


@record
class SoftwareState:
    """What software remembers and, where it is sampled, what it holds until its next tick."""

    memory: Any
    commands: tuple[Command, ...] = ()  # as it asked; the actuators limit them
    messages: Any = dataclasses.field(default_factory=dict)


@record
class SystemState:
    """All that changes while a system runs."""

    tick: jax.Array | np.ndarray  # int32; time is tick * dt
    plants: tuple[Plant, ...]
    sensors: tuple[Any, ...] = ()
    software: tuple[SoftwareState, ...] = ()
    valves: tuple[Any, ...] = ()  # of each set of thrusters
    constraints: Any = ()  # ConstraintState; nothing in a world without connections, brakes and contacts
    clearances: Any = ()  # ClearanceState; nothing where no clearance has a limit

    @property
    def states(self) -> tuple[State, ...]:
        """Of every spacecraft."""
        return tuple(plant.state for plant in self.plants)


Inputs = Mapping[str, Numeric]  # what comes from outside in one step, by port, held over it

_KINDS: tuple[tuple[str, type[Part]], ...] = (
    ("effects", Effect),
    ("thrusters", Thrusters),
    ("sensors", Sensor),
    ("ideal", Ideal),
    ("software", Software),
    ("failures", Failure),
    ("interactions", Interaction),
    ("clearances", Clearance),
)


def assemble(
    world: World, parts: Iterable[Any], dt: float, ports: tuple[str, ...] = (), vary: str | tuple[str, ...] = "all"
) -> System:
    """A system from parts of any kind, each put where its base class belongs."""
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
        raise LawError(f"{part.__name__} is a class, not a part. Give an instance of it: {part.__name__}(...).")
    for name, kind in _KINDS:
        if isinstance(part, kind):
            if "__dataclass_fields__" not in type(part).__dict__:
                raise LawError(f"{type(part).__name__} is no record. Write @ff.record above its class.")
            return name
    raise LawError(
        f"{type(part).__name__} is nothing that can act in a run: derive it from ff.Software (a control law or a "
        "filter), ff.Effect (something that pushes) or ff.Sensor. docs/laws.md shows how."
    )


def _check_names(system: System) -> None:
    """Two parts of one name would answer for one another."""
    for parts in (system.sensors, system.thrusters, system.interactions):
        seen: set[tuple[int, str, str]] = set()
        for part in parts:
            key = system.on(part), type(part).__name__, part.name
            if key in seen:
                raise ModelError(f"Two parts are called {part.title}. Give one of them another name=...")
            seen.add(key)
    for failure in system.failures:
        _check_failure(system, failure)


def _check_failure(system: System, failure: Failure) -> None:
    if isinstance(failure, OpenThruster):
        names = [n.name for t in system.thrusters if system.on(t) == system.on(failure) for n in t.nozzles]
        if failure.thruster not in names:
            known = ", ".join(names) or "none"
            raise ModelError(f"OpenThruster: no thruster '{failure.thruster}'. Thrusters: {known}.")
    if isinstance(failure, BlindSensor):
        sensors = [s for s in system.sensors if system.on(s) == system.on(failure)]
        if not any(blinds(failure, sensor) for sensor in sensors):
            known = ", ".join(s.name or type(s).__name__ for s in sensors) or "none; ideal ones do not fail"
            raise ModelError(f"BlindSensor: no sensor '{failure.sensor}'. Sensors: {known}.")


def blinds(failure: BlindSensor, sensor: Sensor) -> bool:
    """Whether a failure is that of this sensor: it is called by its name or by its class."""
    return failure.sensor in (sensor.name, type(sensor).__name__)


def put(entries: tuple, place: int, entry: Any) -> tuple:
    """Entries with another one at a place."""
    return (*entries[:place], entry, *entries[place + 1 :])

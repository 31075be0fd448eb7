"""The parts that act in a world, divided as hardware is: effects push, sensors measure, software commands.

Each is a small frozen record with pure functions. A part names its spacecraft in `on`; names in it need no prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, runtime_checkable

import jax.numpy as jnp
import numpy as np

from freefloat.model.commands import Command
from freefloat.model.forces import Forces
from freefloat.model.spacecraft import Spacecraft
from freefloat.model.state import State
from freefloat.model.world import World
from freefloat.values import record, static
from freefloat.values.arrays import Flag, Numeric, Scalar, Vector
from freefloat.values.channels import Channel
from freefloat.values.checks import require_bounds
from freefloat.values.errors import ModelError, SoftwareError, unknown_name
from freefloat.values.suggestions import did_you_mean

if TYPE_CHECKING:
    from freefloat.values.labelled import LabelledArrays


@dataclass(frozen=True)
class Clock:
    """The time at which a part is evaluated."""

    t: Scalar  # now [s]
    tick: Numeric  # int32: steps of the run since its start
    dt: float  # length of a tick [s]
    hold: float = 0.0  # how long its command is held [s]; 0: it is evaluated in every stage of the integrator
    ticked: Scalar | None = None  # beginning of the step, where that is not now [s]

    @property
    def last_tick(self) -> Scalar:
        """Beginning of the present step [s]."""
        return self.t if self.ticked is None else self.ticked


@runtime_checkable
class Measurements(Protocol):
    """Values that sensors, and software that ran before, report: `y["base.rate"]`. Names are those of channels."""

    def __getitem__(self, name: str) -> Any:
        """The latest value of that name."""
        ...

    def valid(self, name: str) -> Flag:
        """False while nothing has been measured under that name."""
        ...

    def taken(self, name: str) -> Scalar:
        """Time at which the latest value was measured [s]; the present time for a value that has no delay."""
        ...


@dataclass(frozen=True)
class Truth:
    """The exact state of the world, for sensors that measure it and channels that compare with it, not for software."""

    world: World
    states: tuple[State, ...]
    own: int = 0  # number of the spacecraft that the part is on
    quantities: tuple[Any, ...] = ()  # `Quantity` records that a user has added to those of the library
    latched: Numeric | None = None  # 1 for each connection of the world that holds; None where that is not known
    forces_before: Callable[[], Forces] | None = None  # None where they are not known
    full_wheels: Callable[[tuple[str, ...]], Vector] | None = None  # see `actuators.wheel_motors`; None: as they spin

    @property
    def craft(self) -> Spacecraft:
        """The part's own spacecraft."""
        return self.world.crafts[self.own]

    @property
    def state(self) -> State:
        """State of the part's own spacecraft."""
        return self.states[self.own]

    @cached_property
    def forces(self) -> Forces:
        """Accelerations and forces just before this instant. They are computed only where a part asks for them."""
        if self.forces_before is None:
            raise SoftwareError(
                "Accelerations and forces are known at ticks only, and this is asked for in between or without a run. "
                "Give the software that reads them a period=..., or read them from a sensor."
            )
        return self.forces_before()

    def is_latched(self, connection: str) -> Numeric:
        """1 while a connection of the world holds, else 0."""
        names = [known.name for known in self.world.connections]
        if connection not in names:
            known = ", ".join(names) or "none"
            meant = did_you_mean(connection, names)
            raise SoftwareError(f"The world has no connection '{connection}'. Connections: {known}.{meant}")
        if self.latched is None:
            raise SoftwareError(
                f"Whether '{connection}' holds is known in a run only: spacecraft and states do not tell."
            )
        return jnp.asarray(self.latched)[names.index(connection)]

    def on_craft(self, number: int) -> Truth:
        """This truth, for a part on another spacecraft."""
        return self if number == self.own else replace(self, own=number)


@record
class Part:
    """Something that acts on a spacecraft or for it."""

    on: str = static(default="", kw_only=True)  # name of the spacecraft; may be left out where there is only one
    name: str = static(default="", kw_only=True)  # to tell two of a kind apart

    if not TYPE_CHECKING:  # editors complete the fields of a record from its __init__

        def __new__(cls, *given: Any, **named: Any) -> Any:
            """An empty part; fields of a class without its decorator are no fields yet, which its author is told."""
            unknown = [field for field in named if field not in cls.__dataclass_fields__]
            if unknown and "__dataclass_fields__" not in cls.__dict__:
                raise SoftwareError(
                    f"{cls.__name__} is no record, so '{unknown[0]}' is not one of its fields. Write @ff.record above "
                    "its class."
                )
            return super().__new__(cls)

    @property
    def title(self) -> str:
        """Name of the part in messages."""
        return f"{type(self).__name__} '{self.name}'" if self.name else type(self).__name__

    def channel_name(self, name: str) -> str:
        """Name of a channel of the part, with the part's own name in front where it has one: `gyro.2.base.rate`."""
        return f"{self.name}.{name}" if self.name else name

    def check(self, craft: Spacecraft) -> None:
        """Raise an error if the part does not fit the spacecraft. Called once, when a system is built."""

    def require_known(self, craft: Spacecraft, kind: str, names: Iterable[str], known: Iterable[str]) -> None:
        """Raise an error for names that the spacecraft does not have; called by `check`."""
        listed = tuple(known)
        for name in names:
            if name not in listed:
                raise ModelError(f"{self.title}: {unknown_name(craft.name, kind, name, listed)}")

    def require_moving(self, craft: Spacecraft, joints: Iterable[str]) -> None:
        """Raise an error for joints without a coordinate of their own; called by `check`."""
        try:
            craft.layout.require_moving(joints)
        except ModelError as error:
            raise ModelError(f"{self.title}: {error}") from None


@record
class Effect(Part):
    """Something that pushes a spacecraft: gravity gradient, friction, a spring, a wrench from outside."""

    def force(self, craft: Spacecraft, state: State, clock: Clock) -> Vector:
        """Generalised force (nv) at this time; evaluated in every stage of the integrator."""
        raise NotImplementedError

    def instants(self) -> tuple[Numeric | float, ...]:
        """Times at which the force is not smooth [s]: steps are cut there, so that its impulse is exact at any step.

        Their number is fixed when the system is built; their values may vary. An infinite time is never reached.
        """
        return ()

    def pushed_frames(self, craft: Spacecraft) -> tuple[str, ...] | None:
        """Frames at which it pushes from outside; () if it acts between bodies only, None where that is not known."""
        return None

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """Channels that the effect adds to a run."""
        return ()

    def observe(self, craft: Spacecraft, state: State, clock: Clock) -> tuple[Numeric, ...]:
        """Values of the effect's channels."""
        return ()

    def domain_warnings(self, craft: Spacecraft, data: LabelledArrays, prefix: str) -> tuple[str, ...]:
        """Sentences for the audit where a run left the domain of its model; channels of the run begin with `prefix`."""
        return ()


@record
class Field(Effect):
    """An effect that acts everywhere in a world, such as gravity: without `on` it acts on every spacecraft.

    With several spacecraft it is given once, or equally for each of them: `sim.system.world_fields` joins them.
    """

    def check_world(self, world: World) -> None:
        """Raise an error if it does not fit the world. Called once, when a system is built."""


@record
class Action:
    """Forces, rates and powers of an interaction at an instant."""

    forces: tuple[Vector, ...]  # generalised, on each spacecraft of the world
    rate: Any  # of its inner state, nested as `begin` made it
    power: Scalar  # of its forces on all spacecraft together [W]
    heat: Scalar  # power that it loses [W]


@record
class Approach:
    """Gaps between bodies that may touch, and how fast they close, at an instant."""

    gaps: Vector  # how far each place is from acting [m]; positive while it cannot act
    rates: Vector  # of the gaps [m/s]
    velocity: Numeric  # (6) or (6, gaps): of one body relative to the other, at a frame of it [m/s, rad/s]
    lever: Numeric  # () or (gaps): no place is farther from that frame than this [m]
    jump: Numeric | None = None  # by how much a gap may close faster than its rate where closest points jump [m/s]


@record
class Interaction(Part):
    """Something between bodies of a world that stores energy and may have a state of its own: compliant contact.

    Its law consists of smooth pieces. The signs of its `margins` say which of them hold: a flag is on where its margin
    is positive. A step is cut where a margin changes its sign, and divided into as many smaller ones as needed; where
    all margins are negative and nothing comes near, it costs nothing. Names in it are full names: `client.ring`.
    """

    def check_world(self, world: World) -> None:
        """Raise an error if it does not fit the world. Called once, when a system is built."""

    def pushed_frames(self, world: World) -> tuple[tuple[int, str], ...] | None:
        """Places at which it pushes, number of the spacecraft and frame; None where that is not known."""
        return None

    def is_between_spacecraft(self, world: World) -> bool:
        """False if the interaction pushes against something that stands still: then its forces do not cancel."""
        return True

    def begin(self, world: World) -> Any:
        """Inner state of the interaction at the start: any nest of float arrays, () if it has none."""
        return ()

    def margins(self, truth: Truth, inner: Any) -> Vector:
        """One number for each smooth piece of the law; the interaction acts while one of them is positive."""
        raise NotImplementedError

    def gaps(self, truth: Truth) -> tuple[Vector, Vector]:
        """Distances from acting [m], positive while it cannot act, and their rates [m/s]."""
        raise NotImplementedError

    def approach(self, truth: Truth) -> Approach:
        """Gaps and the motion that bounds their curvature; without it they are assumed to lie above their tangents."""
        gaps, rates = self.gaps(truth)
        return Approach(gaps, rates, jnp.zeros(6), jnp.zeros(()))

    def gap_bound(self, truth: Truth) -> tuple[Scalar, Scalar]:
        """Lower bound of the gaps [m] and upper bound of their closing speeds [m/s], at little cost."""
        return jnp.asarray(-jnp.inf), jnp.asarray(jnp.inf)

    def act(self, truth: Truth, inner: Any, on: Numeric, clock: Clock) -> Action:
        """Forces and rates of the interaction, with the flags of its margins; evaluated in every integrator stage."""
        raise NotImplementedError

    def stored(self, truth: Truth, inner: Any) -> Scalar:
        """Energy stored in the interaction [J]."""
        return jnp.zeros(())

    def reset_inner_state(self, inner: Any, on: Numeric) -> tuple[Any, Scalar]:
        """Inner state of the interaction after its flags have changed, and the energy lost by that [J]."""
        return inner, jnp.zeros(())

    def start_measurements(self, truth: Truth) -> Any:
        """Numbers of a start that `start_fault` checks."""
        return ()

    def start_fault(self, seen: Any) -> str:
        """Sentence that says what is wrong with a start, with the remedy; empty if nothing is wrong."""
        return ""

    def channels(self, world: World) -> tuple[Channel, ...]:
        """Channels that the interaction adds to a run, by full names."""
        return ()

    def observe(self, truth: Truth, inner: Any, clock: Clock) -> tuple[Numeric, ...]:
        """Values of the interaction's channels."""
        return ()


@record
class SensorMemory:
    """Measurements that a sensor holds until their latency is over."""

    values: Any  # by name, with the slots along the first axis
    taken: Numeric  # (slots,) [s]
    valid: Numeric  # (slots,)


@record
class Sensor(Part):
    """Measures the exact state at its own rate and reports it after its latency. Subclasses define `measure`."""

    period: float | None = static(default=None, kw_only=True)  # between two samples [s]; None: at every tick
    latency: float = static(default=0.0, kw_only=True)  # from sample to measurement [s]

    def __post_init__(self) -> None:
        require_bounds(self, {} if self.period is None else {"period": "s"}, above=0.0)
        require_bounds(self, {"latency": "s"}, least=0.0)

    def measure(self, truth: Truth, number: Numeric, clock: Clock) -> Mapping[str, Numeric]:
        """Values of sample `number` by name, such as {"base.rate": ...}; `read` puts the sensor's name in front."""
        raise NotImplementedError

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """Units and axes of its measurements, by the names in `measure`, where they are not names of quantities."""
        return ()

    def seen(self, truth: Truth, number: Numeric, clock: Clock) -> Flag:
        """True if this sample gives a measurement."""
        return jnp.asarray(True)

    # ---- its memory: the samples under way

    def begin(self, truth: Truth, clock: Clock) -> SensorMemory:
        """Memory of a sensor that has measured nothing yet."""
        period = clock.dt if self.period is None else self.period
        slots = 1 + int(np.ceil(self.latency / period - 1e-9))
        values = self.measure(truth, jnp.zeros((), jnp.int32), clock)
        empty = {name: jnp.repeat(jnp.asarray(value)[None], slots, axis=0) for name, value in values.items()}
        return SensorMemory(empty, jnp.full(slots, -jnp.inf), jnp.zeros(slots, bool))

    def sample(self, memory: SensorMemory, truth: Truth, number: Numeric, clock: Clock) -> Mapping[str, Numeric]:
        """Values of sample `number`, from the samples before it where they matter."""
        return self.measure(truth, number, clock)

    def sense(self, memory: SensorMemory, truth: Truth, number: Numeric, clock: Clock) -> SensorMemory:
        """Take a sample now; a lost sample leaves the older ones unchanged."""
        measured = self.seen(truth, number, clock)
        values = self.sample(memory, truth, number, clock)
        if len(memory.taken) == 1:
            kept = {name: jnp.where(measured, value, memory.values[name][0])[None] for name, value in values.items()}
            taken = jnp.where(measured, clock.t, memory.taken[0])[None]
            return SensorMemory(kept, taken, memory.valid | measured)
        mine = measured & (jnp.arange(len(memory.taken)) == number % len(memory.taken))
        return SensorMemory(
            {
                name: jnp.where(mine.reshape(-1, *(1,) * (old.ndim - 1)), values[name], old)
                for name, old in memory.values.items()
            },
            jnp.where(mine, clock.t, memory.taken),
            memory.valid | mine,
        )

    def read(self, memory: SensorMemory, clock: Clock) -> tuple[dict[str, Any], Scalar, Flag]:
        """Reported values by name, the time at which they were measured [s], and a flag that is on if there are any."""
        if len(memory.taken) == 1:
            now = {self.channel_name(name): value[0] for name, value in memory.values.items()}
            return now, memory.taken[0], memory.valid[0]
        ready = memory.valid & (memory.taken + self.latency <= clock.t + 1e-9)
        age = jnp.where(ready, memory.taken, -jnp.inf)
        newest = jnp.argmax(age)
        now = {self.channel_name(name): value[newest] for name, value in memory.values.items()}
        return now, age[newest], jnp.any(ready)


Memory = TypeVar("Memory")


@record
class Software(Part, Generic[Memory]):
    """On-board software: a control law, a filter, a sequence. It reads measurements and gives commands, nothing else.

    Its memory is any nest of arrays: `class Hold(ff.Software[HoldMemory])` says which, for an editor to check.

    With a `period` it is sampled: it runs at its ticks, and its commands are held in between. Without one its commands
    are continuous: computed in every stage of the integrator, while its memory changes at every tick of the run.
    """

    period: float | None = static(default=None, kw_only=True)  # between two ticks [s]; None: continuous

    @property
    def fastest_rate(self) -> Numeric | float:
        """Fastest rate of the software's own loops [rad/s]: a step that cannot follow it is reported before the run."""
        return 0.0

    @property
    def answer_port(self) -> str:
        """Input port of the commands and messages of software that runs outside the simulation; otherwise empty."""
        return ""

    @property
    def answer_size(self) -> int:
        """Count of numbers that arrive at `answer_port`."""
        return 0

    def begin(self, y: Measurements) -> Memory | tuple[()]:
        """Memory of the software before the first tick: any nest of arrays, () if it has none."""
        return ()

    def remember(self, memory: Memory, y: Measurements, clock: Clock) -> Memory:
        """Memory of the software after a tick."""
        return memory

    def command(self, memory: Memory, y: Measurements, clock: Clock) -> Command | tuple[Command, ...]:
        """Commands of the software to its spacecraft."""
        return ()

    def tell(self, memory: Memory, y: Measurements, clock: Clock) -> Mapping[str, Numeric]:
        """Messages to the software that runs later, by name. A message replaces a measurement of the same name."""
        return {}

    def channels(self) -> tuple[Channel, ...]:
        """Channels that the software adds to a run."""
        return ()

    def observe(self, memory: Memory, y: Measurements, clock: Clock, truth: Truth) -> tuple[Numeric, ...]:
        """Values of the channels, only for the record: nothing is fed back, so they may use the exact state."""
        return ()


def ticks_in(what: str, period: float, dt: float) -> int:
    """Number of ticks of dt [s] in a period [s]; raises an error if it is not a whole number."""
    ticks = round(period / dt)
    if ticks < 1 or abs(ticks * dt - period) > 1e-9 * period:
        raise ValueError(
            f"{what} every {period:g} s does not fit the step of {dt:g} s: the period must be a whole number of steps. "
            "Change dt or the period."
        )
    return ticks

"""What may act in a world, cut where hardware is cut: effects push, sensors measure, software commands.

Each is a small frozen record with pure functions. A part says whom it is on; names inside it need no prefix.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import jax.numpy as jnp
import numpy as np

from freefloat.model.commands import Command
from freefloat.model.spacecraft import Spacecraft
from freefloat.model.state import State
from freefloat.model.world import World
from freefloat.values import record, static
from freefloat.values.arrays import Flag, Numeric, Scalar, Vector
from freefloat.values.channels import Channel
from freefloat.values.checks import require_bounds
from freefloat.values.errors import ModelError, unknown_name

if TYPE_CHECKING:
    from freefloat.values.labelled import LabelledArrays


@dataclass(frozen=True)
class Clock:
    """What time it is for a part."""

    t: Scalar  # now [s]
    tick: Numeric  # int32: steps of the run since its start
    dt: float  # length of a tick [s]
    hold: float = 0.0  # how long the answer will be held [s]; 0: it is asked again and again


@runtime_checkable
class Measurements(Protocol):
    """What sensors, and software that ran before, tell: `y["base.rate"]`. Names are those of the run's channels."""

    def __getitem__(self, name: str) -> Any:
        """The latest value of that name."""
        ...

    def valid(self, name: str) -> Flag:
        """False while nothing has been measured under that name."""
        ...

    def taken(self, name: str) -> Scalar:
        """When the latest value was measured [s]; what is handed over without delay was measured now."""
        ...


@dataclass(frozen=True)
class Truth:
    """The whole truth, for sensors that measure it and for channels that compare with it; software never sees it."""

    world: World
    states: tuple[State, ...]
    own: int = 0  # number of the spacecraft that the part is on

    @property
    def craft(self) -> Spacecraft:
        """The part's own spacecraft."""
        return self.world.crafts[self.own]

    @property
    def state(self) -> State:
        """State of the part's own spacecraft."""
        return self.states[self.own]


@record
class Part:
    """Something that acts on a spacecraft or for it."""

    on: str = static(default="", kw_only=True)  # name of the spacecraft; may be left out where there is only one
    name: str = static(default="", kw_only=True)  # to tell two of a kind apart

    @property
    def title(self) -> str:
        """How messages call it."""
        return f"{type(self).__name__} '{self.name}'" if self.name else type(self).__name__

    def tells(self, name: str) -> str:
        """What it tells, under its own name where it has one: `gyro.2.base.rate`."""
        return f"{self.name}.{name}" if self.name else name

    def check(self, craft: Spacecraft) -> None:
        """Refuse a spacecraft that it does not fit. Asked once, when a system is built."""

    def require_known(self, craft: Spacecraft, kind: str, names: Iterable[str], known: Iterable[str]) -> None:
        """Refuse names that the spacecraft does not have: for `check`."""
        listed = tuple(known)
        for name in names:
            if name not in listed:
                raise ModelError(f"{self.title}: {unknown_name(craft.name, kind, name, listed)}")

    def require_moving(self, craft: Spacecraft, joints: Iterable[str]) -> None:
        """Refuse joints that have no coordinate of their own: for `check`."""
        try:
            craft.layout.require_moving(joints)
        except ModelError as error:
            raise ModelError(f"{self.title}: {error}") from None


@record
class Effect(Part):
    """Something that pushes a spacecraft: gravity gradient, friction, a spring, a wrench from outside."""

    def force(self, craft: Spacecraft, state: State, clock: Clock) -> Vector:
        """Generalised force (nv) now; evaluated in every stage of the integrator."""
        raise NotImplementedError

    def instants(self) -> tuple[Numeric | float, ...]:
        """Times at which its force is not smooth [s]: steps are cut there, so that its impulse is exact at any step.

        How many there are is fixed when the system is built; their values may vary. Infinite ones never come.
        """
        return ()

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """What it adds to a run."""
        return ()

    def observe(self, craft: Spacecraft, state: State, clock: Clock) -> tuple[Numeric, ...]:
        """The values of its channels."""
        return ()

    def domain_warnings(self, craft: Spacecraft, data: LabelledArrays, prefix: str) -> tuple[str, ...]:
        """Sentences for the audit where a run left the domain of its model; channels of the run begin with `prefix`."""
        return ()


@record
class Field(Effect):
    """An effect that fills the world, such as gravity: without `on` it acts on every spacecraft of it.

    In a world of several it is given once, or equal for each of them; `sim.fields` makes that one.
    """

    def check_world(self, world: World) -> None:
        """Refuse a world that it does not fit. Asked once, when a system is built."""


@record
class Action:
    """What an interaction does at an instant."""

    forces: tuple[Vector, ...]  # generalised, on each spacecraft of the world
    rate: Any  # of its inner state, nested as `begin` made it
    power: Scalar  # of its forces on all spacecraft together [W]
    heat: Scalar  # power that it loses [W]


@record
class Approach:
    """How what may touch comes closer at an instant."""

    gaps: Vector  # how far each place is from acting [m]; positive while it cannot act
    rates: Vector  # of the gaps [m/s]
    velocity: Numeric  # (6) or (6, gaps): of one body relative to the other, at a frame of it [m/s, rad/s]
    lever: Numeric  # () or (gaps): no place is farther from that frame than this [m]
    jump: Numeric | None = None  # by how much a gap may close faster than its rate where closest points jump [m/s]


@record
class Interaction(Part):
    """Something between bodies of a world that stores energy and may have a state of its own: compliant contact.

    Its law consists of smooth pieces. Which of them hold is told by the signs of its `margins`: flags that are on where
    a margin is positive. A step is cut where a margin changes its sign, and made of as many smaller ones as it takes;
    where all margins are negative and nothing comes near, it costs nothing. Names in it are full ones: `client.ring`.
    """

    def check_world(self, world: World) -> None:
        """Refuse a world that it does not fit. Asked once, when a system is built."""

    def is_between_spacecraft(self, world: World) -> bool:
        """False if it pushes against something that stands still: then its forces do not cancel."""
        return True

    def begin(self, world: World) -> Any:
        """Its inner state at the start: any nest of float arrays. () where it has none."""
        return ()

    def margins(self, truth: Truth, inner: Any) -> Vector:
        """One for each smooth piece of its law; it acts while one of them is positive."""
        raise NotImplementedError

    def gaps(self, truth: Truth) -> tuple[Vector, Vector]:
        """How far it is from acting [m], and how fast that changes [m/s]; positive while it cannot act."""
        raise NotImplementedError

    def approach(self, truth: Truth) -> Approach:
        """The gaps with the motion that bounds how they bend; with none they are taken to lie above their tangents."""
        gaps, rates = self.gaps(truth)
        return Approach(gaps, rates, jnp.zeros(6), jnp.zeros(()))

    def far(self, truth: Truth) -> tuple[Scalar, Scalar]:
        """At a glance: its gaps are no less than this [m], and close no faster than that [m/s]."""
        return jnp.asarray(-jnp.inf), jnp.asarray(jnp.inf)

    def act(self, truth: Truth, inner: Any, on: Numeric, clock: Clock) -> Action:
        """What it does, with the flags of its margins; evaluated in every stage of the integrator."""
        raise NotImplementedError

    def stored(self, truth: Truth, inner: Any) -> Scalar:
        """Energy in it [J]."""
        return jnp.zeros(())

    def settle(self, inner: Any, on: Numeric) -> tuple[Any, Scalar]:
        """Its inner state after flags have changed, and the energy that is lost with that [J]."""
        return inner, jnp.zeros(())

    def seen_at_start(self, truth: Truth) -> Any:
        """Numbers of a start that `objection` judges."""
        return ()

    def objection(self, seen: Any) -> str:
        """What is wrong with a start, in a sentence with its remedy; empty where nothing is."""
        return ""

    def channels(self, world: World) -> tuple[Channel, ...]:
        """What it adds to a run, by full names."""
        return ()

    def observe(self, truth: Truth, inner: Any, clock: Clock) -> tuple[Numeric, ...]:
        """The values of its channels."""
        return ()


@record
class SensorMemory:
    """Measurements that a sensor holds: the latest ones, until their latency is over."""

    values: Any  # by name, with the slots along the first axis
    taken: Numeric  # (slots,) [s]
    valid: Numeric  # (slots,)


@record
class Sensor(Part):
    """Measures the truth at its own rate and tells it after its latency. Subclasses write `measure`."""

    period: float | None = static(default=None, kw_only=True)  # between two samples [s]; None: at every tick
    latency: float = static(default=0.0, kw_only=True)  # from sample to measurement [s]

    def __post_init__(self) -> None:
        require_bounds(self, {} if self.period is None else {"period": "s"}, above=0.0)
        require_bounds(self, {"latency": "s"}, least=0.0)

    def measure(self, truth: Truth, number: Numeric, clock: Clock) -> Mapping[str, Numeric]:
        """Sample number `number`: values by name, such as {"base.rate": ...}; `read` puts its own name in front."""
        raise NotImplementedError

    def seen(self, truth: Truth, number: Numeric, clock: Clock) -> Flag:
        """Whether this sample gave anything."""
        return jnp.asarray(True)

    # ---- its memory: the samples under way

    def begin(self, truth: Truth, clock: Clock) -> SensorMemory:
        """Nothing measured yet."""
        period = clock.dt if self.period is None else self.period
        slots = 1 + int(np.ceil(self.latency / period - 1e-9))
        values = self.measure(truth, jnp.zeros((), jnp.int32), clock)
        empty = {name: jnp.repeat(jnp.asarray(value)[None], slots, axis=0) for name, value in values.items()}
        return SensorMemory(empty, jnp.full(slots, -jnp.inf), jnp.zeros(slots, bool))

    def sense(self, memory: SensorMemory, truth: Truth, number: Numeric, clock: Clock, works: Flag) -> SensorMemory:
        """Take a sample now; a lost one, or one of a sensor that no longer works, leaves the older ones as they are."""
        seen = works & self.seen(truth, number, clock)
        values = self.measure(truth, number, clock)
        if len(memory.taken) == 1:
            kept = {name: jnp.where(seen, value, memory.values[name][0])[None] for name, value in values.items()}
            taken = jnp.where(seen, clock.t, memory.taken[0])[None]
            return SensorMemory(kept, taken, memory.valid | seen)
        mine = seen & (jnp.arange(len(memory.taken)) == number % len(memory.taken))
        return SensorMemory(
            {name: jnp.where(_along(mine, old), values[name], old) for name, old in memory.values.items()},
            jnp.where(mine, clock.t, memory.taken),
            memory.valid | mine,
        )

    def read(self, memory: SensorMemory, clock: Clock) -> tuple[dict[str, Any], Scalar, Flag]:
        """What it tells now: values by name, when they were taken, and whether there are any."""
        if len(memory.taken) == 1:
            now = {self.tells(name): value[0] for name, value in memory.values.items()}
            return now, memory.taken[0], memory.valid[0]
        ready = memory.valid & (memory.taken + self.latency <= clock.t + 1e-9)
        age = jnp.where(ready, memory.taken, -jnp.inf)
        newest = jnp.argmax(age)
        now = {self.tells(name): value[newest] for name, value in memory.values.items()}
        return now, age[newest], jnp.any(ready)


def _along(mine: Numeric, values: Numeric) -> Numeric:
    return mine.reshape(-1, *(1,) * (values.ndim - 1))


@record
class Software(Part):
    """On-board software: a control law, a filter, a sequence. It sees measurements and gives commands, nothing else.

    With a `period` it is sampled: asked at its ticks, its commands held in between. Without one its commands are
    continuous: asked in every stage of the integrator, while its memory changes at every tick of the run.
    """

    period: float | None = static(default=None, kw_only=True)  # between two ticks [s]; None: continuous

    @property
    def fastest_rate(self) -> Numeric | float:
        """Rate of its own loop [rad/s]: a step that cannot follow it is reported before the run."""
        return 0.0

    @property
    def answer_port(self) -> str:
        """Input port of its commands and messages where it runs outside the simulation; empty where it does not."""
        return ""

    @property
    def answer_size(self) -> int:
        """Length of an answer at that port."""
        return 0

    def begin(self, y: Measurements) -> Any:
        """Its memory before the first tick: any nest of arrays. () where it remembers nothing."""
        return ()

    def remember(self, memory: Any, y: Measurements, clock: Clock) -> Any:
        """Its memory after a tick."""
        return memory

    def command(self, memory: Any, y: Measurements, clock: Clock) -> Command | tuple[Command, ...]:
        """What it asks of the spacecraft."""
        return ()

    def tell(self, memory: Any, y: Measurements, clock: Clock) -> Mapping[str, Numeric]:
        """Messages to the software after it, by name. One that is called like a measurement takes its place."""
        return {}

    def channels(self) -> tuple[Channel, ...]:
        """What it adds to a run."""
        return ()

    def observe(self, memory: Any, y: Measurements, clock: Clock, truth: Truth) -> tuple[Numeric, ...]:
        """The values of its channels, for the record only: nothing flows back, so they may compare with the truth."""
        return ()


def ticks_in(what: str, period: float, dt: float) -> int:
    """How many ticks of dt make a period; an error says if it is not a whole number."""
    ticks = round(period / dt)
    if ticks < 1 or abs(ticks * dt - period) > 1e-9 * period:
        raise ValueError(
            f"{what} every {period:g} s does not fit the step of {dt:g} s: the period must be a whole number of steps. "
            "Change dt or the period."
        )
    return ticks

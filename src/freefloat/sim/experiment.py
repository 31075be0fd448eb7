"""An experiment: a system, its start, its duration, its steps, and its inputs. Every driver takes one."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import jax
import numpy as np

from freefloat.model import Part, Spacecraft, State, World
from freefloat.model.start_state import Joints
from freefloat.sim import experiment_text
from freefloat.sim.events.clearance_pairs import with_chosen_pairs
from freefloat.sim.events.mesh_clearance import require_measurable
from freefloat.sim.record.recording import channels_of
from freefloat.sim.rollout import grid
from freefloat.sim.start import begin
from freefloat.sim.step_choice import longest_tick, periods_of, require_accuracy, with_chosen_step
from freefloat.sim.system.input_ports import Signal, tabulate
from freefloat.sim.system.input_signals import split_wrench_steps
from freefloat.sim.system.system import System, SystemState, assemble
from freefloat.values.channels import Channel
from freefloat.values.checks import require_quantity
from freefloat.values.errors import ModelError
from freefloat.values.short_text import pre_block

Integrator = Literal["rk4", "adaptive"]
States = State | Mapping[str, State]
_STEP = 0.01  # [s], where none is given


@dataclass(frozen=True)
class Experiment:
    """What is simulated, and how. `Experiment.of` makes one from a spacecraft or a world and parts."""

    system: System
    start: tuple[State, ...]  # of each spacecraft
    duration: float  # [s]
    record_dt: float | None = None  # [s]; None: about 2000 records
    integrator: Integrator = "rk4"
    tolerance: float = 1e-10  # of adaptive steps
    inputs: Mapping[str, Signal] = field(default_factory=dict)  # by port: array, function of the tick, Steps, value
    scenario: Mapping[str, Any] = field(default_factory=dict)  # its scenario and settings, as plain data

    @staticmethod
    def of(
        what: Spacecraft | World,
        *parts: Part,
        duration: float,
        state: States | None = None,
        joints: Joints | None = None,
        joints_deg: Joints | None = None,
        dt: float | None = None,
        accuracy: Mapping[str, float] | None = None,
        record_dt: float | None = None,
        integrator: Integrator = "rk4",
        tolerance: float = 1e-10,
        inputs: Mapping[str, Signal] | None = None,
        vary: str | Sequence[str] = "all",
    ) -> Experiment:
        """An experiment with a spacecraft, or with a world of several, and the parts that act in it.

        Parts are sorted by their base class: effects, thrusters, sensors, software, failures.

        duration: length of the run [s].
        state: state at the start; of a world states by name, the others begin at rest. None: at rest.
        joints: positions of the joints at the start [rad, m], all in order or some by name; in place of `state`.
        joints_deg: the same in degrees for revolute joints, in metres for the others.
        dt: length of a tick, and of a fixed step [s]; None: 0.01 s.
        accuracy: permitted errors, `{"attitude_deg": 0.01}`; in place of `dt`, which trial runs then find
            (`sim.step_choice`).
        record_dt: time between two records [s]; None: about 2000 records.
        integrator: "rk4" for fixed steps, "adaptive" for steps that follow `tolerance`.
        tolerance: permitted error of an adaptive step, relative to 1 + size, in SI units.
        inputs: signals by port: an array over time, a function of the tick, `Steps`, or one value.
        vary: numbers that may change without compiling again: "all", "nothing", or some by dotted path.
        """
        world = World.of(what)
        inputs, pushes = split_wrench_steps(world, _require_signals(inputs or {}))
        parts = (*parts, *pushes)
        for craft in world.crafts:
            craft.check()
        require_choice("integrator", integrator, ("rk4", "adaptive"))
        require_quantity("tolerance", tolerance, "", above=0.0)
        if accuracy is not None:
            dt = _tick_of_trials(accuracy, parts, duration, record_dt, inputs, fixed=dt is None and integrator == "rk4")
        dt = _STEP if dt is None else dt
        grid(duration, dt, record_dt)  # its checks
        system = assemble(world, parts, dt, tuple(inputs), vary if isinstance(vary, str) else tuple(vary))
        start = _start(world, state, joints, joints_deg)
        system = with_chosen_pairs(system, start)
        require_measurable(system)
        experiment = Experiment(system, start, duration, record_dt, integrator, tolerance, dict(inputs))
        return experiment if accuracy is None else with_chosen_step(experiment, accuracy)

    def __repr__(self) -> str:
        return f"<{experiment_text.headline(self)}>"

    def __str__(self) -> str:
        return "\n".join(experiment_text.lines(self))

    def _repr_html_(self) -> str:
        """What is simulated, and how, for notebooks."""
        return pre_block(experiment_text.lines(self))

    @property
    def world(self) -> World:
        """The world that is simulated, with its spacecraft."""
        return self.system.world

    @property
    def dt(self) -> float:
        """Length of a tick [s]."""
        return self.system.dt

    def begin(self) -> tuple[System, SystemState]:
        """The system with its wires, and its state at tick zero; an error if the integrator cannot simulate it."""
        if self.integrator == "adaptive" and self.world.has_events:
            raise ModelError(
                "Adaptive steps do not look for events: connections, brakes and contacts need integrator='rk4'. "
                "Shorten dt until the result no longer changes."
            )
        if self.integrator == "adaptive" and any(part.limit is not None for part in self.system.clearances):
            raise ModelError(
                "Adaptive steps do not look for clearances that close: a limit needs integrator='rk4'. Leave it out to "
                "record distances only."
            )
        if self.integrator == "adaptive" and self.system.interactions:
            raise ModelError(
                f"Adaptive steps do not look for where contact begins: {self.system.interactions[0].title} needs "
                "integrator='rk4', which makes its steps as short as contact needs them."
            )
        for software in self.system.software:
            port = software.answer_port and self.system.full_name(
                software.answer_port, self.system.craft_index(software)
            )
            if port and port not in self.inputs:
                raise ModelError(
                    f"{software.title} runs outside, and nothing answers for it here. Fly the experiment with it: "
                    "ff.fly(experiment, software)."
                )
        rows = tabulate(self.system, self.inputs, 0, 1, end=grid(self.duration, self.dt, self.record_dt).steps)
        return begin(self.system, self.start, {port: np.asarray(values[0]) for port, values in rows.items()})

    def channels(self) -> tuple[Channel, ...]:
        """Channels that a run records: names, units, axes, components. Nothing is run."""
        system, state = self.begin()
        return channels_of(system, state, self.start)

    def resting_ports(self) -> tuple[str, ...]:
        """Ports of given actuators that neither software nor an input commands: they rest at zero. Nothing is run."""
        return self.begin()[0].wiring.resting

    def description(self) -> dict[str, Any]:
        """Description of the experiment as plain data for the run."""
        own = {"duration": self.duration, "dt": self.dt, "integrator": self.integrator}
        return dict(self.scenario) or {"spacecraft": ", ".join(self.world.names), **own}

    def with_step(self, dt: float) -> Experiment:
        """A copy of the experiment with another step dt [s]."""
        grid(self.duration, dt, self.record_dt)  # its checks
        return dataclasses.replace(self, system=dataclasses.replace(self.system, dt=dt))

    def with_parts(self, *parts: Part) -> Experiment:
        """A copy of the experiment with more parts, such as a failure."""
        system = assemble(self.world, (*self.system.parts, *parts), self.dt, self.system.ports, self.system.vary)
        return dataclasses.replace(self, system=with_chosen_pairs(system, self.start))


# Options of `Experiment.of` with their defaults; `inspect.Parameter.empty` for the one that must be given.
_OPTIONS = {
    name: parameter.default
    for name, parameter in inspect.signature(Experiment.of).parameters.items()
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY
}


def experiment_from(
    what: Experiment | Spacecraft | World, parts: tuple[Part, ...], arguments: Mapping[str, Any]
) -> Experiment:
    """The experiment that a driver was called with: `what` itself, or one made from it with parts and options.

    `arguments`: of the driver, by name. Those that are options of `Experiment.of` have its defaults, but `duration` has
    None; an experiment with parts or options beside it raises an error.
    """
    given = {name: arguments[name] for name, default in _OPTIONS.items() if not _is_default(arguments[name], default)}
    if not isinstance(what, Experiment):
        if "duration" not in given:
            raise TypeError("simulate() needs the length of the run: give duration=... [s], or an Experiment.")
        return Experiment.of(what, *parts, **given)
    if parts or given:
        raise ValueError("An experiment has its parts and options already. Change it by dataclasses.replace.")
    return what


def _is_default(value: Any, default: Any) -> bool:
    """Whether an option was left out, as far as its value shows."""
    if default is None or default is inspect.Parameter.empty:
        return value is None
    return isinstance(value, type(default)) and value == default


def _tick_of_trials(
    accuracy: Mapping[str, float],
    parts: Iterable[Part],
    duration: float,
    record_dt: float | None,
    inputs: Mapping[str, Signal],
    *,
    fixed: bool,
) -> float:
    """The step with which trial runs for a wanted accuracy begin [s]."""
    if not fixed:
        raise ValueError("Give either dt or accuracy, and accuracy with integrator='rk4' only.")
    require_quantity("duration", duration, "s", above=0.0)
    require_accuracy(accuracy, inputs)
    return longest_tick(duration, [period for part in parts for period in periods_of(part)], record_dt)


def _require_signals(inputs: Any) -> Mapping[str, Signal]:
    if not isinstance(inputs, Mapping):
        raise ModelError(f"inputs must be signals by port, inputs={{'hand.wrench': ...}}, got {inputs!r}.")
    if unnamed := [port for port in inputs if not isinstance(port, str)]:
        raise ModelError(f"A port is called by its name, got {unnamed[0]!r}.")
    return inputs


def require_choice(name: str, value: str, known: Sequence[str]) -> None:
    """Raise an error for a choice that is not one of the known ones."""
    if value not in known:
        raise ValueError(f"There is no {name} '{value}'. Choose one of: {', '.join(known)}.")


def _start(world: World, state: States | None, joints: Joints | None, joints_deg: Joints | None) -> tuple[State, ...]:
    if state is not None and (joints is not None or joints_deg is not None):
        raise ValueError("Give either state, or joints or joints_deg, not both.")
    if world.single and not isinstance(state, Mapping):
        craft = world.crafts[0]
        return (
            craft.at_rest(joints=joints, joints_deg=joints_deg) if state is None else _normalised_state(craft, state),
        )
    if joints is not None or joints_deg is not None:
        raise ModelError(
            f"joints and joints_deg are for one spacecraft. Give states by name, state={{'{world.names[0]}': "
            "craft.at_rest(joints_deg=...)}."
        )
    states: Mapping[str, State] = state if isinstance(state, Mapping) else {}
    if state is not None and not isinstance(state, Mapping):
        raise ModelError(f"Give states by name for a world of several: {', '.join(world.names)}.")
    if unknown := [name for name in states if name not in world.names]:
        raise ModelError(f"The world has no spacecraft '{unknown[0]}'. Spacecraft: {', '.join(world.names)}.")
    pairs: Iterable[tuple[str, Spacecraft]] = zip(world.names, world.crafts, strict=True)
    return tuple(_normalised_state(craft, states[name]) if name in states else craft.at_rest() for name, craft in pairs)


def _normalised_state(craft: Spacecraft, state: State) -> State:
    start: State = jax.tree.map(lambda x: np.asarray(x, dtype=float), craft.require_state(state))
    return dataclasses.replace(start, quat_NB=start.quat_NB / np.linalg.norm(start.quat_NB))

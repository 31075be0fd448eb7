"""Errors planted in random runs of the families: the smallest that the audit catches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from audit_families import family
from audit_faults import FaultyExperiment

import freefloat as ff
from freefloat.engine import traced_anew
from freefloat.model import Clock, Effect, Interaction, Spacecraft, State
from freefloat.sim.audit import wheel_limits
from freefloat.sim.events import piecewise_steps
from freefloat.sim.motion import accelerations as balance
from freefloat.values import record

ERRORS = tuple(10.0**-k for k in range(1, 11))  # relative


@dataclass(frozen=True)
class Planted:
    """An error in a family of runs, and how large it may be without being caught."""

    family: str
    structure: int
    error: str  # in words
    runs: Callable[[ff.Experiment], Callable[[float], ff.Run]]  # with a relative error
    required: float
    errors: tuple[float, ...] = ERRORS

    def smallest_caught(self, seed: int) -> float | None:
        """The smallest relative error that is refused, and all larger ones too; the right run must hold."""
        run, caught = self.runs(family(self.family).experiment(self.structure, seed)), None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a boom may bend more than its linear model is for
            if not run(0.0).audit.holds:
                raise SystemExit(f"{self.family}, structure {self.structure}, seed {seed}: the right run is refused.")
            for error in self.errors:
                if run(error).audit.holds:
                    return caught
                caught = error
        return caught


# ---- a wrong inertia


def wrong_inertia(experiment: ff.Experiment) -> Callable[[float], ff.Run]:
    """The first body's inertia is too large in the equations of motion."""
    faulty = FaultyExperiment(experiment)
    return lambda error: faulty.run(faulty.craft.bodies[0].name, error)


# ---- a push between ticks that nobody declares


@record
class UndeclaredPush(Effect):
    """A force on the base that does not say when it begins and ends."""

    force_x: Any  # [N]
    start: Any  # [s]
    stop: Any  # [s]

    def force(self, craft: Spacecraft, state: State, clock: Clock) -> Any:
        """Along x of the base."""
        acts = (clock.t >= self.start) & (clock.t < self.stop)
        return jnp.zeros(craft.layout.nv).at[0].set(jnp.where(acts, self.force_x, 0.0))


def undeclared_push(experiment: ff.Experiment) -> Callable[[float], ff.Run]:
    """A tenth of a step long, inside the step in the middle of the run, with an impulse relative to the motion's."""
    dt, world = experiment.dt, experiment.world
    middle = (round(0.5 * experiment.duration / dt) + 0.3) * dt
    motion = ff.simulate(experiment, check=False)
    mass, prefix = float(world.crafts[0].mass), world.prefix(0)
    size = np.sqrt(2.0 * float(np.max(motion[f"{prefix}energy.inner"].values)) * mass)
    size += float(np.max(np.linalg.norm(motion[f"{prefix}impulse.linear"].values, axis=-1)))

    def run(error: float) -> ff.Run:
        push = UndeclaredPush(error * size / (0.1 * dt), middle, middle + 0.1 * dt, on=world.names[0])
        return ff.simulate(experiment.with_parts(push), check=False)

    return run


# ---- a contact that pushes one of two bodies more than the other


@record
class Fault(Interaction):
    """Does nothing; it carries the relative error of the other interactions' forces on the last spacecraft."""

    error: Any

    def margins(self, truth: Any, inner: Any) -> Any:
        """It never acts."""
        return -jnp.ones(1)

    def gaps(self, truth: Any) -> tuple[Any, Any]:
        """It never comes near."""
        return jnp.ones(1), jnp.zeros(1)

    def gap_bound(self, truth: Any) -> tuple[Any, Any]:
        """It is far away."""
        return jnp.asarray(1.0), jnp.asarray(0.0)

    def act(self, truth: Any, inner: Any, on: Any, clock: Clock) -> Any:
        """Nothing."""
        nothing = tuple(jnp.zeros(craft.layout.nv) for craft in truth.world.crafts)
        return ff.model.Action(nothing, inner, jnp.zeros(()), jnp.zeros(()))


@contextmanager
def _unequal() -> Iterator[None]:
    """While this lasts, contact pushes the last spacecraft more than it should."""
    right = balance.actions

    def wrong(system: Any, *arguments: Any) -> Any:
        error = system.interactions[-1].error

        def more(action: Any) -> Any:
            forces = (*action.forces[:-1], (1.0 + error) * action.forces[-1])
            return ff.model.Action(forces, action.rate, action.power, action.heat)

        return tuple(map(more, right(system, *arguments)))

    try:
        balance.actions = wrong
        with traced_anew():
            yield
    finally:
        balance.actions = right


def unequal_contact(experiment: ff.Experiment) -> Callable[[float], ff.Run]:
    """The force on the last spacecraft is too large."""

    def run(error: float) -> ff.Run:
        with _unequal():
            return ff.simulate(experiment.with_parts(Fault(error, name="fault")), check=False)

    return run


# ---- a contact within a step that is missed


@contextmanager
def _missed() -> Iterator[None]:
    """While this lasts, gaps that close and open again within a step, or within a part of one, are not noticed."""
    right = piecewise_steps.dip_between
    try:
        piecewise_steps.dip_between = lambda before, after, h: (jnp.asarray(False), 0.5 * h)
        with traced_anew():
            yield
    finally:
        piecewise_steps.dip_between = right


def missed_contact(experiment: ff.Experiment) -> Callable[[float], ff.Run]:
    """All of it or nothing."""

    def run(error: float) -> ff.Run:
        if not error:
            return ff.simulate(experiment, check=False)
        with _missed():
            return ff.simulate(experiment, check=False)

    return run


# ---- a wheel that goes beyond its limit


def overfull_wheel(experiment: ff.Experiment) -> Callable[[float], ff.Run]:
    """Its limit acts too late: the audit knows a smaller one."""
    right = wheel_limits.momentum_capacity

    def run(error: float) -> ff.Run:
        try:
            wheel_limits.momentum_capacity = lambda *of: right(*of) / (1.0 + error)
            return ff.simulate(experiment, check=False)
        finally:
            wheel_limits.momentum_capacity = right

    return run


PLANTED = (
    Planted("prescribed_booms", 3, "inertia of the hub", wrong_inertia, 1e-5),
    Planted("tiny_hubs", 3, "inertia of the hub", wrong_inertia, 1e-3),
    Planted("orbiting_groups", 1, "inertia of the first hub", wrong_inertia, 1e-5),
    Planted("orbiting_groups", 4, "inertia of the first hub, latched", wrong_inertia, 1e-5),
    Planted("orbiting_groups", 1, "impulse of an undeclared push", undeclared_push, 1e-2),
    Planted("pulses", 1, "impulse of an undeclared push", undeclared_push, 1e-2),
    Planted("trees", 1, "impulse of an undeclared push", undeclared_push, 1e-2),
    Planted("contacts", 5, "contact force on one of two", unequal_contact, 1e-5),
    Planted("brief_contacts", 5, "contact force on one of two", unequal_contact, 1e-5),
    Planted("brief_contacts", 10, "all contact missed", missed_contact, 1.0, errors=(1.0,)),
    Planted("full_wheels", 0, "momentum beyond the limit", overfull_wheel, 1e-1),
    Planted("full_wheels", 0, "inertia of the hub", wrong_inertia, 1e-5),
    Planted("near_rest", 4, "inertia of the station", wrong_inertia, 1e-5),
    Planted("latches", 5, "inertia of the first hub", wrong_inertia, 1e-5),
)


def family_faults(seed: int) -> tuple[list[dict[str, Any]], bool]:
    """Every planted error; a table."""
    rows, fine = [], True
    print(f"{'family':<38} {'planted':<34} {'smallest caught':>15} {'required':>9}   (seed {seed})")
    for planted in PLANTED:
        caught = planted.smallest_caught(seed)
        fine &= caught is not None and caught <= 1.001 * planted.required
        rows.append({"family": planted.family, "error": planted.error, "caught": caught, "required": planted.required})
        shown, title = "-" if caught is None else f"{caught:.0e}", family(planted.family).title
        print(f"{title:<38} {planted.error:<34} {shown:>15} {planted.required:>9.0e}", flush=True)
    return rows, fine

"""Check before a run whether the step can follow the natural frequencies of the model and the rates of software."""

from __future__ import annotations

import numpy as np

from freefloat.dynamics import mass_matrix
from freefloat.dynamics.vibration import elastic_places, stiffness_matrix
from freefloat.engine import compile_varied
from freefloat.model import Spacecraft, State
from freefloat.sim.system.system import System

# RK4 takes (W h)^6 / 144 of the amplitude of a vibration at the rate W away in every step h. At W h = 1 that is 0.7 %
# in every radian: such a mode is gone after a few cycles, whatever its own damping.
_RESOLVED = 1.0
_UNSTABLE = 2.0 * np.sqrt(2.0)  # beyond this RK4 makes an undamped vibration grow
_ADVISED = 0.5  # of the step that is advised: 1e-4 of the amplitude in a step, which real damping exceeds


class UnresolvedWarning(UserWarning):
    """Warning that a mode or software is faster than the step can follow."""


def unresolved_rates(system: System, states: tuple[State, ...]) -> tuple[str, ...]:
    """One sentence for each flexible body and each piece of software that is faster than the step can follow."""
    found, world = [], system.world
    for c, (craft, state) in enumerate(zip(world.crafts, states, strict=True)):
        found += [
            f"{world.prefix(c)}{body}: dt = {system.dt:g} s cannot follow its mode at {rate:.3g} rad/s: the "
            f"integration would {'make it grow' if rate * system.dt > _UNSTABLE else 'damp it away'}. Use dt = "
            f"{_fitting_step(system.dt, rate):.10g} or shorter, or "
            f"{'leave its flexibility out' if body.endswith('.gear') else 'keep fewer modes'}."
            for body, rate in fastest_modes(craft, np.asarray(state.q)).items()
            if rate * system.dt > _RESOLVED
        ]
    for software in system.software:
        rate = float(software.fastest_rate)
        if rate * system.dt > _RESOLVED:
            found.append(
                f"{software.title}: dt = {system.dt:g} s cannot follow its loop at {rate:.3g} rad/s. Use dt = "
                f"{_fitting_step(system.dt, rate):.10g} or shorter, or a slower loop."
            )
    return tuple(found)


def fastest_modes(craft: Spacecraft, q: np.ndarray) -> dict[str, float]:
    """Fastest natural frequency [rad/s] of the spacecraft that belongs mostly to each flexible body or joint."""
    places = elastic_places(craft)
    if not places:
        return {}
    import scipy.linalg  # only flexible spacecraft need it

    q = np.asarray(q, dtype=float)
    M, K = np.asarray(compile_varied(mass_matrix, craft, q)(q)), stiffness_matrix(craft)
    squared, shapes = scipy.linalg.eigh(K, M)
    found: dict[str, float] = {}
    for value, shape in zip(squared, shapes.T, strict=True):
        stored = {name: float(shape[at] @ K[np.ix_(at, at)] @ shape[at]) for name, at in places.items()}
        owner = max(stored, key=lambda name: stored[name])
        found[owner] = max(found.get(owner, 0.0), float(np.sqrt(max(value, 0.0))))
    return found


def _fitting_step(dt: float, rate: float) -> float:
    """The longest whole fraction of the step [s] that follows a rate; periods that fitted the step fit it too."""
    return float(dt / np.ceil(rate * dt / _ADVISED))

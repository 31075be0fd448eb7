"""Check whether a run stayed within the domain of its linear models; the audit lists warnings if not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from freefloat.dynamics.elastic import flexible_bodies
from freefloat.model import ModalBody, Spacecraft
from freefloat.sim.system.system import System

if TYPE_CHECKING:
    from freefloat.values.labelled import LabelledArrays

# Beyond these a linear beam is wrong by about a per cent: the bending moment of a beam bent by a tenth of its length,
# the sine of a slope of 0.2 rad, the frequency of a blade that turns at a tenth of it.
_DISPLACEMENT = 0.1  # of the distance from the root
_SLOPE = 0.2  # [rad]
_RATE = 0.1  # of the lowest natural frequency


def domain_warnings(craft: Spacecraft, data: LabelledArrays, prefix: str = "") -> tuple[str, ...]:
    """One sentence for each way in which a flexible body left the domain of its model; `prefix`: of its channels."""
    found: list[str] = []
    for body in flexible_bodies(craft):
        found += _bending_warnings(body, data[f"{prefix}{body.name}.modes"].values, data["time"].values)
        found += _turning_warnings(body, data[f"{prefix}{body.name}.rate"].values, data["time"].values)
        if getattr(body, "first_order", False):
            found.append(f"{body.name}: imported without mode shapes, so its inertia is right to first order only.")
    return tuple(found)


def effect_warnings(system: System, data: LabelledArrays) -> list[str]:
    """Sentences of all effects about where a run left the domain of their models."""
    world = system.world
    return [
        sentence
        for effect in system.effects
        for c, craft in enumerate(world.crafts)
        if system.acts_on(effect, c)
        for sentence in effect.domain_warnings(craft, data, world.prefix(c))
    ]


def _turning_warnings(body: ModalBody, rate: np.ndarray, t: np.ndarray) -> list[str]:
    """Warning for a body that turns fast without geometric stiffening, which only some models have."""
    turning, lowest = np.linalg.norm(rate, axis=-1), float(body.frequencies()[0])
    stiffened = bool(np.any(np.asarray(body.short_mixed_moment)))
    if stiffened or np.max(turning) <= _RATE * lowest:
        return []
    return [
        f"{body.name}: it turns at {np.max(turning):.3g} rad/s at {t[np.argmax(turning)]:g} s, more than {_RATE:g} of "
        f"its lowest frequency {lowest:.3g} rad/s, and it has no geometric stiffening. A single straight beam can have "
        "it (stiffening=True); any other body must turn more slowly."
    ]


def _bending_warnings(body: ModalBody, b: np.ndarray, t: np.ndarray) -> list[str]:
    found = []
    for node in body.nodes:
        reach = float(np.linalg.norm(np.asarray(node.position)))
        moved = np.linalg.norm(b @ np.asarray(node.translation).T, axis=-1)
        turned = np.linalg.norm(b @ np.asarray(node.rotation).T, axis=-1)
        if reach and np.max(moved) > _DISPLACEMENT * reach:
            found.append(
                f"{body.name}: {node.name} moved {np.max(moved):.3g} m at {t[np.argmax(moved)]:g} s, more than "
                f"{_DISPLACEMENT:g} of its {reach:.3g} m; the linear model is for small deflections."
            )
        if np.max(turned) > _SLOPE:
            found.append(
                f"{body.name}: {node.name} turned {np.max(turned):.3g} rad at {t[np.argmax(turned)]:g} s, more than "
                f"{_SLOPE:g} rad; the linear model is for small slopes."
            )
    return found

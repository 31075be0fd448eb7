"""The page of a linear model: its modes moving, frequencies and damping, pole map, Bode plots, in one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from freefloat.control.lqr import Regulator, SecondOrderModel, StateSpace, spacecraft_structure
from freefloat.model import Spacecraft
from freefloat.report import linear_words
from freefloat.report.documents import document, put
from freefloat.report.linear_facts import LinearFacts, linear_facts
from freefloat.report.linear_words import STILL
from freefloat.report.markup import element, joined, text
from freefloat.report.mode_scene import mode_scene
from freefloat.report.payload import Bytes
from freefloat.values.checks import require_numbers
from freefloat.values.errors import ModelError

_SCRIPTS = (
    *("payload.js", "theme.js", "axes.js", "linear.js", "camera.js", "painter.js", "scene.js"),
    *("modes.js", "responses.js", "linear_page.js"),
)
_MOST_MODES = 80  # that can be watched
_MOST_OUTPUTS = 16  # that are shown where none are chosen


class InOrbit(Protocol):
    """A linear model in orbit, as `analysis.linearise_in_orbit` gives it."""

    @property
    def structure(self) -> SecondOrderModel:
        """M, G, C, K."""
        ...

    @property
    def motion(self) -> np.ndarray:
        """Velocities of the spacecraft by the rates of the coordinates."""
        ...


def linear_page(
    model: SecondOrderModel | Spacecraft | InOrbit,
    path: str | Path,
    *,
    craft: Spacecraft | None = None,
    q: Any = None,
    motion: Any = None,
    controller: StateSpace | Regulator | None = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    units: Mapping[str, str] | None = None,
    title: str = "",
    notes: Sequence[str] = (),
) -> Path:
    """Write the page of a structure, of a model in orbit, or of a spacecraft at rest (at q, joints and modes).

    With `craft` the modes move; a structure of other coordinates than its v needs `motion`: how v follows their rates.
    `controller` is a regulator or a compensator, continuous or sampled. `inputs` and `outputs` choose
    those of the Bode plots, `units` names theirs (`{"wheel": "N m", "tip": "m"}`).
    """
    if isinstance(model, Spacecraft):
        craft, structure = model, spacecraft_structure(model, q)
        units = {**_craft_units(craft), **(units or {})}
    else:
        structure = model if isinstance(model, SecondOrderModel) else model.structure
        motion = getattr(model, "motion", None) if motion is None else motion
    facts = linear_facts(structure, controller, inputs, _few(structure, outputs))
    heading = title or (f"{craft.name}: modes and poles" if craft else "Modes and poles of a linear model")
    shown = range(min(len(structure.M), _MOST_MODES))
    store = Bytes()
    contents = {
        "scene": _scene(structure, craft, q, motion, shown, store),
        **_mode_contents(facts, shown),
        **_response_contents(facts, units or {}, store),
    }
    header = [
        element("h1", heading),
        linear_words.about(notes),
        linear_words.lead(facts, f"Linear model of {craft.name}" if craft else "Linear model"),
        linear_words.badges(facts),
    ]
    places = {
        "title": text(heading),
        "header": joined(header),
        "table": linear_words.mode_table(facts, shown),
        "margins": linear_words.margin_section(facts),
        "contents": store.packed(contents),
    }
    return put(document("linear.html", _SCRIPTS, places), Path(path))


def _few(structure: SecondOrderModel, outputs: Sequence[str] | None) -> Sequence[str]:
    return structure.outputs[:_MOST_OUTPUTS] if outputs is None else outputs


def _craft_units(craft: Spacecraft) -> dict[str, str]:
    """Of the inputs and outputs of a spacecraft's own structure."""
    found = {}
    for axis in "xyz":
        found |= {f"base.force.{axis}": "N", f"base.torque.{axis}": "N m"}
        found |= {f"base.displacement.{axis}": "m", f"base.rotation.{axis}": "rad"}
    return found


def _scene(
    structure: SecondOrderModel, craft: Spacecraft | None, q: Any, motion: Any, shown: range, store: Bytes
) -> dict[str, Any] | None:
    if craft is None:
        return None
    nv, count = craft.layout.nv, len(structure.M)
    given = np.eye(nv) if motion is None else np.asarray(require_numbers("motion", motion, ""), dtype=float)
    if given.shape != (nv, count):
        raise ModelError(
            f"The motion of spacecraft '{craft.name}' must be {nv} x {count}: its velocities by the model's "
            f"{count} coordinates. Got shape {given.shape}. Give motion=..., or leave out craft=..."
        )
    at = np.zeros(craft.layout.nq) if q is None else np.asarray(q, dtype=float)
    return mode_scene(craft, at, given @ structure.modes.shapes[:, shown], store)


def _mode_contents(facts: LinearFacts, shown: range) -> dict[str, Any]:
    modes = facts.structure.modes

    def poles(found: np.ndarray) -> list[list[float] | None]:
        return [_upper(np.array([p]))[0] if np.isfinite(p) else None for p in found[list(shown)]]

    return {
        "modes": [{"name": modes.names[k], "frequency": float(modes.frequencies[k])} for k in shown],
        "before": poles(facts.before),
        "after": None if facts.after is None else poles(facts.after),
        "polesBefore": _upper(facts.poles_before),
        "polesAfter": None if facts.poles_after is None else _upper(facts.poles_after),
    }


def _upper(poles: np.ndarray) -> list[list[float]]:
    found = poles[np.isfinite(poles) & (np.imag(poles) >= 0.0)]
    found = np.where(np.abs(found) < STILL, 0.0, found)
    rounding = np.abs(np.real(found)) < 1e-10 * np.abs(found)
    return np.column_stack([np.where(rounding, 0.0, np.real(found)), np.imag(found)]).tolist()


def _response_contents(facts: LinearFacts, units: Mapping[str, str], store: Bytes) -> dict[str, Any]:
    labels = ("without control",) if len(facts.responses) == 1 else ("without control", "with the controller")
    found = []
    for label, response in zip(labels, facts.responses, strict=True):
        values = np.linalg.svd(response, compute_uv=False)
        size = np.maximum(np.abs(response), 1e-300)
        phase = np.rad2deg(np.unwrap(np.angle(response), axis=0))
        found.append(
            {
                "label": label,
                "largest": store.put(np.log10(np.maximum(values[:, 0], 1e-30))),
                "smallest": store.put(np.log10(np.maximum(values[:, -1], 1e-30))),
                "size": store.put(np.log10(size).transpose(1, 2, 0)),  # (outputs, inputs, frequencies)
                "phase": store.put((phase - 360.0 * np.round(phase[:1] / 360.0)).transpose(1, 2, 0)),
            }
        )
    return {
        "frequencies": store.put(facts.frequencies, "f8"),
        "inputs": [{"name": name, "unit": units.get(name, "")} for name in facts.inputs],
        "outputs": [{"name": name, "unit": units.get(name, "")} for name in facts.outputs],
        "responses": found,
    }

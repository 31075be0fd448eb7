"""The page of a linear model: its modes moving, frequencies and damping, pole map, Bode plots, in one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from freefloat.control.lqr import Regulator, SecondOrderModel, StateSpace, spacecraft_structure
from freefloat.model import Spacecraft
from freefloat.report import linear_words
from freefloat.report.documents import document, write_document
from freefloat.report.linear_facts import LinearFacts, linear_facts
from freefloat.report.linear_words import STILL
from freefloat.report.markup import element, join_markup, text
from freefloat.report.mode_scene import mode_scene
from freefloat.report.payload import ArrayStore
from freefloat.values.checks import require_numbers
from freefloat.values.errors import ModelError

_SCRIPTS = (
    *("payload.js", "theme.js", "axes.js", "linear.js", "camera.js", "painter.js", "scene.js"),
    *("modes.js", "responses.js", "linear_page.js"),
)
_MOST_MODES = 80  # that are animated
_MOST_OUTPUTS = 16  # that are shown by default


class LinearOrbitModel(Protocol):
    """A linear model in orbit, as `analysis.linearise_in_orbit` gives it."""

    @property
    def structure(self) -> SecondOrderModel:
        """Second-order model with M, G, C, K."""
        ...

    @property
    def motion(self) -> np.ndarray:
        """Matrix from the rates of the coordinates to the velocities v of the spacecraft."""
        ...


def linear_page(
    model: SecondOrderModel | Spacecraft | LinearOrbitModel,
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
    elif not isinstance(model, SecondOrderModel) and not hasattr(model, "structure"):
        raise ModelError(
            f"The page of a linear model shows modes, so it needs M and K, got {type(model).__name__}. Give it what "
            "that was made from: the spacecraft, the SecondOrderModel or the model in orbit; controller= adds a loop."
        )
    else:
        structure = model if isinstance(model, SecondOrderModel) else model.structure
        motion = getattr(model, "motion", None) if motion is None else motion
    shown_outputs = structure.outputs[:_MOST_OUTPUTS] if outputs is None else outputs
    facts = linear_facts(structure, controller, inputs, shown_outputs)
    heading = title or (f"{craft.name}: modes and poles" if craft else "Modes and poles of a linear model")
    shown = range(min(len(structure.M), _MOST_MODES))
    store = ArrayStore()
    contents = {
        "scene": _scene(structure, craft, q, motion, shown, store),
        **_mode_contents(facts, shown),
        **_response_contents(facts, units or {}, store),
    }
    header = [
        element("h1", heading),
        linear_words.about(notes),
        linear_words.lead_paragraph(facts, f"Linear model of {craft.name}" if craft else "Linear model"),
        linear_words.badges(facts),
    ]
    places = {
        "title": text(heading),
        "header": join_markup(header),
        "table": linear_words.mode_table(facts, shown),
        "margins": linear_words.margin_section(facts),
        "contents": store.packed_text(contents),
    }
    return write_document(document("linear.html", _SCRIPTS, places), Path(path))


def _craft_units(craft: Spacecraft) -> dict[str, str]:
    """Units of the inputs and outputs of a spacecraft's own structure, by name."""
    units = {}
    for axis in "xyz":
        units |= {f"base.force.{axis}": "N", f"base.torque.{axis}": "N m"}
        units |= {f"base.displacement.{axis}": "m", f"base.rotation.{axis}": "rad"}
    return units


def _scene(
    structure: SecondOrderModel, craft: Spacecraft | None, q: Any, motion: Any, shown: range, store: ArrayStore
) -> dict[str, Any] | None:
    if craft is None:
        return None
    nv, count = craft.layout.nv, len(structure.M)
    matrix = np.eye(nv) if motion is None else np.asarray(require_numbers("motion", motion, ""), dtype=float)
    if matrix.shape != (nv, count):
        raise ModelError(
            f"The motion of spacecraft '{craft.name}' must be {nv} x {count}: its velocities by the model's "
            f"{count} coordinates. Got shape {matrix.shape}. Give motion=..., or leave out craft=..."
        )
    at = np.zeros(craft.layout.nq) if q is None else np.asarray(q, dtype=float)
    return mode_scene(craft, at, matrix @ structure.modes.shapes[:, shown], store)


def _mode_contents(facts: LinearFacts, shown: range) -> dict[str, Any]:
    modes = facts.structure.modes

    def shown_poles(poles: np.ndarray) -> list[list[float] | None]:
        return [_upper(np.array([p]))[0] if np.isfinite(p) else None for p in poles[list(shown)]]

    return {
        "modes": [{"name": modes.names[k], "frequency": float(modes.frequencies[k])} for k in shown],
        "before": shown_poles(facts.before),
        "after": None if facts.after is None else shown_poles(facts.after),
        "polesBefore": _upper(facts.poles_before),
        "polesAfter": None if facts.poles_after is None else _upper(facts.poles_after),
    }


def _upper(poles: np.ndarray) -> list[list[float]]:
    upper = poles[np.isfinite(poles) & (np.imag(poles) >= 0.0)]
    upper = np.where(np.abs(upper) < STILL, 0.0, upper)
    rounding = np.abs(np.real(upper)) < 1e-10 * np.abs(upper)
    return np.column_stack([np.where(rounding, 0.0, np.real(upper)), np.imag(upper)]).tolist()


def _response_contents(facts: LinearFacts, units: Mapping[str, str], store: ArrayStore) -> dict[str, Any]:
    labels = ("without control",) if len(facts.responses) == 1 else ("without control", "with the controller")
    responses = []
    for label, response in zip(labels, facts.responses, strict=True):
        values = np.linalg.svd(response, compute_uv=False)
        size = np.maximum(np.abs(response), 1e-300)
        phase = np.rad2deg(np.unwrap(np.angle(response), axis=0))
        responses.append(
            {
                "label": label,
                "largest": store.add_array(np.log10(np.maximum(values[:, 0], 1e-30))),
                "smallest": store.add_array(np.log10(np.maximum(values[:, -1], 1e-30))),
                "size": store.add_array(np.log10(size).transpose(1, 2, 0)),  # (outputs, inputs, frequencies)
                "phase": store.add_array((phase - 360.0 * np.round(phase[:1] / 360.0)).transpose(1, 2, 0)),
            }
        )
    return {
        "frequencies": store.add_array(facts.frequencies, "f8"),
        "inputs": [{"name": name, "unit": units.get(name, "")} for name in facts.inputs],
        "outputs": [{"name": name, "unit": units.get(name, "")} for name in facts.outputs],
        "responses": responses,
    }

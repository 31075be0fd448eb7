"""The settings of a scenario as a form: a field for each, with unit and range, and its error message below it."""

from __future__ import annotations

import tomllib
from typing import Any

from freefloat.report.markup import element
from freefloat.scenarios import Scenario, ScenarioError
from freefloat.scenarios.settings import Setting, settings_of

_FAULT = "color:#b42318;font-size:0.85em;margin:-0.4em 0 0.5em 0.3em"


class Form:
    """Fields in the viewer's panel; `scenario()` returns the scenario that they describe."""

    def __init__(self, server: Any, nominal: Scenario) -> None:
        self._nominal = nominal
        self._settings = [s for s in settings_of(nominal) if not isinstance(s.value, dict)]
        self._fields: dict[str, Any] = {}
        self._faults: dict[str, Any] = {}
        for setting in self._settings:
            self._fields[setting.path] = _field(server, setting)
            self._faults[setting.path] = server.gui.add_html("", visible=False)
            self._fields[setting.path].on_update(lambda _: self.scenario())

    def scenario(self) -> Scenario | None:
        """The scenario as filled in, or None after every error is shown below its field."""
        values, faults = {}, {}
        for setting in self._settings:
            try:
                values[setting.path] = _value(setting, self._fields[setting.path].value)
            except ValueError as fault:
                faults[setting.path] = str(fault)
        made = None
        try:
            made = self._nominal.with_settings(values)
        except ScenarioError as error:
            for path, fault in error.faults.items():
                owner = next((s.path for s in self._settings if path == s.path or path.startswith(f"{s.path}.")), None)
                faults.setdefault(owner or self._settings[0].path, fault)
        self._show_faults(faults)
        return None if faults else made

    def _show_faults(self, faults: dict[str, str]) -> None:
        for path, place in self._faults.items():
            fault = faults.get(path, "")
            content = element("div", f"✗ {fault}", style=_FAULT, class_="ff-fault") if fault else ""
            if place.content != content or place.visible != bool(fault):
                place.content, place.visible = str(content), bool(fault)


def _field(server: Any, setting: Setting) -> Any:
    label = setting.path + (f" [{setting.unit}]" if setting.unit else "")
    hint = " · ".join(filter(None, (setting.range, "empty: none" if setting.optional else "")))
    if setting.kind == "switch":
        return server.gui.add_checkbox(label, bool(setting.value), hint=hint or None)
    if setting.kind == "choice":
        return server.gui.add_dropdown(label, setting.choices, initial_value=str(setting.value), hint=hint or None)
    return server.gui.add_text(label, _field_text(setting.value), hint=hint or None)


def _field_text(value: Any) -> str:
    if value is None:
        return ""
    return ", ".join(map(_field_text, value)) if isinstance(value, (list, tuple)) else f"{value}"


def _value(setting: Setting, given: Any) -> Any:
    """Value of a field as plain data; raises a ValueError with a sentence if it cannot be read."""
    if setting.kind in ("switch", "choice"):
        return given
    text = str(given).strip()
    if not text:
        if setting.optional:
            return None
        raise ValueError("It may not be empty.")
    if isinstance(setting.value, (list, tuple)):
        text = f"[{text}]"
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        if setting.kind in ("number", "integer") or isinstance(setting.value, (list, tuple)):
            raise ValueError(f"'{given}' is not a number.") from None
        return text

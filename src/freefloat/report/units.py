"""Displayed units of plots and tables, and their factors from SI."""

from __future__ import annotations

import math

_TURN = 180.0 / math.pi
_FACTORS = {
    ("rad", "deg"): _TURN,
    ("rad/s", "deg/s"): _TURN,
    ("rad/s2", "deg/s2"): _TURN,
    ("m", "mm"): 1e3,
    ("m/s", "mm/s"): 1e3,
    ("s", "ms"): 1e3,
}
_SMALL = {"m": "mm", "m/s": "mm/s"}
_SMALL_LIMIT = 0.1  # [m, m/s]: below this millimetres read better


def display_unit(unit: str, largest: float, wanted: str = "") -> tuple[str, float]:
    """Displayed unit of a channel and its factor from SI; `wanted` is used if it is known for the unit."""
    if (unit, wanted) in _FACTORS:
        return wanted, _FACTORS[unit, wanted]
    if unit in _SMALL and largest < _SMALL_LIMIT and not wanted:
        return _SMALL[unit], _FACTORS[unit, _SMALL[unit]]
    for (known, shown), factor in _FACTORS.items():
        if known == unit and shown.startswith("deg") and not wanted:
            return shown, factor
    return unit, 1.0


def number_text(value: float, digits: int = 6) -> str:
    """A number as text; `not a number` or `infinite` if it is not finite."""
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinite"
    return f"{value:.{digits}g}"

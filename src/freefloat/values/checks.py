"""Checks of the numbers that a caller gives: they are converted to one form; an error names impossible ones.

Traced numbers are unknown and pass; only their shapes are checked.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.values.arrays import is_traced
from freefloat.values.errors import ModelError, SoftwareError


def require_numbers(what: str, value: Any, unit: str, *, allow_infinite: bool = False) -> Any:
    """The given value as float64, if it is finite (or infinite, where `allow_infinite`). Traced values pass."""
    if is_traced(value):
        return jnp.asarray(value)
    try:
        given = np.asarray(value)
        converted = np.asarray(given, dtype=float) if given.dtype.kind in "fiu" else None
    except (ValueError, TypeError):
        converted = None
    if converted is None:
        raise ModelError(f"{what} must be numeric{unit and f' [{unit}]'}, got {value!r}.")
    if np.any(np.isnan(converted)) or not (allow_infinite or np.all(np.isfinite(converted))):
        raise ModelError(f"{what} must be finite{unit and f' [{unit}]'}, got {converted.tolist()}.")
    return converted


def require_quantity(what: str, value: Any, unit: str, **bounds: Any) -> Any:
    """A number or an array within its bounds: at `least`, at `most`, `above`; infinite only where `allow_infinite`."""
    given = require_numbers(what, value, unit, allow_infinite=bounds.pop("allow_infinite", False))
    if is_traced(given):
        return given
    checks = {"least": (np.less, "at least"), "most": (np.greater, "at most"), "above": (np.less_equal, "above")}
    for name, bound in bounds.items():
        wrong, words = checks[name]
        if bound is not None and np.any(wrong(given, bound)):
            wanted = "positive" if (name, bound) == ("above", 0.0) else f"{words} {bound:g}"
            raise ModelError(f"{what} must be {wanted}, got {_format_values(given)}{unit and ' '}{unit}.")
    if isinstance(value, (float, jax.Array)):
        return value
    return float(given) if given.ndim == 0 else given


def require_bounds(record: Any, units: Mapping[str, str], **bounds: Any) -> None:
    """Check that fields of a record are within the same bounds; errors name its class. For `__post_init__`."""
    owner = type(record).__name__
    check = partial(require_quantity, **bounds)
    require_all(*(partial(check, f"{owner}.{name}", getattr(record, name), unit) for name, unit in units.items()))


def require_all(*checks: Callable[[], Any]) -> tuple[Any, ...]:
    """Make every check and return what they return, or raise one error with all messages, one per line."""
    found, errors = [], []
    for check in checks:
        try:
            found.append(check())
        except (ModelError, SoftwareError) as error:
            errors.append(error)
    if errors:
        raise errors[0] if len(errors) == 1 else errors[0].from_several(errors)
    return tuple(found)


def set_fields(record: Any, **values: Any) -> None:
    """Set fields of a frozen record that is being built: for `__post_init__`."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def require_number(what: str, value: Any, unit: str, **bounds: Any) -> Any:
    """The given value, if it is one number within its bounds."""
    given = require_quantity(what, value, unit, **bounds)
    if np.shape(given) != ():
        raise ModelError(f"{what} must be one number [{unit}], got shape {np.shape(given)}.")
    return given


def require_array(what: str, value: Any, unit: str, shape: tuple[int, ...], words: str) -> Any:
    """The given array, if it has the shape, which `words` describe to the caller."""
    given = require_numbers(what, value, unit)
    if np.shape(given) != shape:
        raise ModelError(f"{what} must be {words}, got shape {np.shape(given)}.")
    return given


def require_tensor(what: str, value: Any, unit: str) -> Any:
    """A symmetric matrix from its elements or, where it is diagonal, from those of the diagonal."""
    given = require_numbers(what, value, unit)
    if np.shape(given) == (3,):
        return jnp.diag(given) if is_traced(given) else np.diag(given)
    return require_array(what, given, unit, (3, 3), "3x3 or three principal moments")


def _format_values(given: np.ndarray) -> str:
    return f"{given.item():g}" if given.ndim == 0 else f"{given.tolist()}"

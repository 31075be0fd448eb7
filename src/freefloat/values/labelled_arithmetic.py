"""Arithmetic of labelled arrays: axes are matched by name, as xarray does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from freefloat.values.labelled_array import LabelledArray, from_xarray


def apply_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """A function of numpy that works number by number; what is in attributes of all arrays is kept."""
    if any(type(value).__module__.partition(".")[0] == "xarray" for value in inputs):
        return getattr(ufunc, method)(*map(_for_xarray, inputs), **options)
    if method != "__call__" or options.get("out") or np.ndim(options.get("where", True)):
        return _apply_plainly(ufunc, method, inputs, options)
    arrays = [value for value in inputs if isinstance(value, LabelledArray)]
    if not _fit(arrays):
        return from_xarray(ufunc(*map(_for_xarray, inputs), **options))
    dims = tuple(dict.fromkeys(axis for array in arrays for axis in array.dims))
    given = [_spread(value, dims) if isinstance(value, LabelledArray) else value for value in inputs]
    found = ufunc(*given, **options)
    shape = np.broadcast_shapes(
        *(array.shape for value, array in zip(inputs, given, strict=True) if value is not array)
    )
    parts = [_named(part, dims, shape, arrays) for part in (found if isinstance(found, tuple) else (found,))]
    return tuple(parts) if isinstance(found, tuple) else parts[0]


def _for_xarray(value: Any) -> Any:
    return value.to_xarray() if isinstance(value, LabelledArray) else value


def _apply_plainly(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """Without names: sums over axes, and results that are written into an array."""
    plain = {key: _values(value) for key, value in options.items() if key != "out"}
    if not (out := options.get("out")):
        return getattr(ufunc, method)(*map(_values, inputs), **plain)
    getattr(ufunc, method)(*map(_values, inputs), out=tuple(map(_values, out)), **plain)
    return out[0] if len(out) == 1 else out


def _values(value: Any) -> Any:
    return value.values if isinstance(value, LabelledArray) else value


def _fit(arrays: Sequence[LabelledArray]) -> bool:
    """True where the arrays have the same names and times along the axes that they share."""
    along: dict[str, np.ndarray] = {}
    for array in arrays:
        for axis in (axis for axis in array.dims if axis in array.coords):
            here = array.coords[axis].values
            first = along.setdefault(axis, here)
            if first is not here and not np.array_equal(first, here):
                return False
    return True


def _spread(array: LabelledArray, dims: tuple[str, ...]) -> np.ndarray:
    """The values with the axes in this order, and length one along those that the array has not."""
    if array.dims == dims:
        return array.values
    own = [axis for axis in dims if axis in array.dims]
    values = array.values.transpose([array.dims.index(axis) for axis in own])
    return values.reshape([array.sizes.get(axis, 1) for axis in dims])


def _named(values: Any, dims: tuple[str, ...], shape: tuple[int, ...], arrays: Sequence[LabelledArray]) -> Any:
    if not isinstance(values, np.ndarray | np.generic):
        return values  # of a class that has its own arithmetic
    if values.shape != shape:
        axes = ", ".join(f"{axis}: {length}" for axis, length in zip(dims, shape, strict=True))
        raise ValueError(f"An array without names does not fit the axes ({axes}). Give it that shape, or use .values.")
    names = {array.name for array in arrays}
    name = names.pop() if len(names) == 1 else None
    return LabelledArray(dims, np.asarray(values), _shared_attributes(arrays), _joined_coords(dims, arrays), name)


def _shared_attributes(arrays: Sequence[LabelledArray]) -> dict[str, Any]:
    """All attributes but those that differ."""
    found, dropped = {}, set()
    for array in arrays:
        for key, value in array.attrs.items():
            if key in found and found[key] is not value and not np.array_equal(found[key], value):
                dropped.add(key)
            found.setdefault(key, value)
    return {key: value for key, value in found.items() if key not in dropped}


def _joined_coords(dims: tuple[str, ...], arrays: Sequence[LabelledArray]) -> dict[str, LabelledArray]:
    """What stands along the axes, and labels that were selected where all arrays have the same."""
    found: dict[str, LabelledArray] = {}
    for array in arrays:
        found |= {axis: along for axis, along in array.coords.items() if along.dims and axis not in found}
    differ = set()
    for array in arrays:
        for name, label in ((name, label) for name, label in array.coords.items() if not label.dims):
            if name in dims:
                continue
            if not np.array_equal(found.setdefault(name, label).values, label.values):
                differ.add(name)
    return {name: along for name, along in found.items() if name not in differ}

"""Arithmetic of labelled arrays: axes are matched by name, as xarray does it."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from freefloat.values.label_places import same_values
from freefloat.values.labelled_array import LabelledArray, for_xarray, from_xarray

_WORDS = """add add, subtract sub, multiply mul, divide truediv, floor_divide floordiv, remainder mod, power pow,
negative neg, positive pos, absolute abs, matmul matmul, less lt, less_equal le, equal eq, not_equal ne, greater gt,
greater_equal ge, bitwise_and and_, bitwise_or or_, bitwise_xor xor, invert invert"""
_OPERATORS = {  # xarray drops attributes and names that differ for a + b, and keeps the first ones for numpy.add(a, b)
    getattr(np, pair.split()[0]): getattr(operator, pair.split()[1]) for pair in _WORDS.split(",")
}


def apply_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """Apply a NumPy function, axes matched by name; attributes that the arrays share are kept."""
    targets = options.get("out", ())
    in_place = any(isinstance(target, LabelledArray) for target in targets)
    if method != "__call__" or ufunc.signature:
        return _apply_by_position(ufunc, method, inputs, options, in_place)
    if any(map(_is_xarray, inputs)):
        if not in_place:
            return _ask_xarray(ufunc, inputs, options)
        inputs = [from_xarray(value) if _is_xarray(value) else value for value in inputs]
    arrays = [value for value in inputs if isinstance(value, LabelledArray)]
    masks = [mask for mask in (options.get("where"),) if isinstance(mask, LabelledArray)]
    if not have_same_labels([*arrays, *masks]):
        if in_place or masks:
            raise _does_not_fit("they have other names or times along an axis that both have")
        return from_xarray(_ask_xarray(ufunc, inputs, options))
    frame = _frame([*arrays, *masks])
    given = [align_axes(value, frame.dims) for value in inputs]
    plain = {key: align_axes(value, frame.dims) for key, value in options.items() if key != "out"}
    if targets:
        plain["out"] = tuple(_values_to_write(target, frame) for target in targets)
    try:
        found = ufunc(*given, **plain)
    except TypeError:
        if ufunc not in (np.equal, np.not_equal) or options:
            raise
        return from_xarray(_ask_xarray(ufunc, inputs, options))  # numbers are never equal to words
    several = found if isinstance(found, tuple) else (found,)
    parts = [
        labelled_result(part, frame, arrays) if target is None else target
        for part, target in zip(several, targets or (None,) * len(several), strict=True)
    ]
    return tuple(parts) if isinstance(found, tuple) else parts[0]


def _frame(arrays: Sequence[LabelledArray]) -> LabelledArray:
    """Axes, lengths and coordinates of the result of arithmetic with these arrays, without values."""
    dims = tuple(dict.fromkeys(axis for array in arrays for axis in array.dims))
    sizes = {axis: size for array in arrays for axis, size in array.sizes.items()}
    nothing = np.broadcast_to(0.0, [sizes[axis] for axis in dims])
    return LabelledArray(dims, nothing, coords=join_coords(dims, arrays))


def _is_xarray(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "xarray"


def _ask_xarray(ufunc: np.ufunc, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    by_name = options or _is_xarray(inputs[0])  # an operator of theirs on the left would not have come here
    function = ufunc if by_name else _OPERATORS.get(ufunc, ufunc)
    return function(*map(for_xarray, inputs), **for_xarray(options))


def _apply_by_position(
    ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any], in_place: bool
) -> Any:
    """Apply sums over axes and products of matrices; two named arrays are multiplied along the axes that both have."""
    named = [value for value in (*inputs, *options.values()) if isinstance(value, LabelledArray) or _is_xarray(value)]
    if ufunc is np.matmul and method == "__call__" and len(named) == 2 and not options:
        found = _ask_xarray(ufunc, inputs, options)
        return found if any(map(_is_xarray, inputs)) else from_xarray(found)
    if in_place or method == "at" or (len(named) > 1 and method != "outer"):
        word = f"numpy.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
        raise TypeError(
            f"{word} does not match axes by name: give it .values, and write into .values. Write x = x @ y, not x @= y."
        )
    plain = {key: _values(value) for key, value in options.items()}
    return getattr(ufunc, method)(*map(_values, inputs), **plain)


def _values(value: Any) -> Any:
    return value.values if isinstance(value, LabelledArray) or _is_xarray(value) else value


def have_same_labels(arrays: Sequence[LabelledArray]) -> bool:
    """True where the arrays have the same length, names and times along the axes that they share."""
    sizes: dict[str, int] = {}
    along: dict[str, np.ndarray] = {}
    for array in arrays:
        for axis, size in array.sizes.items():
            if sizes.setdefault(axis, size) != size:
                return False
            if axis in array.coords:
                here = array.bare_coords[axis].values
                if not same_values(along.setdefault(axis, here), here):
                    return False
    return True


def align_axes(value: Any, dims: tuple[str, ...]) -> Any:
    """The values with the axes in this order, and length one along those that the array does not have."""
    if not isinstance(value, LabelledArray):
        return value
    if value.dims == dims:
        return value.values
    own = [axis for axis in dims if axis in value.dims]
    values = value.values.transpose([value.dims.index(axis) for axis in own])
    return values.reshape([value.sizes.get(axis, 1) for axis in dims])


def _values_to_write(target: Any, frame: LabelledArray) -> Any:
    """The values of an array with the axes in this order, if a result with these axes can be written into it."""
    if not isinstance(target, LabelledArray):
        return target
    target.require_writable()
    if set(target.dims) != set(frame.dims):
        has, gets = (", ".join(array.dims) or "none" for array in (target, frame))
        raise _does_not_fit(f"the result has the axes {gets}, not {has}")
    if more := set(frame.coords) - set(target.coords):
        raise _does_not_fit(f"the result has the coordinate '{min(more)}', which the array does not have")
    if not have_same_labels([target, frame]):
        raise _does_not_fit("the result has another length, or other names or times along an axis")
    return align_axes(target, frame.dims)


def _does_not_fit(why: str) -> ValueError:
    return ValueError(f"These arrays cannot be combined in place: {why}. Write x = x + y, not x += y, for a new array.")


def labelled_result(values: Any, frame: LabelledArray, arrays: Sequence[LabelledArray]) -> Any:
    """Result of arithmetic with its axes, their coordinates, and the name and attributes that the arrays share."""
    if not isinstance(values, np.ndarray | np.generic):
        return values  # of a class that has its own arithmetic
    if values.shape != frame.shape:
        axes = ", ".join(f"{axis}: {length}" for axis, length in frame.sizes.items())
        raise ValueError(f"An array without names does not fit the axes ({axes}). Give it that shape, or use .values.")
    names = {array.name for array in arrays}
    name = names.pop() if len(names) == 1 else None
    return replace(frame, values=np.asarray(values), attrs=_shared_attributes(arrays), name=name)


def _shared_attributes(arrays: Sequence[LabelledArray]) -> dict[str, Any]:
    """Attributes of all arrays, without those that differ."""
    found, dropped = {}, set()
    for array in arrays:
        for key, value in array.attrs.items():
            if key in found and found[key] is not value and not np.array_equal(found[key], value):
                dropped.add(key)
            found.setdefault(key, value)
    return {key: value for key, value in found.items() if key not in dropped}


def join_coords(dims: tuple[str, ...], arrays: Sequence[LabelledArray]) -> dict[str, LabelledArray]:
    """Coordinates along the axes, and other coordinates that are the same in all arrays that have them."""
    found: dict[str, LabelledArray] = {}
    differ = set()
    for array in arrays:
        for name, along in array.bare_coords.items():
            if name in dims and name not in along.dims:
                continue  # a label that was selected gives way to the axis
            first = found.setdefault(name, along)
            if name not in dims and not (first.dims == along.dims and same_values(first.values, along.values)):
                differ.add(name)
    return {name: along for name, along in found.items() if name not in differ}


def reduce_axes(array: LabelledArray, function: str, dim: Any, options: dict[str, Any]) -> Any:
    """Apply a NumPy function over axes, as xarray does; xarray itself does it, and skips NaN, where there are any."""
    axis, rest = options.get("axis"), {key: value for key, value in options.items() if key != "axis"}
    if isinstance(dim, int) or (dim is not None and axis is not None):
        raise TypeError(f"{function}() takes the name of an axis, or its number as axis=... Axes: {array.dims}.")
    names = () if dim is None or dim is Ellipsis else (dim,) if isinstance(dim, str) else tuple(dim)
    for name in names:
        array.require_axis(name, KeyError)
    place = function in ("argmax", "argmin")
    several = place and dim is not None and not isinstance(dim, str)  # a dictionary of places, one for each axis
    holes = array.dtype.kind in "fc" and bool(np.isnan(array.values).any())
    asks = any(value is not None for value in rest.values())
    if holes or array.dtype.kind == "O" or asks or several or dim is Ellipsis:
        asked = {key: value for key, value in options.items() if value is not None}
        found = array.ask_xarray(function, dim, **asked)
        return {name: from_xarray(at) for name, at in found.items()} if several else from_xarray(found)
    whole = dim is None and axis is None
    axes = axis if dim is None else tuple(array.dims.index(name) for name in names)
    values = getattr(np, function)(array.values, axis=axes[0] if place and isinstance(axes, tuple) else axes)
    gone = set(array.dims) if whole else {array.dims[k] for k in np.atleast_1d(np.asarray(axes, dtype=int))}
    coords = {name: along for name, along in array.bare_coords.items() if not gone & {name, *along.dims}}
    kept = tuple(axis for axis in array.dims if axis not in gone)
    return replace(array, dims=kept, values=np.asarray(values), coords=coords)

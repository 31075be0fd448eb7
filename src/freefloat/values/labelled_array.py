"""One named array with axes, units and labels: what `run["base.position"]` returns.

It has the most used methods of xarray's DataArray. Any other attribute is xarray's: `to_xarray()` is called for
it. xarray brings pandas and dask, half a second of CPU, so it is imported only then.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from freefloat.values.label_places import AskXarray, find_places, places_along

if TYPE_CHECKING:
    import xarray


class Coords(Mapping[str, "LabelledArray"]):
    """Names and times by axis, which xarray can read too: its arrays ask for `variables` and `xindexes` to add ours.

    `arrays` holds these coordinates without coordinates of their own.
    """

    def __init__(self, given: Mapping[str, LabelledArray]) -> None:
        if isinstance(given, Coords):
            given = given.arrays
        self.arrays = {name: replace(along, coords={}) if along.coords else along for name, along in given.items()}

    def __getitem__(self, name: str) -> LabelledArray:
        found = self.arrays[name]
        own = {other: along for other, along in self.arrays.items() if set(along.dims) <= set(found.dims)}
        return replace(found, coords=own, name=name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def __repr__(self) -> str:
        return "\n".join(_in_one_line(self.arrays)) or "no coordinates"

    def __setitem__(self, name: str, value: Any) -> None:
        raise _no_other_coordinate(name)

    def __delitem__(self, name: str) -> None:
        raise _no_other_coordinate(name)

    def update(self, other: Any) -> None:
        """Not supported: coordinates cannot be changed."""
        raise _no_other_coordinate(next(iter(other), "time"))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "arrays":
            raise AttributeError(f"Coords has no '{name}'.", name=name, obj=self)
        import xarray

        return getattr(xarray.Dataset(coords=array_parts(self.arrays)).coords, name)


def _reduction(function: str, meaning: str) -> Callable[..., LabelledArray]:
    """Method that applies a function of NumPy over all axes or some; `meaning` is its docstring."""

    def reduce(array: LabelledArray, dim: str | Sequence[str] | None = None, **options: Any) -> Any:
        from freefloat.values.labelled_arithmetic import reduce_axes

        return reduce_axes(array, function, dim, options)

    reduce.__name__, reduce.__doc__ = function, meaning
    return reduce


@dataclass(frozen=True, eq=False, repr=False)
class LabelledArray(NDArrayOperatorsMixin):
    """Values along named axes, and what they are: `units`, `frame`, `long_name`."""

    dims: tuple[str, ...]
    values: np.ndarray
    attrs: Mapping[str, Any] = field(default_factory=dict)
    coords: Mapping[str, LabelledArray] = field(default_factory=dict)  # by axis, where it has names or times
    name: str | None = None

    def __post_init__(self) -> None:
        """Coordinates are kept in a form that xarray can read; attributes are this array's own."""
        object.__setattr__(self, "attrs", dict(self.attrs))
        object.__setattr__(self, "coords", Coords(self.coords))

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis."""
        return self.values.shape

    @property
    def sizes(self) -> dict[str, int]:
        """Length of each axis by its name."""
        return dict(zip(self.dims, self.shape, strict=True))

    @property
    def ndim(self) -> int:
        """Number of axes of the array."""
        return self.values.ndim

    @property
    def size(self) -> int:
        """Number of values in the array."""
        return self.values.size

    @property
    def dtype(self) -> np.dtype:
        """Data type of the values."""
        return self.values.dtype

    @property
    def data(self) -> np.ndarray:
        """The values, by the name that xarray has for them."""
        return self.values

    @property
    def T(self) -> LabelledArray:
        """The array with its axes in reversed order."""
        return replace(self, dims=self.dims[::-1], values=self.values.T)

    @property
    def bare_coords(self) -> dict[str, LabelledArray]:
        """The coordinates without coordinates of their own."""
        return cast(Coords, self.coords).arrays

    def along(self, axis: str) -> np.ndarray:
        """The names or times of an axis; numbers from zero on where it has none."""
        return self.bare_coords[axis].values if axis in self.coords else np.arange(self.shape[self.dims.index(axis)])

    def coordinate(self, axis: str) -> LabelledArray:
        """The names or times of an axis as an array along itself."""
        if axis in self.coords:
            return self.coords[axis]
        if axis == self.name and self.dims == (axis,):
            return replace(self, coords={**self.bare_coords, axis: self})
        if axis not in self.dims:
            known = ", ".join({**dict.fromkeys(self.dims), **self.bare_coords})
            raise KeyError(f"{self._title()} has no axis '{axis}'. Axes: {known or 'none'}.")
        single = {name: label for name, label in self.bare_coords.items() if not label.dims}
        return LabelledArray((axis,), self.along(axis), coords=single, name=axis)

    def isel(
        self, indexers: Mapping[str, Any] | None = None, drop: bool = False, missing_dims: str = "raise", **places: Any
    ) -> LabelledArray:
        """The values at some places of an axis: `isel(time=-1)`, `isel(time=slice(0, 10))`."""
        with suppress(AskXarray):
            found = self
            if drop or missing_dims != "raise":
                raise AskXarray
            for axis, place in _by_axis(indexers, places).items():
                self.require_axis(axis, ValueError)
                found = found.at_place(axis, places_along(axis, self.bare_coords.get(axis), place))
            return found
        return from_xarray(self.ask_xarray("isel", indexers, drop, missing_dims, **places))

    def sel(
        self,
        indexers: Mapping[str, Any] | None = None,
        method: str | None = None,
        tolerance: Any = None,
        drop: bool = False,
        **labels: Any,
    ) -> LabelledArray:
        """The values at names or times: `sel(xyz="z")`, `sel(time=slice(1.0, 2.0))`, `sel(time=3, method="nearest")`.

        Both ends of a slice are included.
        """
        with suppress(AskXarray):
            if drop or tolerance is not None:
                raise AskXarray
            wanted = _by_axis(indexers, labels)
            return self.isel({axis: self._find_label(axis, label, method) for axis, label in wanted.items()})
        return from_xarray(self.ask_xarray("sel", indexers, method, tolerance, drop, **labels))

    def _find_label(self, axis: str, label: Any, method: str | None) -> Any:
        if axis in self.coords:
            return find_places(axis, self.along(axis), label, method)
        self.require_axis(axis, KeyError)
        if method is not None:
            raise AskXarray
        return label  # without names or times a label is a place

    def at_place(self, axis: str, place: slice | np.ndarray) -> LabelledArray:
        """The values at a slice, a number, numbers or truth values along one axis."""
        at = place if isinstance(place, slice) else place[()]
        values = np.asarray(self.values[(slice(None),) * self.dims.index(axis) + (at,)])
        coords = {
            name: along.at_place(axis, place) if axis in along.dims else along
            for name, along in self.bare_coords.items()
        }
        dims = self.dims if values.ndim == self.ndim else tuple(name for name in self.dims if name != axis)
        return replace(self, dims=dims, values=values, coords=coords)

    def require_axis(self, axis: str, error: type[Exception]) -> None:
        """Reject an axis that the array does not have."""
        if axis not in self.dims:
            raise error(f"{self._title()} has no axis '{axis}'. Axes: {', '.join(self.dims) or 'none'}.")

    def __getitem__(self, place: Any) -> LabelledArray:
        if isinstance(place, str):
            return self.coordinate(place)
        if isinstance(place, Mapping):
            return self.isel(place)
        given = list(place) if isinstance(place, tuple) else [place]
        if any(part is Ellipsis for part in given):
            at = next(k for k, part in enumerate(given) if part is Ellipsis)
            given[at : at + 1] = [slice(None)] * (self.ndim - len(given) + 1)
            given = [slice(None) if part is Ellipsis else part for part in given]
        if len(given) > self.ndim:
            raise IndexError(f"{self._title()} has {self.ndim} axes, not {len(given)}: {', '.join(self.dims)}.")
        return self.isel(dict(zip(self.dims, given, strict=False)))

    def __setitem__(self, place: Any, value: Any) -> None:
        if isinstance(place, str):
            raise _no_other_coordinate(place)
        self.require_writable()
        self.to_xarray()[for_xarray(place)] = for_xarray(value)

    def require_writable(self) -> None:
        """Reject writing into an array that is a coordinate: others share it."""
        along = self.bare_coords.get(self.name or "")
        if along is not None and along.dims and np.may_share_memory(along.values, self.values):
            raise _no_other_coordinate(str(self.name))

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[LabelledArray]:
        if not self.dims:
            raise TypeError(f"{self._title()} is a single value: there is nothing to iterate over.")
        return (self[k] for k in range(len(self)))

    def __contains__(self, value: object) -> bool:
        return value in self.values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        from freefloat.values.labelled_arithmetic import apply_ufunc

        return apply_ufunc(ufunc, method, inputs, options)

    def __float__(self) -> float:
        return float(self.values)

    def __int__(self) -> int:
        return int(self.values)

    def __complex__(self) -> complex:
        return complex(self.values)

    def __index__(self) -> int:
        return self.values.__index__()

    def __bool__(self) -> bool:
        return bool(self.values)

    def __format__(self, spec: str) -> str:
        return format(self.item() if spec and not self.dims else str(self), spec)

    def item(self, *place: Any) -> Any:
        """One value as a plain number."""
        return self.values.item(*place)

    def to_numpy(self) -> np.ndarray:
        """The values without names."""
        return self.values

    max = _reduction("max", "Largest value over all axes or some.")
    min = _reduction("min", "Smallest value over all axes or some.")
    sum = _reduction("sum", "Sum over all axes or some.")
    mean = _reduction("mean", "Mean value over all axes or some.")
    any = _reduction("any", "True where a value along the axes is true.")
    all = _reduction("all", "True where all values along the axes are true.")
    argmax = _reduction("argmax", "Place of the largest value along an axis, or of all; of several axes a dictionary.")
    argmin = _reduction("argmin", "Place of the smallest value along an axis, or of all; of several axes a dictionary.")

    def to_xarray(self) -> xarray.DataArray:
        """The array as an xarray DataArray; the values are shared."""
        import xarray

        return xarray.DataArray(self.values, array_parts(self.bare_coords), self.dims, self.name, dict(self.attrs))

    def __getattr__(self, name: str) -> Any:
        """A coordinate, an attribute such as `units`, or whatever xarray has by this name."""
        if name.startswith("_") or name in LabelledArray.__dataclass_fields__:
            raise AttributeError(f"LabelledArray has no '{name}'.", name=name, obj=self)
        if name in self.coords:
            return self.coordinate(name)
        if name in self.attrs:
            return self.attrs[name]
        try:
            found = getattr(self.to_xarray(), name)
        except AttributeError:
            remedy = f" numpy's arrays have it: .values.{name}." if hasattr(np.ndarray, name) else ""
            message = f"{self._title()} has no '{name}', nor has xarray's.{remedy}"
            raise AttributeError(message, name=name, obj=self) from None
        return _of_xarray_arrays(found) if inspect.ismethod(found) else found

    def ask_xarray(self, question: str, /, *given: Any, **options: Any) -> Any:
        """Result of a method of xarray's DataArray."""
        return _of_xarray_arrays(getattr(self.to_xarray(), question))(*given, **options)

    def _title(self) -> str:
        return f"Array '{self.name}'" if self.name else "The array"

    def __repr__(self) -> str:
        axes = ", ".join(f"{axis}: {length}" for axis, length in self.sizes.items())
        lines = [f"<LabelledArray{f' {self.name!r}' if self.name else ''} ({axes})>"]
        lines += [np.array2string(self.values, threshold=60, edgeitems=3)]
        lines += [f"  {line}" for line in _in_one_line(self.bare_coords)]
        return "\n".join([*lines, *(f"  {name}: {value}" for name, value in self.attrs.items())])

    def _repr_html_(self) -> str:
        """HTML of the array for notebooks, as xarray shows it."""
        return self.to_xarray()._repr_html_()


def from_xarray(array: xarray.DataArray) -> LabelledArray:
    """Labelled array from an xarray DataArray; the values are shared."""
    coords = {
        str(name): LabelledArray(_axes(along.dims), along.values, dict(along.attrs), name=str(name))
        for name, along in array.coords.items()
    }
    name = None if array.name is None else str(array.name)
    return LabelledArray(_axes(array.dims), array.values, dict(array.attrs), coords, name)


def for_xarray(value: Any) -> Any:
    """The value with our arrays replaced by xarray's, in dictionaries and tuples too."""
    if isinstance(value, LabelledArray):
        return value.to_xarray()
    if isinstance(value, dict):
        return {key: for_xarray(part) for key, part in value.items()}
    return tuple(map(for_xarray, value)) if type(value) is tuple else value


def array_parts(arrays: Mapping[Any, Any]) -> dict[str, Any]:
    """Axes, values and attributes of arrays by name, ours or xarray's."""
    return {str(name): (tuple(map(str, array.dims)), array.values, dict(array.attrs)) for name, array in arrays.items()}


def _in_one_line(coords: Mapping[str, LabelledArray]) -> list[str]:
    return [f"{name}: {np.array2string(along.values, threshold=12)}" for name, along in coords.items()]


def _no_other_coordinate(name: str) -> TypeError:
    return TypeError(
        f"The coordinates of this array cannot be changed. Use .assign_coords({name}=...), "
        f"or .to_xarray() for an array of xarray, where array.coords['{name}'] = ... works."
    )


def _by_axis(given: Mapping[str, Any] | None, more: dict[str, Any]) -> Mapping[str, Any]:
    """Places or labels by axis, as one mapping or by keyword; xarray reports errors in anything else."""
    if given is not None and (not isinstance(given, Mapping) or (given and more)):
        raise AskXarray
    return given or more


def _axes(dims: Any) -> tuple[str, ...]:
    return tuple(map(str, dims))


def _of_xarray_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method of xarray that accepts our arrays too."""

    @wraps(function)
    def call(*given: Any, **options: Any) -> Any:
        return function(*for_xarray(given), **for_xarray(options))

    return call

"""One named array with axes, units and labels: what `run["base.position"]` returns.

It has the words of xarray's DataArray that are used most. Any other attribute is xarray's: `to_xarray()` is called for
it. xarray brings pandas and dask, half a second of CPU, so it is imported only then.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from freefloat.values.label_places import find_places, is_plain_place

if TYPE_CHECKING:
    import xarray


class Coords(dict[str, "LabelledArray"]):
    """Names and times by axis, which xarray can read too: its arrays ask for `variables` and `xindexes` to add ours."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"Coords has no '{name}'.", name=name, obj=self)
        import xarray

        return getattr(xarray.Dataset(coords=_coords_for_xarray(self)).coords, name)


@dataclass(frozen=True, eq=False, repr=False)
class LabelledArray(NDArrayOperatorsMixin):
    """Values along named axes, and what they are: `units`, `frame`, `long_name`."""

    dims: tuple[str, ...]
    values: np.ndarray
    attrs: Mapping[str, Any] = field(default_factory=dict)
    coords: Mapping[str, LabelledArray] = field(default_factory=dict)  # by axis, where it has names or times
    name: str | None = None

    def __post_init__(self) -> None:
        """Coordinates are kept in a form that xarray can read."""
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
        """Number of axes."""
        return self.values.ndim

    @property
    def size(self) -> int:
        """Number of values."""
        return self.values.size

    @property
    def dtype(self) -> np.dtype:
        """Kind of the values."""
        return self.values.dtype

    @property
    def data(self) -> np.ndarray:
        """The values, as xarray calls them too."""
        return self.values

    @property
    def T(self) -> LabelledArray:
        """The axes in reversed order."""
        return replace(self, dims=self.dims[::-1], values=self.values.T)

    def along(self, axis: str) -> np.ndarray:
        """The names or times of an axis; counted from zero where it has none."""
        return self.coords[axis].values if axis in self.coords else np.arange(self.shape[self.dims.index(axis)])

    def coordinate(self, axis: str) -> LabelledArray:
        """The names or times of an axis as an array along itself."""
        if axis not in self.coords and axis not in self.dims:
            known = ", ".join({**dict.fromkeys(self.dims), **self.coords})
            raise KeyError(f"{self._title()} has no axis '{axis}'. Axes: {known or 'none'}.")
        itself = axis == self.name and self.dims == (axis,)
        if not itself and axis not in self.coords:
            return LabelledArray((axis,), self.along(axis), name=axis)
        found = self.coords.get(axis, self)
        return replace(found, coords={axis: found} if axis in found.dims else {}, name=axis)

    def isel(self, places: Mapping[str, Any] | None = None, **more: Any) -> LabelledArray:
        """The values at some places of an axis: `isel(time=-1)`, `isel(time=slice(0, 10))`."""
        found = self
        for axis, place in {**(places or {}), **more}.items():
            if not is_plain_place(place):
                return from_xarray(self._ask_xarray("isel", {**(places or {}), **more}))
            found = found._at(axis, place if isinstance(place, slice) else np.asarray(place))
        return found

    def sel(self, labels: Mapping[str, Any] | None = None, method: str | None = None, **more: Any) -> LabelledArray:
        """The values at names or times: `sel(xyz="z")`, `sel(time=slice(1.0, 2.0))`, `sel(time=3, method="nearest")`.

        Both ends of a slice are included.
        """
        wanted, places = {**(labels or {}), **more}, {}
        for axis, label in wanted.items():
            along = self.coordinate(axis).values
            places[axis] = label if axis not in self.coords else find_places(axis, along, label, method)
            if places[axis] is None:
                return from_xarray(self._ask_xarray("sel", wanted, method=method))
        return self.isel(places)

    def _at(self, axis: str, place: slice | np.ndarray) -> LabelledArray:
        if axis not in self.dims:
            raise ValueError(f"{self._title()} has no axis '{axis}'. Axes: {', '.join(self.dims) or 'none'}.")
        at = place if isinstance(place, slice) else place[()]
        values = np.asarray(self.values[(slice(None),) * self.dims.index(axis) + (at,)])
        kept, coords = values.ndim == self.ndim, dict(self.coords)
        if axis in coords:
            along = np.asarray(coords[axis].values[at])
            coords[axis] = replace(coords[axis], dims=(axis,) if kept else (), values=along)
        return replace(self, dims=self.dims if kept else _without(self.dims, axis), values=values, coords=coords)

    def __getitem__(self, place: Any) -> LabelledArray:
        if isinstance(place, str):
            return self.coordinate(place)
        if isinstance(place, Mapping):
            return self.isel(place)
        given = list(place) if isinstance(place, tuple) else [place]
        if any(part is Ellipsis for part in given):
            at = next(k for k, part in enumerate(given) if part is Ellipsis)
            given[at : at + 1] = [slice(None)] * (self.ndim - len(given) + 1)
        if len(given) > self.ndim:
            raise IndexError(f"{self._title()} has {self.ndim} axes, not {len(given)}: {', '.join(self.dims)}.")
        return self.isel(dict(zip(self.dims, given, strict=False)))

    def __setitem__(self, place: Any, value: Any) -> None:
        self.to_xarray()[place] = value.to_xarray() if isinstance(value, LabelledArray) else value

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

    def max(self, dim: str | Sequence[str] | None = None, **options: Any) -> LabelledArray:
        """Largest value over all axes or some."""
        return _reduced(self, "max", dim, options)

    def min(self, dim: str | Sequence[str] | None = None, **options: Any) -> LabelledArray:
        """Smallest value over all axes or some."""
        return _reduced(self, "min", dim, options)

    def sum(self, dim: str | Sequence[str] | None = None, **options: Any) -> LabelledArray:
        """Sum over all axes or some."""
        return _reduced(self, "sum", dim, options)

    def mean(self, dim: str | Sequence[str] | None = None, **options: Any) -> LabelledArray:
        """Mean value over all axes or some."""
        return _reduced(self, "mean", dim, options)

    def any(self, dim: str | Sequence[str] | None = None, **options: Any) -> LabelledArray:
        """True where a value along the axes is true."""
        return _reduced(self, "any", dim, options)

    def all(self, dim: str | Sequence[str] | None = None, **options: Any) -> LabelledArray:
        """True where all values along the axes are true."""
        return _reduced(self, "all", dim, options)

    def argmax(self, dim: str | None = None, **options: Any) -> LabelledArray:
        """Place of the largest value along an axis, or among all values."""
        return _reduced(self, "argmax", dim, options)

    def argmin(self, dim: str | None = None, **options: Any) -> LabelledArray:
        """Place of the smallest value along an axis, or among all values."""
        return _reduced(self, "argmin", dim, options)

    def to_xarray(self) -> xarray.DataArray:
        """As xarray has it; the values are shared."""
        import xarray

        return xarray.DataArray(self.values, _coords_for_xarray(self.coords), self.dims, self.name, dict(self.attrs))

    def __getattr__(self, name: str) -> Any:
        """A coordinate, an attribute such as `units`, or whatever xarray has by this name."""
        if name.startswith("_") or name in LabelledArray.__dataclass_fields__:
            raise AttributeError(f"LabelledArray has no '{name}'.", name=name, obj=self)
        if name in self.coords:
            return self.coordinate(name)
        if name in self.attrs:
            return self.attrs[name]
        found = getattr(self.to_xarray(), name)
        return _of_xarray_arrays(found) if inspect.ismethod(found) else found

    def _ask_xarray(self, question: str, /, *given: Any, **options: Any) -> xarray.DataArray:
        return _of_xarray_arrays(getattr(self.to_xarray(), question))(*given, **options)

    def _title(self) -> str:
        return f"Array '{self.name}'" if self.name else "The array"

    def __repr__(self) -> str:
        axes = ", ".join(f"{axis}: {length}" for axis, length in self.sizes.items())
        lines = [f"<LabelledArray{f' {self.name!r}' if self.name else ''} ({axes})>"]
        lines += [np.array2string(self.values, threshold=60, edgeitems=3)]
        lines += [f"  {axis}: {np.array2string(along.values, threshold=12)}" for axis, along in self.coords.items()]
        return "\n".join([*lines, *(f"  {name}: {value}" for name, value in self.attrs.items())])

    def _repr_html_(self) -> str:
        """For notebooks, as xarray shows it."""
        return self.to_xarray()._repr_html_()


def from_xarray(array: xarray.DataArray) -> LabelledArray:
    """From xarray; the values are shared."""
    coords = {
        str(name): LabelledArray(_axes(along.dims), along.values, dict(along.attrs), name=str(name))
        for name, along in array.coords.items()
    }
    name = None if array.name is None else str(array.name)
    return LabelledArray(_axes(array.dims), array.values, dict(array.attrs), coords, name)


def _coords_for_xarray(coords: Mapping[str, LabelledArray]) -> dict[str, tuple[Any, ...]]:
    return {name: (along.dims, along.values, dict(along.attrs)) for name, along in coords.items()}


def _axes(dims: Any) -> tuple[str, ...]:
    return tuple(map(str, dims))


def _without(dims: tuple[str, ...], axis: str) -> tuple[str, ...]:
    return tuple(name for name in dims if name != axis)


def _of_xarray_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method of xarray that accepts our arrays too."""

    def converted(value: Any) -> Any:
        if isinstance(value, LabelledArray):
            return value.to_xarray()
        return {key: converted(part) for key, part in value.items()} if isinstance(value, dict) else value

    @wraps(function)
    def call(*given: Any, **options: Any) -> Any:
        return function(*map(converted, given), **converted(options))

    return call


def _reduced(array: LabelledArray, function: str, dim: Any, options: dict[str, Any]) -> LabelledArray:
    """A numpy function over axes, as xarray has it: values that are not numbers are left out, which xarray does."""
    axis, rest = options.get("axis"), {key: value for key, value in options.items() if key != "axis"}
    if isinstance(dim, int) or (dim is not None and axis is not None):
        raise TypeError(f"{function}() takes the name of an axis, or its number as axis=... Axes: {array.dims}.")
    holes = array.dtype.kind in "fc" and bool(np.isnan(array.values).any())
    if holes or array.dtype.kind == "O" or any(value is not None for value in rest.values()) or dim is Ellipsis:
        asked = {key: value for key, value in options.items() if value is not None}
        return from_xarray(array._ask_xarray(function, dim, **asked))
    names = array.dims if dim is None else (dim,) if isinstance(dim, str) else tuple(dim)
    axes = tuple(array.dims.index(array.coordinate(name).dims[0]) for name in names) if axis is None else axis
    whole = dim is None and axis is None
    values = getattr(np, function)(array.values, axis=None if whole else axes[0] if function[:3] == "arg" else axes)
    gone = {array.dims[k] for k in np.atleast_1d(axes)} if np.size(axes) else set()
    coords = {name: along for name, along in array.coords.items() if not gone & {name, *along.dims}}
    kept = tuple(axis for axis in array.dims if axis not in gone)
    return replace(array, dims=kept, values=np.asarray(values), coords=coords)

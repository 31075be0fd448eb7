"""Named arrays with axes, units and labels: the few methods of xarray that the package itself uses.

A run is recorded, audited, saved and shown in them. xarray brings pandas, a third of a second of CPU: it is imported
when a data set is requested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.values.labelled_array import LabelledArray, array_parts

if TYPE_CHECKING:
    import xarray


ArrayParts = tuple[str | tuple[str, ...], Any] | tuple[str | tuple[str, ...], Any, Mapping[str, Any]]


class LabelledArrays:
    """Arrays by name, with coordinates along their axes (`coords`) and facts about all of them (`attrs`)."""

    def __init__(
        self,
        arrays: Mapping[str, ArrayParts] | None = None,
        coords: Mapping[str, ArrayParts | list[str]] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        self.attrs = dict(attrs or {})
        self.coords = {
            name: _label_array(name, given if isinstance(given, tuple) else (name, given), {})
            for name, given in (coords or {}).items()
        }
        self.data_vars = {name: _label_array(name, given, self.coords) for name, given in (arrays or {}).items()}

    def __getitem__(self, name: str) -> LabelledArray:
        return self.coords[name] if name in self.coords else self.data_vars[name]

    def __contains__(self, name: object) -> bool:
        return name in self.data_vars or name in self.coords

    def __iter__(self) -> Iterator[str]:
        return iter(self.data_vars)

    @property
    def sizes(self) -> dict[str, int]:
        """Length of each axis by its name."""
        every = (*self.coords.values(), *self.data_vars.values())
        return {axis: length for array in every for axis, length in zip(array.dims, array.shape, strict=True)}

    def isel(self, **places: slice | np.ndarray) -> LabelledArrays:
        """All arrays at some places of an axis: `isel(time=slice(0, 10))`."""

        def cut_array(array: LabelledArray) -> ArrayParts:
            return array.dims, array.values[tuple(places.get(axis, slice(None)) for axis in array.dims)], array.attrs

        return LabelledArrays(
            {name: cut_array(array) for name, array in self.data_vars.items()},
            {name: cut_array(array) for name, array in self.coords.items()},
            self.attrs,
        )

    def with_arrays(
        self,
        arrays: Mapping[str, ArrayParts],
        attrs: Mapping[str, Any] | None = None,
        coords: Mapping[str, ArrayParts | list[str]] | None = None,
    ) -> LabelledArrays:
        """These arrays with more arrays, more facts, and the coordinates of new axes."""
        along, attrs = array_parts(self.coords) | dict(coords or {}), {**self.attrs, **(attrs or {})}
        return LabelledArrays(array_parts(self.data_vars) | dict(arrays), along, attrs)

    def without(self, names: Sequence[str]) -> LabelledArrays:
        """These arrays without some of them, and without the facts."""
        kept = {name: array for name, array in self.data_vars.items() if name not in names}
        return LabelledArrays(array_parts(kept), array_parts(self.coords))

    def as_dataset(self) -> xarray.Dataset:
        """These arrays as an xarray data set; the values are shared."""
        import xarray

        return xarray.Dataset(array_parts(self.data_vars), coords=array_parts(self.coords), attrs=self.attrs)

    @staticmethod
    def of(data: xarray.Dataset) -> LabelledArrays:
        """Labelled arrays from an xarray data set; the values are shared."""
        facts = {str(name): value for name, value in data.attrs.items()}
        return LabelledArrays(array_parts(data.data_vars), array_parts(data.coords), facts)


def _label_array(name: str, given: ArrayParts, coords: Mapping[str, LabelledArray]) -> LabelledArray:
    axes, values, *attributes = given
    dims = (axes,) if isinstance(axes, str) else tuple(axes)
    along = {axis: coords[axis] for axis in dims if axis in coords}
    return LabelledArray(dims, np.asarray(values), dict(*attributes), along, name)

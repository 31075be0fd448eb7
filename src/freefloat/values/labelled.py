"""Named arrays with axes, units and labels: the few words of xarray that the package itself uses.

A run is recorded, audited, saved and shown in them. xarray brings pandas, a third of a second of CPU: it is imported
when somebody asks for a data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.values.labelled_array import LabelledArray

if TYPE_CHECKING:
    import xarray


Given = tuple[str | tuple[str, ...], Any] | tuple[str | tuple[str, ...], Any, Mapping[str, Any]]


class LabelledArrays:
    """Arrays by name, with what stands along their axes (`coords`) and facts about all of them (`attrs`)."""

    def __init__(
        self,
        arrays: Mapping[str, Given] | None = None,
        coords: Mapping[str, Given | list[str]] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        self.attrs = dict(attrs or {})
        self.coords = {
            name: _labelled(name, given if isinstance(given, tuple) else (name, given), {})
            for name, given in (coords or {}).items()
        }
        self.data_vars = {name: _labelled(name, given, self.coords) for name, given in (arrays or {}).items()}

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
        """The same arrays at some places of an axis: `isel(time=slice(0, 10))`."""

        def cut(array: LabelledArray) -> Given:
            return array.dims, array.values[tuple(places.get(axis, slice(None)) for axis in array.dims)], array.attrs

        return LabelledArrays(
            {name: cut(array) for name, array in self.data_vars.items()},
            {name: cut(array) for name, array in self.coords.items()},
            self.attrs,
        )

    def joined(
        self,
        arrays: Mapping[str, Given],
        attrs: Mapping[str, Any] | None = None,
        coords: Mapping[str, Given | list[str]] | None = None,
    ) -> LabelledArrays:
        """With more arrays, more facts, and what stands along axes that are new."""
        along, attrs = _given(self.coords) | dict(coords or {}), {**self.attrs, **(attrs or {})}
        return LabelledArrays(_given(self.data_vars) | dict(arrays), along, attrs)

    def without(self, names: Sequence[str]) -> LabelledArrays:
        """Without some arrays, and without the facts."""
        kept = {name: array for name, array in self.data_vars.items() if name not in names}
        return LabelledArrays(_given(kept), _given(self.coords))

    def as_dataset(self) -> xarray.Dataset:
        """As xarray has it; the values are shared."""
        import xarray

        return xarray.Dataset(_given(self.data_vars), coords=_given(self.coords), attrs=self.attrs)

    @staticmethod
    def of(data: xarray.Dataset) -> LabelledArrays:
        """From xarray; the values are shared."""
        return LabelledArrays(
            {str(name): (_axes(array.dims), array.values, dict(array.attrs)) for name, array in data.data_vars.items()},
            {str(name): (_axes(array.dims), array.values, dict(array.attrs)) for name, array in data.coords.items()},
            {str(name): value for name, value in data.attrs.items()},
        )


def _axes(dims: Any) -> tuple[str, ...]:
    return tuple(map(str, dims))


def _labelled(name: str, given: Given, coords: Mapping[str, LabelledArray]) -> LabelledArray:
    axes, values, *attributes = given
    dims = (axes,) if isinstance(axes, str) else tuple(axes)
    along = {axis: coords[axis] for axis in dims if axis in coords}
    return LabelledArray(dims, np.asarray(values), dict(*attributes), along, name)


def _given(arrays: Mapping[str, LabelledArray]) -> dict[str, Any]:
    return {name: (array.dims, array.values, dict(array.attrs)) for name, array in arrays.items()}

"""Labelled arrays as a NetCDF 4 file, which is HDF5 with named axes: ten times the speed of the general writers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.values.checksums import append_checksum, remove_checksum
from freefloat.values.labelled import ArrayParts, LabelledArray, LabelledArrays

if TYPE_CHECKING:
    import h5py

_FOREIGN_FILTERS = 256  # numbers from here on are not HDF5's own
_MOST_PACKED = 1100  # times, by the packing that HDF5 has itself
_SMALL = 1_000_000  # bytes that pass without a check
# What HDF5 and NetCDF themselves write beside an array.
_HIDDEN = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "_FillValue", "_NCProperties", "dtype"}


def write_netcdf(data: LabelledArrays, path: Path) -> None:
    """Write all arrays with axes and attributes, and a checksum; xarray, MATLAB and the netCDF library read it."""
    import h5py

    if slashed := [name for name in (*data.sizes, *data.coords, *data.data_vars) if "/" in name]:
        raise ValueError(f"NetCDF permits no slash in a name: '{slashed[0]}'. Give the channel another name.")
    with h5py.File(path, "w", track_order=True) as file:
        scales: dict[str, h5py.Dataset] = {}
        for number, (axis, length) in enumerate(data.sizes.items()):
            scales[axis] = _scale(file, axis, length, data.coords.get(axis))
            scales[axis].attrs["_Netcdf4Dimid"] = np.int32(number)
        for name, array in (*data.coords.items(), *data.data_vars.items()):
            if name not in scales:
                written = _dataset(file, name, array)
                for place, axis in enumerate(array.dims):
                    written.dims[place].attach_scale(scales[axis])
            _describe(file[name], array.attrs)
        _describe(file, data.attrs)
    append_checksum(path)


def read_netcdf(path: Path) -> LabelledArrays:
    """Read a file without groups; an array with the name of its own axis is the coordinate of that axis.

    Whatever is wrong with the file is raised as an OSError. Links, and values in other files, are rejected.
    """
    import h5py

    arrays: dict[str, ArrayParts] = {}
    coords: dict[str, ArrayParts] = {}
    try:
        with h5py.File(path, "r") as file:
            for name in map(str, file):
                entry: Any = _own_dataset(file, name)
                scale = entry.attrs.get("CLASS") == b"DIMENSION_SCALE"
                if scale and entry.attrs["NAME"].startswith(b"This is a netCDF dimension but not"):
                    continue
                axes = (name,) if scale else tuple(str(axis[0].name).removeprefix("/") for axis in entry.dims)
                (coords if scale else arrays)[name] = axes, _values(entry), _attributes(entry)
            return LabelledArrays(arrays, coords, _attributes(file))
    except OSError:
        raise
    except Exception as error:  # HDF5 raises exceptions of every kind for damaged files
        raise OSError(f"{type(error).__name__}: {error}") from error


def _own_dataset(file: h5py.File, name: str) -> h5py.Dataset:
    """The array of a name, if its values are in this very file, in a form that needs no other program."""
    import h5py

    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        raise OSError(f"'{name}' is a link to another place, which is not followed")
    entry = file[name]
    if not isinstance(entry, h5py.Dataset):
        raise OSError(f"'{name}' is no array")
    made = entry.id.get_create_plist()
    if made.get_external_count() or entry.is_virtual:
        raise OSError(f"the values of '{name}' are in other files, which are not read")
    if any(made.get_filter(place)[0] >= _FOREIGN_FILTERS for place in range(made.get_nfilters())):
        raise OSError(f"'{name}' is packed in a way that needs other programs")
    if entry.nbytes > _MOST_PACKED * entry.id.get_storage_size() + _SMALL and not _is_bare_axis(entry):
        raise OSError(f"'{name}' claims {entry.nbytes} bytes, of which the file holds {entry.id.get_storage_size()}")
    return entry


def _is_bare_axis(entry: h5py.Dataset) -> bool:
    """Whether an entry is an axis without coordinate: it has a length, and no values."""
    return entry.attrs.get("CLASS") == b"DIMENSION_SCALE" and entry.id.get_storage_size() == 0


def _values(entry: h5py.Dataset) -> np.ndarray:
    import h5py

    if h5py.check_string_dtype(entry.dtype) is not None:
        return np.asarray(entry.asstr()[()])
    return np.asarray(entry[()]).astype(bool if entry.attrs.get("dtype") == "bool" else entry.dtype)


def _attributes(place: Any) -> dict[str, Any]:
    found = {name: value for name, value in place.attrs.items() if name not in _HIDDEN and "_Netcdf4" not in name}
    return {name: _plain(value) for name, value in found.items()}


def _plain(value: Any) -> Any:
    """Plain form of an attribute: words as a list, as in xarray; a single number, which others write as an array."""
    if np.shape(value) == (1,):
        return value[0]
    return list(value) if np.ndim(value) and np.asarray(value).dtype.kind == "O" else value


def rewrite_attribute(path: Path, name: str, value: Any) -> None:
    """Change one attribute of a file that `write_netcdf` wrote."""
    import h5py

    remove_checksum(path)
    with h5py.File(path, "r+") as file:
        file.attrs[name] = value
    append_checksum(path)


def _scale(file: h5py.File, axis: str, length: int, along: LabelledArray | None) -> h5py.Dataset:
    """Write the coordinate of an axis or, where it has none, its length in the form that NetCDF prescribes."""
    if along is not None:
        scale = _dataset(file, axis, along)
        scale.make_scale(axis)
    else:
        scale = file.create_dataset(axis, shape=(length,), dtype=">f4")
        scale.make_scale(f"This is a netCDF dimension but not a netCDF variable. {length:10d}")
    return scale


def _dataset(file: h5py.File, name: str, array: LabelledArray) -> h5py.Dataset:
    import h5py

    if array.dtype.kind in "UO":
        return file.create_dataset(name, data=array.values.astype(object), dtype=h5py.string_dtype())
    if array.dtype.kind == "b":  # NetCDF has no truth values; xarray recognises them by this attribute
        written = file.create_dataset(name, data=array.values.astype(np.int8))
        written.attrs["dtype"] = "bool"
        return written
    return file.create_dataset(name, data=array.values)


def _describe(place: Any, attributes: Any) -> None:
    for key, value in attributes.items():
        place.attrs[key] = value

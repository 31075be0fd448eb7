"""A plain file of a finite-element model: arrays M, K, D, positions, grids, shapes in NPZ or HDF5."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from freefloat.flex.matrices import MatrixModel
from freefloat.values.errors import ModelError

_NEEDED = ("M", "K", "positions")


def write_matrices(path: str | Path, model: MatrixModel) -> None:
    """Write a model as `.npz` or `.h5`: M, K, D, shapes (freedoms first), positions (grids, 3), grids (names)."""
    arrays = {"M": model.mass, "K": model.stiffness, "positions": model.positions}
    arrays |= {} if model.damping is None else {"D": model.damping}
    arrays |= {} if model.shapes is None else {"shapes": model.shapes}
    path = Path(path)
    if _is_hdf5(path):
        import h5py

        with h5py.File(path, "w") as file:
            for key, array in arrays.items():
                file[key] = array
            file["grids"] = [name.encode() for name in model.grids]
        return
    np.savez_compressed(path, allow_pickle=False, grids=np.array(model.grids), **arrays)


def read_matrices(path: str | Path, name: str = "") -> MatrixModel:
    """Read a model; grids without names are called 1, 2, 3, ... Sizes and finiteness are checked."""
    path = Path(path)
    try:
        arrays = _read_hdf5(path) if _is_hdf5(path) else _read_npz(path)
    except (OSError, ValueError, EOFError) as fault:
        raise ModelError(f"File '{path}' cannot be read: {fault}. Write it as .npz or .h5.") from None
    missing = [key for key in _NEEDED if key not in arrays]
    if missing:
        found = ", ".join(arrays) or "none"
        raise ModelError(f"File '{path.name}' lacks {', '.join(missing)}. It needs M, K and positions; found: {found}.")
    numbers = {key: np.asarray(arrays[key], float) for key in (*_NEEDED, "D", "shapes") if key in arrays}
    grids = arrays.get("grids", [str(k + 1) for k in range(len(numbers["positions"]))])
    return MatrixModel(
        name=name or path.stem,
        mass=numbers["M"],
        stiffness=numbers["K"],
        positions=numbers["positions"],
        grids=tuple(g.decode() if isinstance(g, bytes) else str(g) for g in grids),
        damping=numbers.get("D"),
        shapes=numbers.get("shapes"),
    )


def _is_hdf5(path: Path) -> bool:
    if path.suffix.lower() not in (".npz", ".h5", ".hdf5"):
        raise ModelError(f"'{path.name}' is neither .npz nor .h5. Choose one of these endings.")
    return path.suffix.lower() != ".npz"


def _read_npz(path: Path) -> dict:
    import zipfile

    try:
        with np.load(path, allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except zipfile.BadZipFile as fault:
        raise ValueError(str(fault)) from None


def _read_hdf5(path: Path) -> dict:
    import h5py

    with h5py.File(path, "r") as file:
        return {key: value[()] for key, value in file.items() if isinstance(value, h5py.Dataset)}

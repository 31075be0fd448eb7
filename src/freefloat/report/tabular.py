"""A run as one table: a column for time and for every component of every channel, named with its unit."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from freefloat.sim import Run
    from freefloat.values.labelled import LabelledArray


@dataclass(frozen=True)
class Column:
    """One component of one channel over time, in SI."""

    name: str  # base.position.x
    unit: str
    frame: str
    label: str
    values: np.ndarray

    @property
    def heading(self) -> str:
        """Name with unit, such as `base.position.x [m]`."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


def columns(run: Run) -> list[Column]:
    """Columns of the table: time, then every channel in the order of recording."""
    time = np.asarray(run.recorded["time"].values, dtype=float)
    table = [Column("time", "s", "", "Time", time)]
    for name in run.channels:
        array = run.recorded[name]
        if array.dims and array.dims[0] == "time" and array.dtype.kind in "fiu":
            table += _components(name, array)
    return table


def _components(name: str, array: LabelledArray) -> Iterator[Column]:
    labels = [list(map(str, array.along(axis))) for axis in array.dims[1:]]
    for index in np.ndindex(*array.shape[1:]):
        parts = [labels[axis][i] for axis, i in enumerate(index)]
        attributes = array.attrs
        yield Column(
            ".".join([name, *parts]),
            str(attributes.get("units", "")),
            str(attributes.get("frame", "")),
            str(attributes.get("long_name", name)),
            np.asarray(array.values[(slice(None), *index)]),
        )


def to_csv(run: Run, path: Path) -> list[Path]:
    """Write comma-separated values with one heading line and all digits of every number."""
    table = columns(run)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([column.heading for column in table])
        writer.writerows(zip(*(column.values.tolist() for column in table), strict=True))
    return [path]


def to_parquet(run: Run, path: Path) -> list[Path]:
    """Write Apache Parquet; unit, frame and label are metadata of each field."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise ValueError("Parquet needs pyarrow. Install it: pip install 'freefloat[export]'.") from None
    table = columns(run)
    fields = [
        pa.field(
            c.name, pa.from_numpy_dtype(c.values.dtype), metadata={"unit": c.unit, "frame": c.frame, "label": c.label}
        )
        for c in table
    ]
    arrays = [pa.array(c.values) for c in table]
    parquet.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), path)
    return [path]

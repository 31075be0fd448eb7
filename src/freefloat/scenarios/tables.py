"""Results of many runs as small tables inside the package: CSV whose first lines name the command that made it."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.values.labelled import LabelledArrays

if TYPE_CHECKING:
    import xarray

_DIGITS = 7  # significant, of every number


def save_table(data: xarray.Dataset, path: Path, command: str) -> Path:
    """Write a data set of one row for each run; a vector becomes one column for each component."""
    columns = list(_columns(data))
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# made by: {command}\n")
        file.writelines(f"# {name}: {value}\n" for name, value in data.attrs.items())
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([f"{name} [{unit}]" if unit else name for name, unit, _ in columns])
        writer.writerows(zip(*(map(_cell_text, values) for _, _, values in columns), strict=True))
    return path


@cache
def load_table(name: str) -> LabelledArrays:
    """Load a table of the package by its file name."""
    return parse_table(resources.files("freefloat.scenarios.ets7").joinpath("data", name).read_text(encoding="utf-8"))


def parse_table(text: str) -> LabelledArrays:
    """Table from CSV text: columns along `row` with their units; the facts of its first lines are attributes."""
    lines = text.splitlines()
    facts = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    headings, *rows = csv.reader(line for line in lines if not line.startswith("# "))
    columns: dict[str, Any] = {}
    for heading, values in zip(headings, zip(*rows, strict=True), strict=True):
        name, _, unit = heading.removesuffix("]").partition(" [")
        columns[name] = ("row", _column_values(values), {"units": unit})
    return LabelledArrays(columns, attrs={fact: _number(value) for fact, value in facts.items()})


def _columns(data: xarray.Dataset) -> Iterator[tuple[str, str, np.ndarray]]:
    for name in map(str, data.data_vars):
        values, unit = data[name].values, str(data[name].attrs.get("units", ""))
        if values.ndim == 1:
            yield name, unit, values
        else:
            yield from ((f"{name}.{k + 1}", unit, values[:, k]) for k in range(values.shape[1]))


def _cell_text(value: Any) -> str:
    return f"{value:.{_DIGITS}g}" if isinstance(value, (float, np.floating)) else str(value)


def _column_values(values: tuple[str, ...]) -> np.ndarray:
    """Values of a column: numbers if all of them are numbers, strings otherwise."""
    try:
        return np.array([float(value) for value in values])
    except ValueError:
        return np.array(values)


def _number(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value

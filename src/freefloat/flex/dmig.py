"""DMIG cards of Nastran bulk data: labelled matrices, with the GRID cards of their attachment points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from freefloat.flex.bulk import BulkCard, cards, number_field
from freefloat.flex.labels import Label, LabelledMatrix
from freefloat.values.errors import ModelError


@dataclass(frozen=True)
class BulkMatrices:
    """Content of a bulk data file: labelled matrices, and grid coordinates in the basic frame [m]."""

    matrices: dict[str, LabelledMatrix]
    grids: dict[int, np.ndarray]


@dataclass
class _Terms:
    symmetric: bool
    values: dict[tuple[Label, Label], float] = field(default_factory=dict)

    def add(self, card: BulkCard, row: Label, column: Label, value: float) -> None:
        mirror = (column, row)
        if (row, column) in self.values or (self.symmetric and mirror in self.values):
            raise card.fault(f"the term at row {row}, column {column} is given twice. Remove one")
        self.values[row, column] = value


def read_dmig(path: str | Path) -> BulkMatrices:
    """All real DMIG matrices of a bulk data file, terms placed by (grid, component), and its GRID coordinates."""
    terms: dict[str, _Terms] = {}
    grids: dict[int, np.ndarray] = {}
    for card in cards(Path(path)):
        if card.name == "DMIG":
            _read_entry(card, terms)
        elif card.name == "GRID":
            number = card.integer(0, "the grid number")
            if card.integer(1, "the coordinate system", 0) != 0:
                raise card.fault(f"grid {number} is not in the basic frame. Write it in coordinate system 0")
            grids[number] = np.array([card.real(2 + k, f"coordinate {k + 1} of grid {number}", 0.0) for k in range(3)])
    if not terms:
        raise ModelError(f"Bulk data file '{Path(path).name}' has no DMIG matrix. Write one with EXTSEOUT or DMIGPCH.")
    return BulkMatrices({name: _matrix(name, held) for name, held in terms.items()}, grids)


def _read_entry(card: BulkCard, terms: dict[str, _Terms]) -> None:
    name = card.text(0).upper()
    column = card.integer(1, f"the column grid of matrix '{name}'")
    if column == 0:
        form, kind = card.integer(2, "the matrix form"), card.integer(3, "the number type")
        if name in terms:
            raise card.fault(f"matrix '{name}' begins twice. Rename one")
        if kind not in (1, 2):
            raise card.fault(f"matrix '{name}' is complex. Only real matrices are read: write it as real")
        if form not in (1, 2, 6, 9):
            raise card.fault(f"matrix '{name}' has form {form}. Known: 1 square, 2 and 9 rectangular, 6 symmetric")
        terms[name] = _Terms(symmetric=form == 6)
        return
    if name not in terms:
        raise card.fault(f"matrix '{name}' has a column before its header card (grid 0). Put the header first")
    at: Label = (column, _component(card, 2, name))
    for k in range(4, len(card.fields), 4):
        if not card.text(k):
            if any(card.fields[k : k + 4]):
                raise card.fault(f"a term of matrix '{name}' has no row grid. Correct the fields")
            continue
        row: Label = (card.integer(k, f"a row grid of matrix '{name}'"), _component(card, k + 1, name))
        terms[name].add(card, row, at, card.real(k + 2, f"the term at row {row}, column {at} of matrix '{name}'"))


def _component(card: BulkCard, index: int, name: str) -> int:
    component = card.integer(index, f"a component of matrix '{name}'", 0)
    if not 0 <= component <= 6:
        raise card.fault(f"matrix '{name}' has component {component}. Components are 1 to 6, or 0 for a scalar point")
    return component


def _matrix(name: str, terms: _Terms) -> LabelledMatrix:
    values = dict(terms.values)
    if terms.symmetric:
        values |= {(column, row): value for (row, column), value in terms.values.items()}
    rows, columns = (tuple(sorted({key[k] for key in values})) for k in range(2))
    index = [{label: k for k, label in enumerate(labels)} for labels in (rows, columns)]
    full = np.zeros((len(rows), len(columns)))
    for (row, column), value in values.items():
        full[index[0][row], index[1][column]] = value
    return LabelledMatrix(name, rows, columns, full)


def write_dmig(
    path: str | Path, matrices: Mapping[str, LabelledMatrix], grids: Mapping[int, np.ndarray] | None = None
) -> None:
    """Write symmetric matrices as DMIG cards in large fields (11 digits and more), with GRID cards."""
    lines = ["$ Reduced model: labelled matrices and attachment points, SI units"]
    for number, point in (grids or {}).items():
        x, y, z = (number_field(float(v)) for v in point)
        lines += [f"GRID*   {number:16d}{0:16d}{x}{y}", f"*       {z}"]
    for name, matrix in matrices.items():
        lines += _entry_lines(name, matrix)
    Path(path).write_text("\n".join([*lines, "ENDDATA"]) + "\n")


def _entry_lines(name: str, matrix: LabelledMatrix) -> list[str]:
    if len(name) > 8 or not name.isidentifier():
        raise ModelError(f"DMIG takes matrix names of up to 8 letters and digits, not '{name}'.")
    if matrix.rows != matrix.columns or not np.allclose(matrix.values, matrix.values.T, rtol=1e-10, atol=0.0):
        raise ModelError(f"Matrix '{name}' is not symmetric. Only symmetric matrices are written as DMIG.")
    lines = [f"DMIG    {name.upper():<8}{0:8d}{6:8d}{2:8d}{0:8d}"]
    for k, (grid, component) in enumerate(matrix.columns):
        terms = [(i, matrix.values[i, k]) for i in range(k, len(matrix.rows)) if matrix.values[i, k] != 0.0]
        if terms:
            lines.append(f"DMIG*   {name.upper():<16}{grid:16d}{component:16d}")
        for i, value in terms:
            row = matrix.rows[i]
            lines.append(f"*       {row[0]:16d}{row[1]:16d}{number_field(value)}")
    return lines

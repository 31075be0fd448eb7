"""Measurements as external software reads them: arrays by name, when they were measured, whether they are valid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from freefloat.outside.contract import ContractField


class MeasuredValues:
    """Read-only arrays by name: `y["base.rate"]`, `y.valid("base.rate")`, `y.taken("base.rate")`."""

    def __init__(self, layout: MeasurementLayout, row: np.ndarray) -> None:
        self._layout, self._row = layout, row

    def __getitem__(self, name: str) -> np.ndarray:
        number = self._layout.number(name)
        return self._row[self._layout.places[number]].reshape(self._layout.fields[number].shape or ())

    def __iter__(self) -> Iterator[str]:
        return iter(field.name for field in self._layout.fields)

    def valid(self, name: str) -> bool:
        """Whether a measurement of that name has been made."""
        return bool(self._row[self._layout.valid][self._layout.number(name)] > 0.5)

    def taken(self, name: str) -> float:
        """Instant of the latest measurement of that name [s]."""
        return float(self._row[self._layout.taken][self._layout.number(name)])


class MeasurementLayout:
    """Places of measurements in a row of numbers: time, all values, when each was measured, whether each is valid."""

    def __init__(self, fields: Sequence[ContractField]) -> None:
        self.fields = tuple(fields)
        ends = 1 + np.cumsum([field.size for field in self.fields], dtype=int)
        self.places = [slice(end - field.size, end) for end, field in zip(ends.tolist(), self.fields, strict=True)]
        first = int(ends[-1]) if self.fields else 1
        count = len(self.fields)
        self.values = slice(1, first)
        self.taken, self.valid = slice(first, first + count), slice(first + count, first + 2 * count)
        self.width = first + 2 * count
        self._numbers = {field.name: number for number, field in enumerate(self.fields)}

    def number(self, name: str) -> int:
        """Number of a measurement by its name."""
        if name not in self._numbers:
            raise KeyError(f"'{name}' was not asked for. Measurements: {', '.join(self._numbers) or 'none'}.")
        return self._numbers[name]

    def read(self, row: np.ndarray) -> MeasuredValues:
        """Measurements of a row by name, on a read-only copy."""
        own = np.array(row, dtype=float)
        own.flags.writeable = False
        return MeasuredValues(self, own)

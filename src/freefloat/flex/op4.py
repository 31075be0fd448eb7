"""OP4 text files (Nastran's OUTPUT4, formatted): named real matrices, dense or sparse."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from freefloat.values.errors import ModelError

_FORMAT = re.compile(r"(\d+)[ED](\d+)\.(\d+)", re.IGNORECASE)
_PER_LINE, _WIDTH = 3, 23  # of the numbers we write: all 17 digits
_BIG = 65536  # rows from which a string header takes two words
_WORDS = {1: 1, 2: 2}  # per number of a type, in sparse columns


def read_op4(path: str | Path) -> dict[str, np.ndarray]:
    """All matrices of an OP4 text file, by their names in capitals."""
    reader = _Reader(Path(path))
    matrices: dict[str, np.ndarray] = {}
    while reader.has_more():
        name, values = reader.matrix()
        if name in matrices:
            raise reader.fault("there are two matrices of this name. Rename one")
        matrices[name] = values
    if not matrices:
        raise ModelError(f"OP4 file '{Path(path).name}' is empty. Write it again.")
    return matrices


def write_op4(path: str | Path, matrices: Mapping[str, np.ndarray]) -> None:
    """Write real matrices as an OP4 text file, 17 digits each: reading gives the same numbers, bit for bit."""
    lines: list[str] = []
    for name, matrix in matrices.items():
        if not re.fullmatch(r"[A-Za-z]\w{0,7}", name):
            raise ModelError(f"OP4 takes matrix names of up to 8 letters and digits, not '{name}'.")
        values = np.atleast_2d(np.asarray(matrix, float))
        if not np.all(np.isfinite(values)) or np.max(np.abs(values), initial=0.0) >= 1e100:
            raise ModelError(f"Matrix '{name}' has numbers that OP4 cannot hold. Correct them.")
        values = np.where(np.abs(values) < 1e-99, 0.0, values)
        rows, columns = values.shape
        form = 1 if rows == columns else 2
        form = 6 if form == 1 and np.array_equal(values, values.T) else form
        lines.append(f"{columns:8d}{rows:8d}{form:8d}{2:8d}{name.upper():<8}1P,{_PER_LINE}E{_WIDTH}.16")
        for k in range(columns):
            lines += _column_lines(k, values[:, k])
        lines += [f"{columns + 1:8d}{1:8d}{1:8d}", f"{1.0:{_WIDTH}.16E}"]
    Path(path).write_text("\n".join(lines) + "\n")


def _column_lines(number: int, column: np.ndarray) -> list[str]:
    filled = np.flatnonzero(column)
    if not len(filled):
        return []
    first, last = filled[0], filled[-1]
    numbers = [f"{v:{_WIDTH}.16E}" for v in column[first : last + 1]]
    head = f"{number + 1:8d}{first + 1:8d}{len(numbers):8d}"
    return [head, *("".join(numbers[k : k + _PER_LINE]) for k in range(0, len(numbers), _PER_LINE))]


class _Reader:
    """Reads matrices one after the other; every fault names file, line and matrix."""

    def __init__(self, path: Path) -> None:
        try:
            raw = path.read_bytes()
        except OSError as fault:
            raise ModelError(f"OP4 file '{path}' cannot be read: {fault.strerror}.") from None
        if b"\0" in raw:
            raise ModelError(f"'{path.name}' is a binary file. Write the OP4 file as text (FORM=FORMATTED).")
        self.path, self.lines, self.at, self.name = path, raw.decode("ascii", "replace").splitlines(), 0, ""

    def fault(self, what: str) -> ModelError:
        part = f", matrix '{self.name}'" if self.name else ""
        return ModelError(f"OP4 file '{self.path.name}', line {max(self.at, 1)}{part}: {what}.")

    def has_more(self) -> bool:
        while self.at < len(self.lines) and not self.lines[self.at].strip():
            self.at += 1
        return self.at < len(self.lines)

    def next(self) -> str:
        if self.at >= len(self.lines):
            raise self.fault("the file ends in the middle of a matrix. Copy or write it again")
        self.at += 1
        return self.lines[self.at - 1]

    def integers(self, line: str, count: int) -> list[int]:
        try:
            return [int(line[8 * k : 8 * k + 8]) for k in range(count)]
        except ValueError:
            raise self.fault(
                f"expected {count} integers of 8 columns, found '{line.strip()[:40]}'. The file is damaged there"
            ) from None

    def matrix(self) -> tuple[str, np.ndarray]:
        self.name = ""
        line = self.next()
        columns, rows, _, kind = self.integers(line, 4)
        self.name = line[32:40].strip().upper()
        if kind not in _WORDS:
            raise self.fault("it is complex or of an unknown type. Only real matrices are read: write it as real")
        if columns < 1 or rows == 0:
            raise self.fault(f"a size of {abs(rows)} x {columns} makes no matrix. Write it again")
        form = _FORMAT.search(line[40:])
        per_line, width = (int(form[1]), int(form[2])) if form else (5, 16)
        big, rows = rows < 0 or rows >= _BIG, abs(rows)
        values = np.zeros((rows, columns))
        while True:
            column, first, words = self.integers(self.next(), 3)
            if column > columns:  # the record after the last column
                self.next()
                return self.name, values
            if column < 1:
                raise self.fault(f"column {column} does not exist. The file is damaged there")
            if first > 0:
                self.fill_column(values, column, first, self.numbers(words, per_line, width))
                continue
            while words > 0:
                row, length, header = self.string_header(big)
                words -= length + header
                self.fill_column(values, column, row, self.numbers(length // _WORDS[kind], per_line, width))

    def string_header(self, big: bool) -> tuple[int, int, int]:
        """Row, words of data and words of header of one string of a sparse column."""
        line = self.next()
        if big:
            length, row = self.integers(line, 2)
            return row, length - 1, 2
        try:
            packed = int(line)
        except ValueError:
            raise self.fault(f"expected a string header, found '{line.strip()[:40]}'") from None
        return packed % _BIG, packed // _BIG - 1, 1

    def numbers(self, count: int, per_line: int, width: int) -> np.ndarray:
        values: list[float] = []
        while len(values) < count:
            line = self.next()
            for k in range(min(per_line, count - len(values))):
                text = line[width * k : width * (k + 1)].replace("D", "E").replace("d", "E")
                try:
                    values.append(float(text))
                except ValueError:
                    raise self.fault(f"'{text.strip()}' is not a number. The file is damaged there") from None
        if not np.all(np.isfinite(values)):
            raise self.fault("it has a number that is not finite. Correct it where it was made")
        return np.array(values)

    def fill_column(self, values: np.ndarray, column: int, first: int, numbers: np.ndarray) -> None:
        if first < 1 or first - 1 + len(numbers) > len(values):
            raise self.fault(f"column {column} reaches beyond its {len(values)} rows. The file is damaged there")
        values[first - 1 : first - 1 + len(numbers), column - 1] = numbers

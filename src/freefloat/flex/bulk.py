"""Cards of a Nastran bulk data file: small, large and free fields, with continuations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from freefloat.values.errors import ModelError

_SHORT_EXPONENT = re.compile(r"([+-]?[\d.]+)([+-]\d+)")


@dataclass
class BulkCard:
    """One card: its name and its fields after the name, blanks kept."""

    file: str
    line: int
    name: str
    fields: list[str]

    def fault(self, what: str) -> ModelError:
        """Error that names the file and the line."""
        return ModelError(f"Bulk data file '{self.file}', line {self.line}, {self.name}: {what}.")

    def text(self, index: int) -> str:
        """A field, blank when it is absent."""
        return self.fields[index] if index < len(self.fields) else ""

    def integer(self, index: int, what: str, default: int | None = None) -> int:
        """A whole number in a field."""
        text = self.text(index)
        if not text and default is not None:
            return default
        try:
            return int(text)
        except ValueError:
            raise self.fault(f"{what} is '{text}', not a whole number. Correct the field") from None

    def real(self, index: int, what: str, default: float | None = None) -> float:
        """A real number in a field, also as 1.5+3 or 1.5D+3."""
        text = self.text(index)
        if not text and default is not None:
            return default
        plain = text.upper().replace("D", "E")
        if match := _SHORT_EXPONENT.fullmatch(plain):
            plain = f"{match[1]}E{match[2]}"
        try:
            value = float(plain)
        except ValueError:
            raise self.fault(f"{what} is '{text}', not a number. Correct the field") from None
        if not abs(value) < float("inf"):
            raise self.fault(f"{what} is '{text}', not finite. Correct the field")
        return value


def cards(path: Path) -> Iterator[BulkCard]:
    """All cards of a file."""
    try:
        lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError as fault:
        raise ModelError(f"Bulk data file '{path}' cannot be read: {fault.strerror}.") from None
    current: BulkCard | None = None
    for number, line in enumerate(lines, start=1):
        line = line.split("$")[0].rstrip()
        if not line.strip():
            continue
        name, fields = _split_line(line)
        if not name or name.startswith(("+", "*")):
            if current is None:
                raise ModelError(f"Bulk data file '{path.name}', line {number}: it continues no card. Remove it.")
            current.fields += fields
            continue
        if current is not None:
            yield current
        current = BulkCard(path.name, number, name.rstrip("*").upper(), fields)
    if current is not None:
        yield current


def _split_line(line: str) -> tuple[str, list[str]]:
    """Name and fields of one line; a continuation line has no name, or one that starts with + or *."""
    if "," in line:
        parts = [part.strip() for part in line.split(",")]
        return parts[0], (parts[1:] + [""] * 8)[:8] if not parts[0].endswith("*") else (parts[1:] + [""] * 4)[:4]
    line = line.expandtabs(8)
    name = line[:8].strip()
    width, count = (16, 4) if name.endswith("*") or name.startswith("*") else (8, 8)
    return name, [line[8 + width * k : 8 + width * (k + 1)].strip() for k in range(count)]


def number_field(value: float) -> str:
    """A number in 16 columns with as many digits as fit, at least 10."""
    for digits in range(15, 5, -1):
        mantissa, exponent = f"{value:.{digits}E}".split("E")
        text = f"{mantissa}{int(exponent):+d}"
        if len(text) <= 16:
            return f"{text:>16}"
    raise ModelError(f"The number {value:g} does not fit a field of 16 columns.")

"""The log of a rehearsal: a file that only grows, one record a cycle, each with its checksum.

It begins with a line of identification, the length of a header, the header (JSON: names and widths of the fields,
the cycle, facts of the rehearsal) and its checksum. A record is a row of little-endian float64 and the CRC-32 of its
bytes, as one more 64-bit word. A process that is killed leaves every cycle that it wrote; an incomplete record is not
read.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.hil.loop.rows import RowLayout

_MAGIC = b"freefloat rehearsal log 1\n"
_WORD = 8  # bytes


class LogWriter:
    """Appends rows to a new file; any failure is an OSError in the cycle in which it happens."""

    def __init__(self, path: str | Path, layout: RowLayout, about: Mapping[str, Any]) -> None:
        self.path = Path(path)
        require_new(self.path)
        header = json.dumps({"fields": layout.fields, **about}).encode()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self._record = np.zeros(layout.width + 1)
        self._row, self._checksum = self._record[:-1], self._record[-1:].view(np.uint64)
        self._write(_MAGIC + struct.pack("<I", len(header)) + header + struct.pack("<I", zlib.crc32(header)))

    def append(self, row: np.ndarray) -> None:
        """Write the row of one more cycle; the operating system has it on return, so that it outlives the process."""
        self._row[:] = row
        self._checksum[0] = zlib.crc32(self._row.data)
        self._write(self._record.data)

    def _write(self, content: Any) -> None:
        size = content.nbytes if isinstance(content, memoryview) else len(content)
        if os.write(self._file, content) != size:
            raise OSError(f"The log {self.path} could not be written to the end: is the disk full?")
        if not os.fstat(self._file).st_nlink:
            raise OSError(f"The log {self.path} has been removed.")

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def require_new(path: str | Path) -> None:
    """Raise an error if a file of this name exists."""
    if Path(path).exists():
        raise FileExistsError(f"{path} exists already, and a log is never written over. Choose another name.")


@dataclass(frozen=True)
class Log:
    """Content of a log: rows (cycles, width), and whether the file is complete."""

    layout: RowLayout
    rows: np.ndarray
    about: dict[str, Any]
    whole: bool  # False: what follows the last good record is torn or damaged

    def __getitem__(self, field: str) -> np.ndarray:
        if field not in self.layout.places:
            raise KeyError(f"The log has no field '{field}'. Fields: {', '.join(self.layout.places)}.")
        column = self.layout.column(self.rows, field)
        return column[:, 0] if field.count(".") == 0 else column


def read_log(path: str | Path) -> Log:
    """Every record of a log up to the first that is torn or damaged."""
    content = Path(path).read_bytes()
    about, start = _header(Path(path), content)
    layout = RowLayout(tuple((str(name), int(width)) for name, width in about.pop("fields")))
    size = _WORD * (layout.width + 1)
    count = (len(content) - start) // size
    records = np.frombuffer(content, "<f8", count * (layout.width + 1), start).reshape(count, layout.width + 1)
    good = 0
    while good < count and _is_sound(records[good]):
        good += 1
    whole = good == count and start + count * size == len(content)
    return Log(layout, records[:good, :-1].copy(), about, whole)


def _header(path: Path, content: bytes) -> tuple[dict[str, Any], int]:
    at = len(_MAGIC) + 4
    if not content.startswith(_MAGIC) or len(content) < at:
        raise ValueError(f"{path} is no log of a rehearsal.")
    (size,) = struct.unpack("<I", content[len(_MAGIC) : at])
    header, end = content[at : at + size], at + size + 4
    if len(content) < end or struct.unpack("<I", content[end - 4 : end])[0] != zlib.crc32(header):
        raise ValueError(f"{path} is a log whose header is damaged: nothing in it can be read.")
    return json.loads(header), end


def _is_sound(record: np.ndarray) -> bool:
    return int(record[-1:].view(np.uint64)[0]) == zlib.crc32(record[:-1].tobytes())

"""A checksum at the end of a file: a changed bit is noticed before anything of the file is believed.

It stands behind what the format itself looks at, so other programs read the file as if it were not there.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

_MARK = b"\nsha256 of all before: "
_LENGTH = len(_MARK) + 64 + 1


def append_checksum(path: Path) -> None:
    """Put the checksum of a file behind it."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    with path.open("ab") as file:
        file.write(_MARK + digest.encode() + b"\n")


def remove_checksum(path: Path) -> None:
    """Take the checksum off again, for a program that will write to the file."""
    if has_checksum(path):
        os.truncate(path, path.stat().st_size - _LENGTH)


def has_checksum(path: Path) -> bool:
    """Whether a checksum stands behind a file."""
    return _tail(path).startswith(_MARK)


def is_intact(path: Path) -> bool:
    """Whether a file is what its checksum says."""
    digest, left = hashlib.sha256(), path.stat().st_size - _LENGTH
    with path.open("rb") as file:
        while left > 0 and (block := file.read(min(left, 1 << 20))):
            digest.update(block)
            left -= len(block)
    return _tail(path) == _MARK + digest.hexdigest().encode() + b"\n"


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - _LENGTH, 0))
        return file.read(_LENGTH)

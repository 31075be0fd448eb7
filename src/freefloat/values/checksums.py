"""A checksum at the end of a file: a changed bit is noticed before anything in the file is used.

It stands after what the file format itself reads, so other programs read the file as if it were not there.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

_MARK = b"\nsha256 of all before: "
_LENGTH = len(_MARK) + 64 + 1


def append_checksum(path: Path) -> None:
    """Append the checksum of a file to it."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    with path.open("ab") as file:
        file.write(_MARK + digest.encode() + b"\n")


def remove_checksum(path: Path) -> None:
    """Remove the checksum from a file, for a program that will write to it."""
    if has_checksum(path):
        os.truncate(path, path.stat().st_size - _LENGTH)


def has_checksum(path: Path) -> bool:
    """Whether there is a checksum at the end of a file."""
    return _tail(path).startswith(_MARK)


def is_intact(path: Path) -> bool:
    """Whether the content of a file agrees with its checksum."""
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

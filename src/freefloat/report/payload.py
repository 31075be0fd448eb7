"""Numbers of a page as compressed text for HTML: a small header and one block of bytes."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np

_TYPES = {"f4": np.float32, "f8": np.float64, "u4": np.uint32}


class ArrayStore:
    """Collects arrays as bytes, and makes the entries that stand for them in the header."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add_array(self, values: np.ndarray, kind: str = "f4") -> dict[str, Any]:
        """Add an array as float32, float64 or uint32; returns its entry for the header."""
        data = np.ascontiguousarray(values, dtype=_TYPES[kind]).tobytes()
        data += b"\0" * (-len(data) % 8)  # typed arrays of JavaScript must start at multiples of their size
        entry = {"type": kind, "at": self._size, "length": int(np.size(values))}
        self._parts.append(data)
        self._size += len(data)
        return entry

    def add_offset_array(self, values: np.ndarray) -> dict[str, Any]:
        """Add columns as float32 differences from a float64 offset, so that small motion far away survives."""
        values = np.asarray(values, dtype=float)
        good = np.isfinite(values)
        first = np.where(good.any(axis=0), np.take_along_axis(values, good.argmax(axis=0)[None], axis=0)[0], 0.0)
        return {"offset": first.tolist(), "values": self.add_array(values - first)}

    def packed_text(self, header: dict[str, Any]) -> str:
        """Header and bytes as base64 of gzip: length of the header, header, padding, bytes."""
        text = json.dumps(header, allow_nan=False).encode()
        text += b" " * (-(len(text) + 4) % 8)
        return compressed_text(len(text).to_bytes(4, "little") + text + b"".join(self._parts))


def compressed_text(data: bytes) -> str:
    """Base64 of gzip, the same bytes for the same input; level 6 takes twice as long and saves 4 %."""
    return base64.b64encode(gzip.compress(data, 4, mtime=0)).decode()

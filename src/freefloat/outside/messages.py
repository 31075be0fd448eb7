"""Messages on the wire: a header of 24 bytes, little-endian, and text or float64 numbers behind it.

    offset  size  what
    0       4     magic: the bytes "FFSW"
    4       2     version of the protocol, 1
    6       2     kind
    8       8     sequence number
    16      8     bytes that follow

A decoder keeps no more than one message, and refuses a header that promises more than `MOST_BYTES`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from freefloat.outside.contract import VERSION

MOST_BYTES = 2**20
_HEADER = struct.Struct("<4sHHQQ")
_MAGIC = b"FFSW"


class Kind(IntEnum):
    """What a message is; W: from the world, S: from software."""

    HELLO = 1  # S: its contract, as text
    WELCOME = 2  # W: the whole contract, as text; a last line says "answers now" or "answers next"
    REFUSED = 3  # W: why not, as text
    BEGIN = 4  # W: measurements at the start, sequence 0
    READY = 5  # S: begun; its first commands, or nothing
    STEP = 6  # W: measurements, sequence 1, 2, 3, ...
    ANSWER = 7  # S: commands, with the sequence of the question
    END = 8  # W: nothing more will be asked; why, as text
    FAILED = 9  # S: what went wrong, as text


_TEXTS = (Kind.HELLO, Kind.WELCOME, Kind.REFUSED, Kind.END, Kind.FAILED)


class WireError(ValueError):
    """Bytes that are no message of this protocol."""


@dataclass(frozen=True)
class Message:
    """One message."""

    kind: Kind
    sequence: int = 0
    body: bytes = b""

    @property
    def text(self) -> str:
        """What it says; bytes that are no text are shown as such."""
        return self.body.decode(errors="replace")

    @property
    def numbers(self) -> np.ndarray:
        """What it holds."""
        return np.frombuffer(self.body, "<f8")


def encode(kind: Kind, sequence: int, body: bytes | str | np.ndarray = b"") -> bytes:
    """A message as bytes."""
    if isinstance(body, np.ndarray):
        body = body.astype("<f8").tobytes()
    content = body.encode() if isinstance(body, str) else body
    if len(content) > MOST_BYTES:
        raise WireError(f"a message of {len(content)} bytes is too long, {MOST_BYTES} are permitted")
    return _HEADER.pack(_MAGIC, VERSION, kind, sequence, len(content)) + content


class Decoder:
    """Makes messages of bytes as they come in, in pieces of any length."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def feed(self, content: bytes) -> None:
        """Bytes that have come in."""
        self._kept += content

    @property
    def empty(self) -> bool:
        """Whether nothing has come in that was not taken."""
        return not self._kept

    def take(self) -> Message | None:
        """The next message, if it is there as a whole; bytes that are none raise a WireError."""
        if len(self._kept) < _HEADER.size:
            return None
        magic, version, kind, sequence, length = _HEADER.unpack_from(self._kept)
        if magic != _MAGIC:
            raise WireError(f"a message begins with {bytes(magic)!r} in place of {_MAGIC!r}")
        if version != VERSION:
            raise WireError(f"the protocol has version {version}, this side speaks version {VERSION}")
        if kind not in list(Kind):
            raise WireError(f"there is no kind of message {kind}")
        if length > MOST_BYTES:
            raise WireError(f"a message of {length} bytes is announced, {MOST_BYTES} are permitted")
        if Kind(kind) not in _TEXTS and length % 8:
            raise WireError(f"a message of numbers has {length} bytes, which is no multiple of 8")
        end = _HEADER.size + length
        if len(self._kept) < end:
            return None
        message = Message(Kind(kind), sequence, bytes(self._kept[_HEADER.size : end]))
        del self._kept[:end]
        return message

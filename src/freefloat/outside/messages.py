"""Messages on the wire: a header of 24 bytes, little-endian, and text or float64 numbers behind it.

    offset  size  what
    0       4     magic: the bytes "FFSW"
    4       2     version of the protocol, 1
    6       2     kind
    8       8     sequence number
    16      8     bytes that follow

A decoder stores no more than one message, and raises an error at a header that announces more than `MOST_BYTES`.
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
    """Kinds of messages; W: sent by the world (the simulation or rehearsal), S: sent by the software."""

    HELLO = 1  # S: its contract, as text
    WELCOME = 2  # W: the complete contract, as text; the last line is "answers now" or "answers next"
    REFUSED = 3  # W: why the contract does not fit, as text
    BEGIN = 4  # W: measurements at the start, sequence 0
    READY = 5  # S: has begun; its first commands, or nothing
    STEP = 6  # W: measurements, sequence 1, 2, 3, ...
    ANSWER = 7  # S: commands, with the sequence number of the measurements
    END = 8  # W: no more measurements will come; why, as text
    FAILED = 9  # S: what went wrong, as text


_TEXTS = (Kind.HELLO, Kind.WELCOME, Kind.REFUSED, Kind.END, Kind.FAILED)


class WireError(ValueError):
    """Received bytes that are no message of this protocol."""


@dataclass(frozen=True)
class Message:
    """A message: its kind, its sequence number and the bytes behind its header."""

    kind: Kind
    sequence: int = 0
    body: bytes = b""

    @property
    def text(self) -> str:
        """Body of the message as text; bytes that are no text become replacement characters."""
        return self.body.decode(errors="replace")

    @property
    def numbers(self) -> np.ndarray:
        """Body of the message as float64 numbers."""
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
    """Decodes messages from received bytes, which may arrive in pieces of any length."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def feed(self, content: bytes) -> None:
        """Append received bytes."""
        self._kept += content

    @property
    def empty(self) -> bool:
        """Whether all received bytes have been decoded."""
        return not self._kept

    def next_message(self) -> Message | None:
        """The next message, or None until it is complete; bytes that are no message raise a WireError."""
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

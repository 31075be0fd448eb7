"""Pieces of graph in memory and on disk, where all pieces of one owner (a spacecraft, or none) form a signed bundle."""

from __future__ import annotations

import contextlib
import pickle
import zlib
from collections import OrderedDict
from collections.abc import Iterator, MutableMapping
from typing import Any

from . import cache

MISSING: Any = object()
_MOST_IN_MEMORY = 2048  # pieces
_MOST_IN_BUNDLE = 1024
_pieces: OrderedDict[str, Any] = OrderedDict()
_MOST_OWNERS = 64
_on_disk: OrderedDict[tuple[str, str], dict[str, bytes]] = OrderedDict()  # by directory and owner, as last read
_new: dict[str, dict[str, bytes]] = {}  # by owner, not written yet


class Bundle(MutableMapping[str, Any]):
    """Pieces of one owner by their keys; a piece of None means that no piece is possible for the key."""

    def __init__(self, owner: str) -> None:
        self.owner = owner

    def __getitem__(self, digest: str) -> Any:
        if digest in _pieces:
            _pieces.move_to_end(digest)
            return _pieces[digest]
        written = _read_bundle(self.owner).get(digest)
        if written is None:
            raise KeyError(digest)
        try:
            piece = pickle.loads(written)
        except Exception as error:  # a class that no longer exists: the piece is made again
            raise KeyError(digest) from error
        if piece is not None and not hasattr(piece, "piece"):
            raise KeyError(digest)
        _keep_piece(digest, piece)
        return piece

    def __setitem__(self, digest: str, piece: Any) -> None:
        _keep_piece(digest, piece)
        with contextlib.suppress(Exception):  # a result of classes that cannot be pickled stays in memory
            _new.setdefault(self.owner, {})[digest] = pickle.dumps(piece, protocol=5)

    def __delitem__(self, digest: str) -> None:
        _pieces.pop(digest)

    def __iter__(self) -> Iterator[str]:
        return iter(_read_bundle(self.owner))

    def __len__(self) -> int:
        return len(_read_bundle(self.owner))


def _keep_piece(digest: str, piece: Any) -> None:
    """Keep a piece in memory, and drop the oldest where there are too many."""
    _pieces[digest] = piece
    while len(_pieces) > _MOST_IN_MEMORY:
        _pieces.popitem(last=False)


def _read_bundle(owner: str, *, anew: bool = False) -> dict[str, bytes]:
    """Pickled pieces of an owner by their keys, read from disk when first needed, or again with `anew`."""
    place = str(cache.directory()), owner
    if anew or place not in _on_disk:
        found: dict[str, bytes] = {}
        content = cache.read(cache.key("pieces", owner))
        if content is not None:
            with contextlib.suppress(Exception):  # of another version of Python
                read = pickle.loads(zlib.decompress(content))
                found = read if isinstance(read, dict) else {}
        _keep_bundle(place, found)
    return _on_disk[place]


def _keep_bundle(place: tuple[str, str], found: dict[str, bytes]) -> None:
    """Keep an owner's pieces in memory, and drop the oldest owners where there are too many."""
    _on_disk[place] = found
    while len(_on_disk) > _MOST_OWNERS:
        _on_disk.popitem(last=False)


def write() -> None:
    """Write new pieces to disk, together with those that other processes have written."""
    while _new:
        owner, made = _new.popitem()
        whole = {**_read_bundle(owner, anew=True), **made}
        latest = dict(list(whole.items())[-_MOST_IN_BUNDLE:])
        _keep_bundle((str(cache.directory()), owner), latest)
        cache.write(cache.key("pieces", owner), zlib.compress(pickle.dumps(latest, protocol=5), 1))


def forget() -> None:
    """Drop all pieces in memory, as in a process that starts."""
    _pieces.clear()
    _on_disk.clear()
    _new.clear()

"""Pieces of graph in memory and on disk: those of one spacecraft, or of none, lie together in a signed bundle."""

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
    """Pieces by their keys; `owner` is what they belong to. None stands for what can be no piece."""

    def __init__(self, owner: str) -> None:
        self.owner = owner

    def __getitem__(self, digest: str) -> Any:
        if digest in _pieces:
            _pieces.move_to_end(digest)
            return _pieces[digest]
        written = _read(self.owner).get(digest)
        if written is None:
            raise KeyError(digest)
        try:
            found = pickle.loads(written)
        except Exception as error:  # a class that is not there any more: made again
            raise KeyError(digest) from error
        if found is not None and not hasattr(found, "piece"):
            raise KeyError(digest)
        _remember(digest, found)
        return found

    def __setitem__(self, digest: str, piece: Any) -> None:
        _remember(digest, piece)
        with contextlib.suppress(Exception):  # a result of classes that cannot be pickled stays in memory
            _new.setdefault(self.owner, {})[digest] = pickle.dumps(piece, protocol=5)

    def __delitem__(self, digest: str) -> None:
        _pieces.pop(digest)

    def __iter__(self) -> Iterator[str]:
        return iter(_read(self.owner))

    def __len__(self) -> int:
        return len(_read(self.owner))


def _remember(digest: str, piece: Any) -> None:
    _pieces[digest] = piece
    while len(_pieces) > _MOST_IN_MEMORY:
        _pieces.popitem(last=False)


def _read(owner: str, *, anew: bool = False) -> dict[str, bytes]:
    place = str(cache.directory()), owner
    if anew or place not in _on_disk:
        found: dict[str, bytes] = {}
        content = cache.read(cache.key("pieces", owner))
        if content is not None:
            with contextlib.suppress(Exception):  # of another version of Python
                read = pickle.loads(zlib.decompress(content))
                found = read if isinstance(read, dict) else {}
        _hold(place, found)
    return _on_disk[place]


def _hold(place: tuple[str, str], found: dict[str, bytes]) -> None:
    _on_disk[place] = found
    while len(_on_disk) > _MOST_OWNERS:
        _on_disk.popitem(last=False)


def write() -> None:
    """Keep what was made since the last time, beside what other processes have written."""
    while _new:
        owner, made = _new.popitem()
        whole = {**_read(owner, anew=True), **made}
        latest = dict(list(whole.items())[-_MOST_IN_BUNDLE:])
        _hold((str(cache.directory()), owner), latest)
        cache.write(cache.key("pieces", owner), zlib.compress(pickle.dumps(latest, protocol=5), 1))


def forget() -> None:
    """Let go of what is in memory, as in a process that starts."""
    _pieces.clear()
    _on_disk.clear()
    _new.clear()

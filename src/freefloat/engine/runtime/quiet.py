"""Quiet parts: data that acts on compiled code only where tracing opens it. What it did not open is not in its name.

A quiet part is an object with the method `__quiet__`, which returns the mark that its openings are reported by, to
whoever called its class's `listen`. A function's data without all quiet parts has one hash; under it lies a list of
what was opened when functions with this hash were traced. The hash with those parts is the name of the compiled code.
It is sound because tracing repeats: with the same data outside quiet parts, and the same in the parts that it opened,
it opens the same ones, and comes to the same code.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from . import cache
from .fingerprint import Print, Reached, look_at
from .origins import Unseen

Place = tuple[int, ...]  # number of a quiet part in the order of the walk, of a part inside it, and so on
_MOST_SETS = 16  # of opened places under one hash
_opened: dict[str, list[tuple[Place, ...]]] = {}


@dataclass
class Quiet:
    """A hash with the quiet parts that were left out of it, and the openings heard of while tracing."""

    print: Print
    heard: dict[int, Any] | None = None  # marks by their id; None: nobody has listened
    all_heard: bool = False
    _inside: dict[Place, Print] = field(default_factory=dict)

    def name_with(self, places: Iterable[Place]) -> tuple[str, Reached]:
        """The hash with the quiet parts at these places, and what of the user's own was met."""
        digest, reached = hashlib.sha256(self.print.digest.encode()), _merged([self.print.reached])
        for place in sorted(places):
            part = self._part(place)
            digest.update(f"{place} {part.digest}".encode())
            reached = _merged([reached, part.reached])
        return digest.hexdigest(), reached

    @property
    def everything(self) -> tuple[str, Reached]:
        """The hash with all quiet parts."""
        return self.name_with(self.all_places)

    @cached_property
    def all_places(self) -> tuple[Place, ...]:
        """Every quiet part, and those inside others."""
        return tuple(self._places(lambda mark: True))

    def opened_places(self) -> tuple[Place, ...]:
        """What was opened while somebody listened; everything where that cannot be known."""
        if self.heard is None or self.all_heard:
            return self.all_places
        found = tuple(self._places(lambda mark: id(mark) in self.heard))  # pyright: ignore[reportOperatorIssue]
        known = {id(self._mark(place)) for place in found}
        return found if known == set(self.heard) else self.all_places

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Hear of openings while this lasts."""
        self.heard = {}
        with contextlib.ExitStack() as stack:
            for kind in {type(part) for part in self.print.parts}:
                stack.enter_context(kind.listen(self._hear))
            yield

    def _hear(self, mark: Any) -> None:
        if mark is None:
            self.all_heard = True
        elif self.heard is not None:
            self.heard[id(mark)] = mark

    def _places(self, wanted: Callable[[Any], bool], outer: Place = ()) -> Iterator[Place]:
        parts = (self._part(outer) if outer else self.print).parts
        for number, part in enumerate(parts):
            if wanted(part.__quiet__()):
                yield (*outer, number)
                yield from self._places(wanted, (*outer, number))

    def _mark(self, place: Place) -> Any:
        return (self._part(place[:-1]) if place[:-1] else self.print).parts[place[-1]].__quiet__()

    def _part(self, place: Place) -> Print:
        """What is inside a quiet part."""
        if place not in self._inside:
            parts = (self._part(place[:-1]) if place[:-1] else self.print).parts
            if place[-1] >= len(parts):
                raise Unseen("a quiet part that is not there")
            self._inside[place] = look_at(parts[place[-1]].__fingerprint__(), quiet=True)
        return self._inside[place]


def _merged(some: Iterable[Reached]) -> Reached:
    whole = Reached()
    for one in some:
        whole.functions += one.functions
        whole.classes += one.classes
        whole.caches += one.caches
        whole.jitted += one.jitted
        whole.keepers += one.keepers
    return whole


def opened_before(digest: str) -> list[tuple[Place, ...]]:
    """What functions with this hash opened when they were traced, the latest first."""
    if digest not in _opened:
        try:
            found = json.loads(cache.read(cache.key("quiet", digest)) or b"[]")
        except ValueError:
            found = []
        _opened[digest] = [tuple(tuple(place) for place in places) for places in found]
    return _opened[digest]


def remember_opened(digest: str, places: tuple[Place, ...]) -> None:
    """Remember what was opened by a function with this hash."""
    _opened.pop(digest, None)  # another process may know more by now
    others = [one for one in opened_before(digest) if one != places]
    _opened[digest] = [places, *others][:_MOST_SETS]
    cache.write(cache.key("quiet", digest), json.dumps(_opened[digest]).encode())


def forget_opened() -> None:
    """Forget what is in memory."""
    _opened.clear()


def holds_quiet_parts(*things: Any) -> bool:
    """Whether something holds quiet parts, or may."""
    try:
        return bool(look_at(*things, quiet=True).parts)
    except Unseen:
        return True

"""Quiet parts: data that changes compiled code only where tracing opens it. Other parts are not in the code's name.

A quiet part is an object with the method `__quiet__`, which returns the mark by which its openings are reported to the
callback given to its class's `listen`. A function's data without all quiet parts has one hash; the cache holds under it
a list of the parts that were opened when functions with this hash were traced. The hash together with those parts is
the name of the compiled code. This is correct because tracing is repeatable: with the same data outside quiet parts,
and the same data in the parts that it opened, it opens the same parts and makes the same code.
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
from .fingerprint import FingerprintResult, ReachedObjects, full_fingerprint
from .origins import InspectionError

Place = tuple[int, ...]  # number of a quiet part in the order of the walk, of a part inside it, and so on
_MOST_SETS = 16  # most sets of opened places under one hash
_opened: dict[str, list[tuple[Place, ...]]] = {}


@dataclass
class QuietParts:
    """A hash with the quiet parts that were left out of it, and the openings reported while tracing."""

    print: FingerprintResult
    heard: dict[int, Any] | None = None  # marks by their id; None: openings were not recorded
    all_heard: bool = False
    _inside: dict[Place, FingerprintResult] = field(default_factory=dict)

    def name_with(self, places: Iterable[Place]) -> tuple[str, ReachedObjects]:
        """Hash with the quiet parts at these places, and the user's own objects that it covers."""
        digest, reached = hashlib.sha256(self.print.digest.encode()), _merge_reached([self.print.reached])
        for place in sorted(places):
            part = self._part_at(place)
            digest.update(f"{place} {part.digest}".encode())
            reached = _merge_reached([reached, part.reached])
        return digest.hexdigest(), reached

    @property
    def full_name(self) -> tuple[str, ReachedObjects]:
        """Hash with all quiet parts, and the user's own objects that it covers."""
        return self.name_with(self.all_places)

    @cached_property
    def all_places(self) -> tuple[Place, ...]:
        """Places of all quiet parts, also of those inside others."""
        return tuple(self._places(lambda mark: True))

    def opened_places(self) -> tuple[Place, ...]:
        """Places that were opened while openings were recorded; all places where that is not known."""
        if self.heard is None or self.all_heard:
            return self.all_places
        found = tuple(self._places(lambda mark: id(mark) in self.heard))  # pyright: ignore[reportOperatorIssue]
        known = {id(self._mark_at(place)) for place in found}
        return found if known == set(self.heard) else self.all_places

    @contextmanager
    def record_openings(self) -> Iterator[None]:
        """Within this context, record the openings of quiet parts."""
        self.heard = {}
        with contextlib.ExitStack() as stack:
            for kind in {type(part) for part in self.print.parts}:
                stack.enter_context(kind.listen(self._note_opening))
            yield

    def _note_opening(self, mark: Any) -> None:
        """Record that a quiet part was opened; a mark of None means any of them."""
        if mark is None:
            self.all_heard = True
        elif self.heard is not None:
            self.heard[id(mark)] = mark

    def _places(self, wanted: Callable[[Any], bool], outer: Place = ()) -> Iterator[Place]:
        """Places of the quiet parts whose mark is wanted, with those inside them."""
        parts = (self._part_at(outer) if outer else self.print).parts
        for number, part in enumerate(parts):
            if wanted(part.__quiet__()):
                yield (*outer, number)
                yield from self._places(wanted, (*outer, number))

    def _mark_at(self, place: Place) -> Any:
        return (self._part_at(place[:-1]) if place[:-1] else self.print).parts[place[-1]].__quiet__()

    def _part_at(self, place: Place) -> FingerprintResult:
        """Fingerprint of the content of a quiet part."""
        if place not in self._inside:
            parts = (self._part_at(place[:-1]) if place[:-1] else self.print).parts
            if place[-1] >= len(parts):
                raise InspectionError("a quiet part that is not there")
            self._inside[place] = full_fingerprint(parts[place[-1]].__fingerprint__(), quiet=True)
        return self._inside[place]


def _merge_reached(records: Iterable[ReachedObjects]) -> ReachedObjects:
    """One record of all objects in several records."""
    whole = ReachedObjects()
    for record in records:
        whole.functions += record.functions
        whole.classes += record.classes
        whole.caches += record.caches
        whole.jitted += record.jitted
        whole.keepers += record.keepers
    return whole


def opened_before(digest: str) -> list[tuple[Place, ...]]:
    """Sets of places that functions with this hash opened when they were traced, the latest first."""
    if digest not in _opened:
        try:
            found = json.loads(cache.read(cache.key("quiet", digest)) or b"[]")
        except ValueError:
            found = []
        _opened[digest] = [tuple(tuple(place) for place in places) for places in found]
    return _opened[digest]


def remember_opened(digest: str, places: tuple[Place, ...]) -> None:
    """Record the places that a function with this hash opened."""
    _opened.pop(digest, None)  # another process may have recorded more
    others = [earlier for earlier in opened_before(digest) if earlier != places]
    _opened[digest] = [places, *others][:_MOST_SETS]
    cache.write(cache.key("quiet", digest), json.dumps(_opened[digest]).encode())


def forget_opened() -> None:
    """Drop the recorded openings in memory."""
    _opened.clear()


def holds_quiet_parts(*things: Any) -> bool:
    """Whether objects hold quiet parts, or may hold some."""
    try:
        return bool(full_fingerprint(*things, quiet=True).parts)
    except InspectionError:
        return True

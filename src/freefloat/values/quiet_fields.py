"""Quiet fields: fields that affect a result only where code reads them, such as what a body looks like.

The value of a quiet field is kept sealed: it is opened by reading the field, comparing or hashing it, and every opening
is reported to all listeners. A compiler that listens while it traces finds out what a result depends on. Records pass
sealed values on unopened when JAX takes them apart and puts them together again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
Report = Callable[[Any], None]
_listeners: list[Report] = []


def quiet(default: Any = dataclasses.MISSING) -> Any:
    """Mark a field as quiet: static, and part of a result only where code reads it."""
    return dataclasses.field(default=default, metadata={"static": True, "quiet": True})


def quiet_names(cls: type) -> tuple[str, ...]:
    """Names of the quiet fields of a dataclass."""
    return tuple(f.name for f in dataclasses.fields(cls) if f.metadata.get("quiet"))


def seal_quiet_fields(cls: type[T]) -> type[T]:
    """Keep the quiet fields of a dataclass sealed; stands above `@dataclass`, and is part of `@record`."""
    for f in dataclasses.fields(cls):  # pyright: ignore[reportArgumentType]
        if f.metadata.get("quiet"):
            setattr(cls, f.name, SealedField(f.name, f.default))
    return cls


def report_all() -> None:
    """Report to all listeners that a result was used which may depend on anything."""
    for report in tuple(_listeners):
        report(None)


class SealedValue:
    """A value whose openings are reported, by the mark that it shares with its copies."""

    __slots__ = ("_mark", "_value")

    def __init__(self, value: Any, mark: object = None) -> None:
        self._value, self._mark = value, object() if mark is None else mark

    def pass_on(self) -> SealedValue:
        """Another sealed object with this value, unopened: Python assumes that an object equals itself."""
        return SealedValue(self._value, self._mark)

    def open(self) -> Any:
        """The sealed value; its opening is reported to all listeners."""
        for report in tuple(_listeners):
            report(self._mark)
        return self._value

    def __quiet__(self) -> object:
        """The mark by which openings are reported; an engine that finds this method may omit the value in its keys."""
        return self._mark

    @staticmethod
    @contextmanager
    def listen(report: Report) -> Iterator[None]:
        """Context in which every opening is reported by its mark; None: anything may have been opened."""
        _listeners.append(report)
        try:
            yield
        finally:
            _listeners.remove(report)

    def __fingerprint__(self) -> Any:
        """The value, as the content of this object in a fingerprint."""
        return self.open()

    def __eq__(self, other: object) -> bool:
        mine = self.open()
        return isinstance(other, SealedValue) and bool(mine == other.open())

    def __hash__(self) -> int:
        return hash(self.open())

    def __repr__(self) -> str:
        return repr(self.open())

    def __reduce__(self) -> tuple[Any, ...]:
        return SealedValue, (self.open(),)


class SealedField:
    """A field of a dataclass that is kept sealed."""

    def __init__(self, name: str, default: Any) -> None:
        self.name, self.default = name, default

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        if owner is None:
            if self.default is dataclasses.MISSING:
                raise AttributeError(self.name)
            return self.default
        if self.name not in owner.__dict__:
            raise AttributeError(f"{type(owner).__name__} has no {self.name} yet.")
        held = owner.__dict__[self.name]
        return held.open() if isinstance(held, SealedValue) else held

    def __set__(self, owner: Any, value: Any) -> None:
        owner.__dict__[self.name] = value if isinstance(value, SealedValue) else SealedValue(value)


def passed_on(owner: Any, name: str) -> Any:
    """Value of a field as it is stored: if it is sealed, it stays unopened."""
    held = owner.__dict__[name]
    return held.pass_on() if isinstance(held, SealedValue) else held

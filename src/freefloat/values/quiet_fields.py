"""Quiet fields: what acts on an answer only where code reads it, such as what a body looks like.

The value of a quiet field is kept sealed: it is opened by reading the field, comparing or hashing it, and every opening
is reported to whoever listens. A compiler that listens while it traces knows what an answer depends on. Records pass
seals on unopened when JAX takes them apart and puts them together again.
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
    """Mark a field as quiet: static, and part of an answer only where code reads it."""
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
    """Tell listeners that an answer was used which may depend on anything."""
    for report in tuple(_listeners):
        report(None)


class Sealed:
    """A value whose openings are reported, by the mark that it shares with its copies."""

    __slots__ = ("_mark", "_value")

    def __init__(self, value: Any, mark: object = None) -> None:
        self._value, self._mark = value, object() if mark is None else mark

    def pass_on(self) -> Sealed:
        """The same, unopened, as another object: Python takes an object to be equal to itself without asking it."""
        return Sealed(self._value, self._mark)

    def open(self) -> Any:
        """The value."""
        for report in tuple(_listeners):
            report(self._mark)
        return self._value

    def __quiet__(self) -> object:
        """What openings are reported by; an engine that finds this method may leave the value out of its keys."""
        return self._mark

    @staticmethod
    @contextmanager
    def listen(report: Report) -> Iterator[None]:
        """While this lasts, have every opening reported by its mark; None: anything may have been opened."""
        _listeners.append(report)
        try:
            yield
        finally:
            _listeners.remove(report)

    def __fingerprint__(self) -> Any:
        """What it consists of."""
        return self.open()

    def __eq__(self, other: object) -> bool:
        mine = self.open()
        return isinstance(other, Sealed) and bool(mine == other.open())

    def __hash__(self) -> int:
        return hash(self.open())

    def __repr__(self) -> str:
        return repr(self.open())

    def __reduce__(self) -> tuple[Any, ...]:
        return Sealed, (self.open(),)


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
        return held.open() if isinstance(held, Sealed) else held

    def __set__(self, owner: Any, value: Any) -> None:
        owner.__dict__[self.name] = value if isinstance(value, Sealed) else Sealed(value)


def passed_on(owner: Any, name: str) -> Any:
    """What a field holds, unopened."""
    held = owner.__dict__[name]
    return held.pass_on() if isinstance(held, Sealed) else held

"""The contract of on-board software: what it reads, what it commands, how often; as a record and as lines of text."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

VERSION = 1
_TITLE = f"freefloat software {VERSION}"
_MOST_FIELDS = 1000
_MOST_NUMBERS = 100_000  # of a field, and of an answer

# Ports of the standard actuators: unit, and number of values where that does not follow from the names of its parts.
# This file needs no JAX; a test keeps the table equal to the commands of `model.commands`.
STANDARD_PORTS: dict[str, tuple[str, int | None]] = {
    "joints.rate": ("rad/s, m/s", None),
    "joints.torque": ("N m, N", None),
    "wheels.torque": ("N m", None),
    "base.wrench": ("N, N m", 6),
    "frames.force": ("N", None),  # of frame/axis, such as tip/z
    "thrusters.duty": ("1", None),  # of all nozzles of a set
    "latch": ("1", None),  # of connections: 1 asks for it
    "release": ("1", None),
    "brake": ("1", None),  # of joints: 1 holds, 0 lets go
}
_NAME = re.compile(r"[^\s\[\],]{1,200}")


class ContractError(ValueError):
    """A contract that is not valid, or that does not fit the other side."""


@dataclass(frozen=True)
class ContractField:
    """One field of a contract: a measurement, a command, or a message to other software."""

    name: str
    shape: tuple[int, ...] | None = None  # None: the other side gives it
    unit: str = ""  # empty: the other side gives it
    parts: tuple[str, ...] = ()  # joints, wheels, frames, connections that a command is for
    integer: bool = False

    def __post_init__(self) -> None:
        for word in (self.name, *self.parts):
            if not isinstance(word, str) or not _NAME.fullmatch(word):
                raise ContractError(f"{word!r:.80} is no name: write it without spaces, commas and brackets.")
        if self.shape is not None and not (len(self.shape) <= 4 and 0 <= math.prod(self.shape) <= _MOST_NUMBERS):
            raise ContractError(f"'{self.name}' cannot have the shape {self.shape}.")
        if "\n" in self.unit:
            raise ContractError(f"The unit of '{self.name}' must stand on one line.")

    @property
    def size(self) -> int:
        """Number of values in the field."""
        return math.prod(self.shape or ())

    def line(self) -> str:
        """The field as text: name[parts] shape unit; a shape that is not known is ?."""
        parts = f"[{','.join(self.parts)}]" if self.parts else ""
        words = [self.name + parts]
        if self.shape is not None:
            words.append(("x".join(map(str, self.shape)) or "scalar") + (":int32" if self.integer else ""))
        elif self.unit:
            words.append("?")
        words.append(self.unit)
        return " ".join(words).rstrip()

    @staticmethod
    def parse(text: str) -> ContractField:
        """The field that a text describes, in the form of `line`."""
        words = text.split(None, 2)
        match = re.fullmatch(r"([^\s\[\]]+)(?:\[([^\[\]]*)\])?", words[0]) if words else None
        if match is None:
            raise ContractError(f"'{text:.80}' says no name.")
        parts = tuple(filter(None, (match[2] or "").split(",")))
        if len(words) == 1:
            return ContractField(match[1], parts=parts)
        shape, _, kind = words[1].partition(":")
        if kind not in ("", "int32") or not re.fullmatch(r"\?|scalar|\d{1,6}(x\d{1,6}){0,3}", shape):
            raise ContractError(f"'{text:.80}': '{words[1]:.40}' is no shape. Write scalar, 3 or 3x3.")
        sizes = {"?": None, "scalar": ()}[shape] if shape in ("?", "scalar") else tuple(map(int, shape.split("x")))
        return ContractField(match[1], sizes, words[2] if len(words) > 2 else "", parts, kind == "int32")


@dataclass(frozen=True)
class Contract:
    """Interface of a piece of software: what it reads, commands and sends to other software, and how often."""

    name: str
    period: float  # [s]
    reads: tuple[ContractField, ...] = ()
    gives: tuple[ContractField, ...] = ()  # commands, by their kinds
    tells: tuple[ContractField, ...] = ()  # messages to software after it

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not re.fullmatch(r"\w{1,60}", self.name):
            raise ContractError(f"Software needs a name of letters and digits, got {self.name!r:.80}.")
        if not isinstance(self.period, (int, float)) or not 0.0 < self.period < math.inf:
            raise ContractError(f"Software '{self.name}' needs a period in seconds above zero, got {self.period!r}.")
        if len((*self.reads, *self.gives, *self.tells)) > _MOST_FIELDS:
            raise ContractError(f"Software '{self.name}' announces more than {_MOST_FIELDS} fields.")
        for some in (self.reads, self.gives, self.tells):
            names = [field.name for field in some]
            if twice := [name for name in names if names.count(name) > 1]:
                raise ContractError(f"Software '{self.name}' announces '{twice[0]}' twice.")
        object.__setattr__(self, "gives", tuple(self._command(field) for field in self.gives))
        if unknown := [field.name for field in self.tells if field.shape is None]:
            raise ContractError(f"Software '{self.name}' must say the shape of the message '{unknown[0]}'.")
        if self.width > _MOST_NUMBERS:
            raise ContractError(f"An answer of software '{self.name}' has more than {_MOST_NUMBERS} numbers.")

    def _command(self, announced: ContractField) -> ContractField:
        """A command with its unit and size, as far as they are known before it is bound to a spacecraft."""
        unit, size = STANDARD_PORTS.get(announced.name, ("", None))
        if not announced.parts and size is None and announced.shape is None:
            raise ContractError(
                f"Software '{self.name}' must name what its command '{announced.name}' is for, or say how many numbers "
                "it has."
            )
        shape = (size or len(announced.parts),) if size or announced.parts else announced.shape
        return merge_fields(
            f"software '{self.name}'", announced, dataclasses.replace(announced, shape=shape, unit=unit)
        )

    @property
    def outputs(self) -> tuple[ContractField, ...]:
        """Fields of an answer, in order: commands, then messages."""
        return (*self.gives, *self.tells)

    @property
    def width(self) -> int:
        """Number of values in an answer."""
        return sum(field.size for field in self.outputs)

    # ---- as text

    def text(self) -> str:
        """The contract as lines of text."""
        lines = [_TITLE, f"name {self.name}", f"period {float(self.period)!r}"]
        for word in ("reads", "gives", "tells"):
            lines += [f"{word} {field.line()}" for field in getattr(self, word)]
        return "\n".join(lines) + "\n"

    @staticmethod
    def parse(text: str) -> Contract:
        """The contract that lines of text describe; an error names the wrong line."""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if not lines or lines[0] != _TITLE:
            raise ContractError(f"It begins with '{(lines or [''])[0]:.60}' in place of '{_TITLE}'.")
        fields: dict[str, list[ContractField]] = {"reads": [], "gives": [], "tells": []}
        words: dict[str, str] = {}
        for line in lines[1:]:
            word, _, rest = line.partition(" ")
            if word in fields:
                fields[word].append(ContractField.parse(rest))
            elif word in ("name", "period") and word not in words:
                words[word] = rest.strip()
            else:
                raise ContractError(f"'{line:.80}' is no line of a contract: name, period, reads, gives, tells.")
        try:
            period = float(words.get("period", ""))
        except ValueError:
            raise ContractError(f"'{words.get('period', '')}' is no period in seconds.") from None
        return Contract(words.get("name", ""), period, *(tuple(some) for some in fields.values()))

    # ---- of an object

    @staticmethod
    def of(software: Any) -> Contract:
        """Contract of an object: its `contract`, or one made of `period`, `reads`, `commands`, `tells` and `name`."""
        if isinstance(whole := getattr(software, "contract", None), Contract):
            return whole
        missing = [word for word in ("period", "reads", "commands", "begin", "step") if not hasattr(software, word)]
        if missing:
            raise ContractError(
                f"{type(software).__name__} is no on-board software: it has no `{missing[0]}`. It needs period, reads, "
                "commands, begin(y) and step(t, y)."
            )
        return Contract(
            name=getattr(software, "name", "") or type(software).__name__,
            period=software.period,
            reads=tuple(ContractField(name, unit=unit or "") for name, unit in _pairs(software.reads)),
            gives=tuple(ContractField(name, parts=_names(parts)) for name, parts in _pairs(software.commands)),
            tells=tuple(_message_field(name, example) for name, example in _pairs(getattr(software, "tells", {}))),
        )


def _pairs(named: Mapping[str, Any] | Iterable[str]) -> Iterable[tuple[str, Any]]:
    return named.items() if isinstance(named, Mapping) else [(name, ()) for name in _names(named)]


def _names(names: str | Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _message_field(name: str, example: Any) -> ContractField:
    """Field of a message, with shape and type of an example value."""
    value = np.asarray(example)
    return ContractField(name, value.shape, "1", integer=value.dtype.kind in "iub")


def merge_fields(whose: str, announced: ContractField, known: ContractField) -> ContractField:
    """A field with shape and unit from both sides; an announced shape or unit that differs raises an error."""
    for what in ("shape", "unit"):
        expected, actual = getattr(announced, what), getattr(known, what)
        if expected not in (None, "") and actual not in (None, "") and expected != actual:
            raise ContractError(f"{whose} takes '{announced.name}' to have the {what} {expected}, but it has {actual}.")
    return dataclasses.replace(
        known, shape=announced.shape if known.shape is None else known.shape, unit=known.unit or announced.unit
    )

"""Which language a robot file is in: its outermost element says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from freefloat.model.spacecraft import Spacecraft
from freefloat.readers.elements import parse_text, read_text
from freefloat.readers.findings import Finding, Findings

_BY_ELEMENT = {"robot": "urdf", "mujoco": "mjcf", "sdf": "sdf"}


@dataclass(frozen=True)
class Language:
    """The two functions of a reader."""

    name: str
    read: Callable[..., Spacecraft]
    lint: Callable[..., list[Finding]]


def language_of(source: str | Path) -> Language:
    """URDF, MJCF or SDF; a file that is none of them is left to the URDF reader, which says what it is not."""
    text = read_text(source, "URDF", Findings())
    root = None if text is None else parse_text(text, "URDF", Findings())
    name = _BY_ELEMENT.get("" if root is None else root.tag, "urdf")
    module = import_module(f"freefloat.readers.{name}.reader")
    return Language(name.upper(), getattr(module, f"read_{name}"), getattr(module, f"lint_{name}"))

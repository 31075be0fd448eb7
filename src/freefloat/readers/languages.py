"""The language of a robot file, from its outermost element."""

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
    """A file format, with the functions that read and check it."""

    name: str
    read: Callable[..., Spacecraft]
    lint: Callable[..., list[Finding]]


def language_of(source: str | Path) -> Language:
    """Language of a file: URDF, MJCF or SDF; for any other file URDF, whose reader reports the error."""
    text = read_text(source, "URDF", Findings())
    root = None if text is None else parse_text(text, "URDF", Findings())
    name = _BY_ELEMENT.get("" if root is None else root.tag, "urdf")
    module = import_module(f"freefloat.readers.{name}.reader")
    return Language(name.upper(), getattr(module, f"read_{name}"), getattr(module, f"lint_{name}"))

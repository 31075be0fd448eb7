"""The two things that every reader does with a file: make a spacecraft of it, and say what is to be said about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from freefloat.model.spacecraft import Spacecraft
from freefloat.readers.assembly import Options, assemble
from freefloat.readers.elements import source_label
from freefloat.readers.findings import Finding, Findings
from freefloat.readers.parsed import Document
from freefloat.readers.reports import hand_over
from freefloat.values.errors import ModelError

# What a language adds: from a source to what it states; None, with findings, if it states nothing.
Statement: TypeAlias = Callable[[str | Path, Options, Findings], Document | None]


def read_file(language: str, statement: Statement, source: str | Path, options: Options) -> Spacecraft:
    """The spacecraft; all faults in one ModelError, all remarks in one ReadingNote. Call it from a public reader."""
    findings = Findings()
    craft = _read(statement, source, options, findings)
    return hand_over(craft, language, source_label(source), findings)


def lint_file(statement: Statement, source: str | Path, *, repair: bool) -> list[Finding]:
    """Everything that is wrong, suspicious or unusual, the most important first."""
    findings = Findings()
    _read(statement, source, Options(repair=repair), findings)
    return findings.sorted


def _read(statement: Statement, source: str | Path, options: Options, findings: Findings) -> Spacecraft | None:
    document = statement(source, options, findings)
    try:
        return None if document is None else assemble(document, source, options, findings)
    except ModelError as fault:  # numbers that pass one by one, and that a part cannot have together
        findings.error("robot", str(fault))
        return None

"""The two functions of every reader: make a spacecraft of a file, and list the findings about it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from freefloat.model.spacecraft import Spacecraft
from freefloat.readers.assembly import Options, assemble
from freefloat.readers.elements import is_xml_text, parse, source_label
from freefloat.readers.findings import Finding, Findings
from freefloat.readers.parsed import Document
from freefloat.readers.reports import report_findings
from freefloat.values.errors import ModelError

# The function of each language: from a source to its document; None, with findings, if there is none.
Statement: TypeAlias = Callable[[str | Path, Options, Findings], Document | None]


def load_xml(
    read_document: Callable[[ET.Element, Path | None, Findings], Document | None],
    language: str,
    outermost: str,
    source: str | Path,
    _: Options,
    findings: Findings,
) -> Document | None:
    """Document of XML, from the function that reads its outermost element and the folder of its meshes."""
    root = parse(source, language, outermost, findings)
    if root is None:
        return None
    folder = None if is_xml_text(source) else Path(source).resolve().parent
    return read_document(root, folder, findings)


def read_file(language: str, statement: Statement, source: str | Path, options: Options) -> Spacecraft:
    """Spacecraft of a file; all errors in one ModelError, all remarks in one ReadingNote. For public readers only."""
    findings = Findings()
    craft = _assemble_file(statement, source, options, findings)
    return report_findings(craft, language, source_label(source), findings)


def lint_file(statement: Statement, source: str | Path, *, repair: bool) -> list[Finding]:
    """All findings about a file, the most important first."""
    findings = Findings()
    _assemble_file(statement, source, Options(repair=repair), findings)
    return findings.by_importance


def _assemble_file(statement: Statement, source: str | Path, options: Options, findings: Findings) -> Spacecraft | None:
    document = statement(source, options, findings)
    try:
        return None if document is None else assemble(document, source, options, findings)
    except ModelError as fault:  # numbers that are valid one by one, but not together
        findings.error("robot", str(fault))
        return None

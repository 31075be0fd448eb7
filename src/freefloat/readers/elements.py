"""Checked numbers from XML text: every fault is collected with its part, and nothing is guessed."""

from __future__ import annotations

import difflib
import os
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

import numpy as np

from freefloat.readers.findings import Findings
from freefloat.readers.safe_xml import DocumentTypeError, parse_xml

_READERS = {"robot": "read_urdf", "mujoco": "read_mjcf", "sdf": "read_sdf"}  # by outermost element
_NAMED = {"URDF": "a URDF", "SDF": "an SDF", "MJCF": "an MJCF"}


def source_label(source: str | Path) -> str:
    """Name of a source in messages: its file name, or `XML text`."""
    if not isinstance(source, (str, os.PathLike)):
        return type(source).__name__
    return "XML text" if is_xml_text(source) else Path(source).name


def is_xml_text(source: str | Path) -> bool:
    """True if the source is XML text, which begins with `<`; everything else is a path."""
    return isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<")


def parse(source: str | Path, language: str, outermost: str, findings: Findings) -> ET.Element | None:
    """The root element of a file or of XML text; None, with a finding, when there is none."""
    text = read_text(source, language, findings)
    root = None if text is None else parse_text(text, language, findings)
    if root is None:
        return None
    if root.tag != outermost:
        found = f"its outermost element is <{root.tag}>, not <{outermost}>"
        other = f"{root.tag} files are read by ff.{_READERS[root.tag]}" if root.tag in _READERS else ""
        remedy = other or f"Give {_NAMED[language]} file"
        findings.error("", f"{found}, so it is not {_NAMED[language]}. {remedy}.")
        return None
    if any(element.tag.startswith("{") and "xacro" in element.tag for element in root.iter()):
        findings.error("", f"it is a xacro source, not {_NAMED[language]}. Expand it first: `xacro FILE > robot.urdf`.")
        return None
    return root


def read_text(source: str | Path, language: str, findings: Findings) -> str | None:
    """The XML text of a file, or the text itself; None, with a finding, when it cannot be read."""
    if not isinstance(source, (str, os.PathLike)):
        findings.error("", f"it is {source!r}. Give the path of {_NAMED[language]} file, or its XML text.")
        return None
    text = str(source) if is_xml_text(source) else _contents(Path(source), findings)
    return None if text is None else text.lstrip("\ufeff \t\r\n")


def parse_text(text: str, language: str, findings: Findings) -> ET.Element | None:
    """The root element, if the text is well-formed and has no document type."""
    try:
        return parse_xml(text)
    except DocumentTypeError:
        findings.error(
            "", f"it has a <!DOCTYPE ...>, which {_NAMED[language]} does not need and which is not read. Remove it."
        )
    except UnicodeEncodeError as fault:
        findings.error("", f"character {fault.start} cannot be part of XML. Remove it.")
    except expat.ExpatError as fault:
        where = f"line {fault.lineno}, column {fault.offset + 1}"
        findings.error("", f"it is not well-formed XML: {str(fault).split(':')[0]} at {where}. Correct it there.")
    except ValueError as fault:
        findings.error("", f"it is not read: {fault}.")
    return None


def _contents(path: Path, findings: Findings) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as fault:
        findings.error("", f"byte {fault.start} is not UTF-8. Save the file as UTF-8.")
    except ValueError as fault:  # a null character in the path
        findings.error("", f"{str(path)!r} is no path: {fault}. Give a readable file.")
    except FileNotFoundError:
        findings.error("", f"there is no file '{path}'. Check the path (from directory '{Path.cwd()}').")
    except OSError as fault:
        findings.error("", f"'{path}' cannot be read: {fault.strerror}. Give a readable file.")
    return None


@dataclass(frozen=True)
class XmlPart:
    """An element with its name in messages and the list for its faults."""

    element: ET.Element
    name: str
    findings: Findings

    @property
    def stated_name(self) -> str:
        """Name of the element, as the file has it; empty if it has none."""
        return (self.element.get("name") or "").strip()

    def child(self, tag: str) -> XmlPart | None:
        """The only child with a tag, None if there is none; a second one is reported as a fault."""
        found = self.element.findall(tag)
        if len(found) > 1:
            self.findings.error(self.name, f"has {len(found)} <{tag}> elements. Keep one.")
        return XmlPart(found[0], self.name, self.findings) if found else None

    def text(self, attribute: str) -> str | None:
        """A required attribute; None, after a report, if it is missing or blank."""
        value = (self.element.get(attribute) or "").strip()
        if not value:
            self.findings.error(self.name, f'<{self.element.tag}> has no {attribute}. Add {attribute}="...".')
        return value or None

    def numbers(self, attribute: str, size: int, default: Iterable[float] | None = None) -> np.ndarray:
        """`size` finite numbers of an attribute; NaN, after a report, if they are missing or not numbers."""
        text = self.element.get(attribute)
        if text is None and default is not None:
            return np.array(list(default), dtype=float)
        return self.checked_numbers(f"<{self.element.tag} {attribute}>", text, size)

    def checked_numbers(self, where: str, text: str | None, size: int) -> np.ndarray:
        """`size` finite numbers from a text; NaN, after a report, if the text does not contain them."""
        words = (text or "").split()
        if text is None:
            self.findings.error(self.name, f"{where} is missing. Add it.")
        elif len(words) != size:
            self.findings.error(self.name, f"{where} needs {size} numbers, got '{text}'. Separate them by blanks.")
        else:
            values = [_number(word) for word in words]
            bad = [word for word, value in zip(words, values, strict=True) if value is None]
            if not bad:
                return np.array(values, dtype=float)
            self.findings.error(self.name, f"{where}: '{bad[0]}' is not a finite number. Write a decimal number.")
        return np.full(size, np.nan)

    def number(self, attribute: str, default: float | None = None) -> float:
        """One finite number of an attribute; NaN, after a report, if it is missing or not a number."""
        return float(self.numbers(attribute, 1, None if default is None else (default,))[0])

    def expect(self, attributes: Iterable[str], children: Iterable[str]) -> None:
        """Warn of attributes and children that are not read; a name that looks misspelt is an error."""
        known = tuple(attributes)
        for name in self.element.keys():  # noqa: SIM118 (an Element is no mapping)
            self._check_known(f"attribute '{name}' of <{self.element.tag}>", name, known)
        known = tuple(children)
        for tag, count in Counter(child.tag for child in self.element).items():
            times = f" ({count} times)" if count > 1 else ""
            self._check_known(f"element <{tag}>{times}", tag, known)

    def _check_known(self, what: str, name: str, known: tuple[str, ...]) -> None:
        if name in known:
            return
        meant = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.8) if len(name) < 40 else []
        if meant:
            self.findings.error(self.name, f"unknown {what}; '{meant[0]}' was meant? Known: {', '.join(known)}.")
        else:
            self.findings.warn(self.name, f"{what} is ignored.", minor=True)


def named_parts(owner: XmlPart, tag: str) -> list[XmlPart]:
    """The children with a tag, without those that have no name or a name that was there before, which are reported."""
    parts: dict[str, XmlPart] = {}
    for number, element in enumerate(owner.element.findall(tag), start=1):
        name = (element.get("name") or "").strip()
        part = XmlPart(element, f"{tag} '{name}'" if name else f"{tag} number {number}", owner.findings)
        if not name:
            part.text("name")
        elif name in parts:
            owner.findings.error(part.name, f"there are two {tag}s of this name. Rename one of them.")
        else:
            parts[name] = part
    return list(parts.values())


def _number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if np.isfinite(value) and "_" not in word else None

"""Findings about a file: errors, repairs, warnings and notes, each with the part that it is about."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "repair", "warning", "note"]
_ORDER = ("error", "repair", "warning", "note")
_NUMBER = re.compile(r"'[^']*'|[-+]?[0-9][-+.0-9e]*")
_MOST_NAMES = 3


@dataclass(frozen=True)
class Finding:
    """One finding about a file.

    `error`: the file is unusable. `repair`: a number was changed, as requested. `warning`: probably not what was meant.
    `note`: unusual but harmless, and read as it was meant.
    """

    severity: Severity
    part: str  # "link 'hand'", "joint 'elbow'"; empty for the file as a whole
    text: str  # a sentence with the remedy
    minor: bool = False  # a warning that rarely matters
    repairable: bool = False  # an error that `repair=True` removes

    def __str__(self) -> str:
        return f"{self.part}: {self.text}" if self.part else self.text


@dataclass
class Findings:
    """All findings about one file, in the order of reading."""

    items: list[Finding] = field(default_factory=list)

    def error(self, part: str, text: str, *, repairable: bool = False) -> None:
        """Add a finding that makes the file unusable."""
        self.items.append(Finding("error", part, text, repairable=repairable))

    def repair(self, part: str, text: str) -> None:
        """Add a finding of a number that was changed."""
        self.items.append(Finding("repair", part, text))

    def warn(self, part: str, text: str, *, minor: bool = False) -> None:
        """Add a finding that is probably not what was meant."""
        self.items.append(Finding("warning", part, text, minor))

    def note(self, part: str, text: str) -> None:
        """Add a finding that is unusual but harmless."""
        self.items.append(Finding("note", part, text))

    @property
    def errors(self) -> list[Finding]:
        """The findings that make the file unusable."""
        return [f for f in self.items if f.severity == "error"]

    @property
    def by_importance(self) -> list[Finding]:
        """All findings, the most important first."""
        return sorted(self.items, key=lambda f: (f.minor, _ORDER.index(f.severity)))


def name_list(names: Iterable[str], most: int = 20) -> str:
    """List of names for a message, shortened if there are very many."""
    names = list(names)
    return (", ".join(names[:most]) or "none") + (f" and {len(names) - most} more" if len(names) > most else "")


def summary_lines(findings: list[Finding]) -> list[tuple[Severity, str]]:
    """One line for each kind of finding; findings that are alike are joined, with the names of their parts.

    Errors and repairs are listed one by one, since each has its own numbers.
    """
    groups: dict[tuple[str, str], list[Finding]] = {}
    for number, finding in enumerate(findings):
        single = finding.severity in ("error", "repair")
        alike = str(number) if single else finding.part.partition(" ")[0] + _NUMBER.sub("", finding.text)
        groups.setdefault((finding.severity, alike), []).append(finding)
    return [(group[0].severity, _line(group)) for group in groups.values()]


def _line(group: list[Finding]) -> str:
    first, *others = group
    if not others:
        return str(first)
    parts = list(dict.fromkeys(finding.part for finding in others if finding.part != first.part))
    return f"{first} The same for {name_list(parts, _MOST_NAMES)}." if parts else f"{first} ({len(group)} times)"

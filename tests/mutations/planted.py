"""Planted bugs as data: `table/*.toml` has one entry for each, of a file, a text in it, and what a slip makes of it."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = Path("src/freefloat")
_TABLE = Path(__file__).parent / "table"


@dataclass(frozen=True)
class Mutation:
    """One planted bug."""

    file: str  # below src/freefloat
    old: str  # occurs exactly once in it
    new: str
    tests: str  # arguments of pytest: the smallest selection that should fail
    why: str  # how somebody could come to write it
    survives: str = ""  # why no test fails, where none can or should

    @property
    def title(self) -> str:
        """File and reason, as it is reported."""
        return f"{self.file}: {self.why}"

    def applied(self, text: str) -> str:
        """The text of the file with the bug in it; an error where the place is not clear."""
        found = text.count(self.old)
        if found != 1:
            raise ValueError(f"{self.title}: old text occurs {found} times, not once. Make the entry fit the file.")
        return text.replace(self.old, self.new)

    def key(self, root: Path = ROOT) -> str:
        """A name that changes with the entry and the file: what was found for another is no answer."""
        return _digest(self.file, self.old, self.new, self.tests, (root / SOURCE / self.file).read_text())

    def tests_key(self, root: Path = ROOT) -> str:
        """A name that changes with the tests: what survived these may not survive others."""
        return _digest(*(path.read_text() for path in self.test_files(root)))

    def test_files(self, root: Path = ROOT) -> list[Path]:
        """Files and folders of tests that it names, folders as their files."""
        named = [root / word.partition("::")[0] for word in self.tests.split() if word.startswith("tests/")]
        return sorted(file for path in named for file in (path.rglob("*.py") if path.is_dir() else [path]))


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def planted() -> list[Mutation]:
    """Every entry of the table, in the order of its files."""
    return [
        Mutation(**entry) for path in sorted(_TABLE.glob("*.toml")) for entry in tomllib.loads(path.read_text())["bug"]
    ]

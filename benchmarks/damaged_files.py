"""Robot files damaged at random: whatever they hold, they are read, or refused by name, soon.

    python benchmarks/damaged_files.py [--count 2000] [FILE ...]

Without files, those of `examples/data` are damaged, in URDF, MJCF and SDF. Every damaged text is read (half of them
with repairs) and checked. Counted are other exceptions than ModelError and findings that name no element; the slowest
answer is told.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from damage import damage_text

from freefloat.readers.findings import Finding
from freefloat.readers.languages import Language, language_of
from freefloat.readers.reports import ReadingNote
from freefloat.values import ModelError

DATA = Path(__file__).parents[1] / "examples" / "data"
LONG = 20.0  # of processor time [s]: nobody waits longer for an answer


def own_files() -> list[Path]:
    """Robots of our own, each with some of the things that people write."""
    return [*sorted(DATA.glob("*.urdf")), *(path for path in sorted((DATA / "robots").iterdir()) if path.is_file())]


def names_its_element(finding: Finding) -> bool:
    """A finding says which part it is about, or why the whole text is no robot: line and column, outermost element."""
    whole = (
        "it is not well-formed XML",
        "its outermost element is <",
        "it has a <!DOCTYPE",
        "it is a xacro",
        "character",
    )
    if finding.part == "MuJoCo":  # it says the name of a file or part
        return "'" in finding.text
    return bool(finding.part) or finding.text.startswith(whole)


def try_text(text: str, language: Language, *, repair: bool) -> str:
    """`read`, `refused`, `nameless` or the name of an exception that should not be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingNote)
        try:
            verdict = "read"
            try:
                language.read(text, repair=repair)
            except ModelError:
                verdict = "refused"
            named = all(names_its_element(finding) for finding in language.lint(text, repair=repair))
            return verdict if named else "nameless"
        except Exception as fault:
            traceback.print_exc()
            return type(fault).__name__


def fuzz(files: list[Path], count: int, seed: int = 20260102) -> tuple[dict[str, Counter[str]], float]:
    """What came of so many damaged texts, for each language, and the longest processor time that one took [s]."""
    rng, outcomes, slowest = np.random.default_rng(seed), {}, 0.0
    sources = [(language_of(path), path.read_text(encoding="utf-8")) for path in files]
    for number in range(count):
        language, text = sources[number % len(sources)]
        damaged = damage_text(text, rng)
        start = time.process_time()
        verdict = try_text(damaged, language, repair=bool(number // len(sources) % 2))
        slowest = max(slowest, time.process_time() - start)
        outcomes.setdefault(language.name, Counter())[verdict] += 1
    return outcomes, slowest


def main() -> int:
    """Read the command line, print the counts; 1 where an answer was no answer."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("files", type=Path, nargs="*")
    words.add_argument("--count", type=int, default=2000)
    asked = words.parse_args()
    files = [path.resolve() for path in asked.files] or own_files()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # MuJoCo writes a log of its warnings where it is
        outcomes, slowest = fuzz(files, asked.count)
        os.chdir(DATA)
    for language, counts in outcomes.items():
        print(f"{language}: {dict(counts)}")
    print(f"{asked.count} damaged files, slowest {slowest:.2f} s")
    good = all(set(counts) <= {"read", "refused"} for counts in outcomes.values())
    return 0 if good and slowest < LONG else 1


if __name__ == "__main__":
    sys.exit(main())

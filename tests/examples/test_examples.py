"""Lessons and documentation are run as a reader would run them, warnings being errors.

A lesson prints one line or more of the form

    checked: base turns by -32.553191 deg (expected -32.553191 +- 1e-6)

and the number is compared here, so that a new lesson needs no entry anywhere. A page of documentation that has the
line `<!-- run by tests -->` has its `python` blocks run in order, in one process; where a `text` block follows a
`python` block directly, what that block prints must be that text. The README is such a page.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "examples").glob("[0-9]*.py"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
RUN_MARK = "<!-- run by tests -->"
# What takes longest: `make slow` runs it.
LONGEST = 80  # lines of a lesson
PATIENCE = 600.0  # [s] after which a lesson hangs; they take seconds

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_CHECKED = re.compile(
    rf"^checked: (?P<what>.+?) (?P<value>{_NUMBER}|nan|inf)(?: (?P<unit>[^()]+?))? "
    rf"\(expected (?P<expected>{_NUMBER}) \+- (?P<tolerance>{_NUMBER})\)$"
)
_BLOCK = re.compile(r"^```(?P<language>python|text)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Check:
    """One number that a lesson promises."""

    what: str
    value: float
    expected: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """A NaN never holds. The last printed digit of the value may be rounded, which is forgiven."""
        return abs(self.value - self.expected) <= self.tolerance * (1.0 + 1e-9)


def checks_in(output: str) -> list[Check]:
    """Every `checked:` line; one that cannot be read is a fault of the lesson."""
    found = []
    for line in output.splitlines():
        if line.startswith("checked:"):
            match = _CHECKED.match(line)
            assert match, f"Write 'checked: what 1.23 unit (expected 1.23 +- 0.01)', not '{line}'."
            found.append(Check(match["what"], *(float(match[k]) for k in ("value", "expected", "tolerance"))))
    return found


def run_python(*arguments: str) -> str:
    """What a script prints; its own process, as a reader would run it."""
    environment = os.environ | {"PYTHONIOENCODING": "utf-8", "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        cwd=ROOT,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_lesson_prints_the_numbers_it_promises(lesson: Path) -> None:
    checks = checks_in(run_python(str(lesson)))
    assert checks, f"{lesson.name} prints no line 'checked: ...'; see CONTRIBUTING.md."
    wrong = [check for check in checks if not check.holds]
    assert not wrong, f"{lesson.name}: {wrong}"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_lesson_fits_on_a_screen_or_two(lesson: Path) -> None:
    assert len(lesson.read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_lessons_are_numbered_without_repeats() -> None:
    numbers = [path.name.split("_")[0] for path in LESSONS]
    assert numbers[:3] == ["01", "02", "03"]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize(
    ("line", "holds"),
    [
        ("checked: pitch -0.6014 deg (expected -0.60145 +- 1e-4)", True),
        ("checked: ratio of errors 21.5 (expected 21 +- 1)", True),
        ("checked: pitch 0.6014 deg (expected -0.60145 +- 1e-4)", False),  # a wrong sign must not pass
        ("checked: pitch nan deg (expected 0 +- 1e3)", False),
    ],
)
def test_a_wrong_number_is_noticed(line: str, holds: bool) -> None:
    (check,) = checks_in(line)
    assert check.holds is holds


def _tested_pages() -> list[Path]:
    return [page for page in PAGES if page.exists() and RUN_MARK in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", _tested_pages(), ids=lambda path: path.stem)
def test_code_on_the_page_runs_and_prints_what_the_page_says(page: Path) -> None:
    outputs = run_python(__file__, str(page)).split("\0")
    expected = _expected_texts(page)
    assert len(outputs) == len(expected) + 1
    for number, (printed, text) in enumerate(zip(outputs, expected, strict=False), start=1):
        if text is not None:
            assert printed.rstrip() == text.rstrip(), f"{page.name}, python block {number}"


def _blocks(page: Path) -> list[re.Match[str]]:
    return list(_BLOCK.finditer(page.read_text(encoding="utf-8")))


def _expected_texts(page: Path) -> list[str | None]:
    """For each python block the text block right after it, or None."""
    text, blocks = page.read_text(encoding="utf-8"), _blocks(page)
    expected: list[str | None] = []
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        if block["language"] == "python":
            follows = after is not None and after["language"] == "text"
            direct = follows and not text[block.end() : after.start()].strip()
            expected.append(after["body"] if direct else None)
    return expected


def _run_page(page: Path) -> None:
    """Run a page's python blocks in one namespace; what each printed ends with a zero byte."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for number, block in enumerate(b for b in _blocks(page) if b["language"] == "python"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block["body"], f"{page.name}, python block {number + 1}", "exec"), namespace)
        sys.stdout.write(printed.getvalue() + "\0")


if __name__ == "__main__":
    _run_page(Path(sys.argv[1]))

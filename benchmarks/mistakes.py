"""Make 69 mistakes of a new user and grade the answers: `benchmarks/mistakes.py`, `--write` renews docs/messages.md.

A: the thing, the value given, and what is possible or what to do. B: one of them is missing. C: more are missing.
F: no answer at all, or a traceback of the command line.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from mistake_cases import COMMANDS, PYTHON, SETUP, Mistake

PAGE = Path(__file__).parents[1] / "docs" / "messages.md"
FILES = {
    "notes.txt": "not a robot\n",
    "robot.xml": '<mujoco model="robot"><worldbody/></mujoco>\n',
    "broken.toml": "scenario = \n",
    "nameless.toml": "duration = 3.0\n",
    "faulty.py": "import freefloat as ff\nnothing_of_that_name\n",
    "empty.py": "import freefloat as ff\n",
    "mission.py": "import freefloat as ff\nexperiment = ff.Experiment.of(ff.library.ets7(), duration=1.0)\n",
    "gain.py": "import freefloat as ff\ndef build(gain: float = 2.0):\n"
    "    return ff.Experiment.of(ff.library.ets7(), duration=1.0)\n",
    "gain.toml": 'scenario = "gain.py"\nruns = 4\n[[disperse]]\npath = "gain"\ndistribution = "normal"\nmean = 2.0\n'
    "sigma = 0.1\n",
    "taken/run.nc": "",
}
INTRO = """# Messages

Mistakes that a new user makes, and the answers: written by `benchmarks/mistakes.py --write`. An answer is graded A if
it has the thing that is wrong, the value that was given, and what is possible or what to do; B if one is missing.
"""


def answer(mistake: Mistake) -> str:
    """What the user reads: the last line of the error or the warning, or what is printed."""
    return _python_answer(mistake.done) if mistake.python else _command_answer(mistake.done)


def _python_answer(code: str) -> str:
    printed, failed = io.StringIO(), []
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        try:
            exec(compile(f"{SETUP}\n{code}", "<mistake>", "exec"), {"__name__": "mistake"})
        except Exception as error:
            failed = [f"{type(error).__name__}: {error.args[0] if error.args else error}"]
        finally:
            if sys.modules.get("matplotlib", ...) is None:
                del sys.modules["matplotlib"]
    warned = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
    return " ".join([*warned, *failed]) or printed.getvalue().strip()


def _command_answer(words: str) -> str:
    from freefloat.cli import main

    said = io.StringIO()
    sys.argv = ["freefloat", *words.split(), *(["--quiet"] if words.startswith("run ") else [])]
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()
    text = re.sub(r"[╭─╮│╰╯]", " ", said.getvalue())
    return "" if "Traceback" in text else " ".join(text.split())


def grade(mistake: Mistake, text: str) -> str:
    """Grade of an answer: A, B, C or F."""
    if not text:
        return "F"
    wanted = (mistake.thing, mistake.value, mistake.remedy)
    missing = sum(not re.search(pattern, text, re.DOTALL) for pattern in wanted)
    return "ABCC"[missing]


def graded() -> Iterator[tuple[Mistake, str, str]]:
    """Every mistake with its grade and its answer, made in a folder that has a few files."""
    before, given = Path.cwd(), list(sys.argv)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            (Path(folder) / name).parent.mkdir(exist_ok=True)
            (Path(folder) / name).write_text(text)
        os.chdir(folder)
        try:
            for mistake in (*PYTHON, *COMMANDS):
                text = answer(mistake).replace(str(Path(folder).resolve()), ".").replace(folder, ".")
                yield mistake, grade(mistake, text), text
        finally:
            os.chdir(before)
            sys.argv = given


def page(rows: list[tuple[Mistake, str, str]]) -> str:
    """The table in Markdown."""
    lines = []
    for title, python in (("In Python", True), ("On the command line", False)):
        lines += [f"\n## {title}\n", "| mistake | grade | answer |", "|---|---|---|"]
        for mistake, mark, text in rows:
            if mistake.python is python:
                short = text if len(text) <= 420 else f"{text[:419]}…"
                cell = short.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
                lines.append(f"| {mistake.title} | {mark} | {cell} |")
    counts = Counter(mark for _, mark, _ in rows)
    return f"{INTRO}Of {len(rows)} answers {counts['A']} are graded A.\n" + "\n".join(lines) + "\n"


def main() -> int:
    """Print every grade and answer, and their counts; exit status 1 if fewer than 64 are A."""
    rows = list(graded())
    for mistake, mark, text in rows:
        print(f"{mark}  {mistake.title}\n      {text[:300]}")
    counts = Counter(mark for _, mark, _ in rows)
    print(", ".join(f"{mark}: {counts[mark]}" for mark in sorted(counts)))
    if "--write" in sys.argv:
        PAGE.write_text(page(rows), encoding="utf-8")
    return int(counts["A"] < 64)


if __name__ == "__main__":
    sys.exit(main())

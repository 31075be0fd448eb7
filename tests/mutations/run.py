"""Plants the bugs of the table one by one in a copy of the package and runs the tests that should find them.

    python tests/mutations/run.py [--only PATTERN] [--jobs N] [--fresh] [--limit SECONDS]

What was found is kept in runs/mutations.jsonl until the entry or its file change, and for a bug that survives until its
tests do: a run that was stopped goes on where it was, and after a new test only what it may find is judged again. Then
the tests that failed are run without any bug, where they must pass. The script ends with an error if a bug survives
without an explanation in the table, or is killed with one.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from planted import ROOT, SOURCE, Mutation, planted

COPIED = ("src", "tests", "benchmarks", "docs", "examples", "scripts", "pyproject.toml", "README.md", "CHANGELOG.md")
FOUND = ROOT / "runs" / "mutations.jsonl"
KILLED, SURVIVED, TIMED_OUT = "killed", "survived", "too slow"
_WORDS = {0: SURVIVED, 1: KILLED, 2: KILLED}  # by pytest's exit code: all pass, some fail, some cannot be imported


@dataclass(frozen=True)
class Finding:
    """What tests said of a bug."""

    word: str
    seconds: float
    failed: tuple[str, ...]  # the tests that did
    tests: str = ""  # which they were, see `Mutation.tests_key`


class Bench:
    """A copy of the repository in which bugs are planted; compiled code is kept apart for each of them."""

    def __init__(self, folder: Path, limit: float) -> None:
        self.folder, self.limit = folder, limit
        for name in COPIED:
            source, target = ROOT / name, folder / name
            if source.is_dir():
                shutil.copytree(source, target)
            elif source.exists():
                shutil.copy2(source, target)
        words = [sys.executable, "-c", "import freefloat; print(freefloat.__file__)"]
        found = subprocess.run(words, env=self._environment(folder), capture_output=True, text=True, check=True)
        if not Path(found.stdout.strip()).is_relative_to(folder):
            raise RuntimeError(f"Tests of the copy would import {found.stdout.strip()}, not the copy.")

    def judge(self, mutation: Mutation) -> Finding:
        """What the tests say of the copy with one bug."""
        path = self.folder / SOURCE / mutation.file
        text, times = path.read_text(), path.stat()
        try:
            path.write_text(mutation.applied(text))
            return self.test(["-x", *shlex.split(mutation.tests)])
        finally:
            path.write_text(text)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # so that bytecode of the bug is not taken for it

    def test(self, words: Sequence[str], limit: float | None = None) -> Finding:
        """Run pytest with a folder for compiled code of its own, which is thrown away: what is wrong is not kept."""
        cache, started = Path(tempfile.mkdtemp(dir=self.folder, prefix="code-")), time.monotonic()
        try:
            code, said = self._pytest(words, cache, limit or self.limit)
            if code is not None and code not in _WORDS and code >= 0:  # less is a signal: the bug ended the process
                raise RuntimeError(f"pytest {shlex.join(words)} did not run (exit code {code}):\n{said}")
            word = TIMED_OUT if code is None else _WORDS.get(code, KILLED)
            return Finding(word, time.monotonic() - started, _failed(cache))
        finally:
            shutil.rmtree(cache, ignore_errors=True)

    def _pytest(self, words: Sequence[str], cache: Path, limit: float) -> tuple[int | None, str]:
        """Exit code, None if it took too long, and the last lines."""
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", "--tb=line", "-o", f"cache_dir={cache}", *words],
            cwd=self.folder,
            env=self._environment(cache),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=limit)
            return process.returncode, said[-2000:]
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # and whatever its tests started
            process.wait()

    def _environment(self, cache: Path) -> dict[str, str]:
        """Annotations are not executed: that takes longer than most tests do, and bugs are to be found by asserts."""
        own = {
            "PYTHONPATH": str(self.folder / "src"),
            "FREEFLOAT_CACHE": str(cache / "code"),
            "FREEFLOAT_UNCHECKED": "1",
        }
        return os.environ | own


def _failed(cache: Path) -> tuple[str, ...]:
    """The tests that pytest notes as failed."""
    file = cache / "v" / "cache" / "lastfailed"
    return tuple(json.loads(file.read_text())) if file.exists() else ()


class Findings:
    """What was found, on disk as it comes."""

    def __init__(self, mutations: Sequence[Mutation], *, fresh: bool) -> None:
        # As files are when they are copied.
        self._keys = {mutation: (mutation.key(), mutation.tests_key()) for mutation in mutations}
        self._known: dict[str, Finding] = {}
        self._lock = threading.Lock()
        if fresh:
            FOUND.unlink(missing_ok=True)
        if FOUND.exists():
            for entry in map(json.loads, FOUND.read_text().splitlines()):
                found = Finding(entry["word"], entry["seconds"], tuple(entry["failed"]), entry["tests"])
                self._known[entry["key"]] = found

    def of(self, mutation: Mutation) -> Finding | None:
        """What was found for an entry; None if nothing was yet."""
        key, tests = self._keys[mutation]
        found = self._known.get(key)
        return None if found is not None and found.word == SURVIVED and found.tests != tests else found

    def keep(self, mutation: Mutation, finding: Finding) -> None:
        """One more."""
        key, tests = self._keys[mutation]
        finding = replace(finding, tests=tests)
        entry = {"key": key, "title": mutation.title, **asdict(finding)}
        with self._lock:
            self._known[key] = finding
            FOUND.parent.mkdir(exist_ok=True)
            with FOUND.open("a") as file:
                file.write(json.dumps(entry) + "\n")
            print(f"{finding.word:<8} {finding.seconds:5.1f} s  {mutation.title}", flush=True)  # noqa: T201


def work(mutations: Sequence[Mutation], findings: Findings, jobs: int, limit: float) -> None:
    """Judge entries, each job in a copy of its own; then see that what failed does so by the bugs alone."""
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        benches: queue.Queue[Bench] = queue.Queue()
        for job in range(jobs):
            (own := Path(folder) / str(job)).mkdir()
            benches.put(Bench(own, limit))

        faults: list[str] = []

        def one(mutation: Mutation) -> None:
            bench = benches.get()
            try:
                findings.keep(mutation, bench.judge(mutation))
            except RuntimeError as fault:
                faults.append(f"{mutation.title}: {fault}")
            finally:
                benches.put(bench)

        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(one, mutations))
        if faults:
            raise RuntimeError("\n".join(faults))
        _require_passing(benches.get(), [(mutation, findings.of(mutation)) for mutation in mutations])


def _require_passing(bench: Bench, found: Sequence[tuple[Mutation, Finding | None]]) -> None:
    """Tests that fail without a bug say nothing about one."""
    killers = sorted({test for _, finding in found if finding for test in finding.failed})
    nameless = [
        mutation.tests for mutation, finding in found if finding and finding.word != SURVIVED and not finding.failed
    ]
    for words in ([killers] if killers else []) + [shlex.split(tests) for tests in dict.fromkeys(nameless)]:
        said = bench.test(words, limit=100.0 * bench.limit)
        if said.word != SURVIVED:
            raise RuntimeError(f"Without any bug these fail too, so that they prove nothing: {', '.join(said.failed)}.")


def report(mutations: Sequence[Mutation], findings: Findings) -> int:
    """Print what survived, and the numbers; how many of the verdicts are not what the table says."""
    surprises, lived, seconds = 0, 0, 0.0
    for mutation in mutations:
        found = findings.of(mutation)
        assert found is not None
        seconds, survived = seconds + found.seconds, found.word == SURVIVED
        lived += survived
        if survived or mutation.survives:
            surprises += survived != bool(mutation.survives)
            print(f"{found.word:<8} {mutation.title}\n         {mutation.survives or 'not explained'}")  # noqa: T201
    killed, total = len(mutations) - lived, len(mutations)
    print(f"{killed} of {total} killed ({100.0 * killed / max(total, 1):.1f} %), {lived} survived; {seconds:.0f} s")  # noqa: T201
    return surprises


def main() -> int:
    """From the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="PATTERN", help="entries whose file or reason match this")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds after which tests count as failed")
    parser.add_argument("--fresh", action="store_true", help="forget what was found before")
    asked = parser.parse_args()
    mutations = [mutation for mutation in planted() if re.search(asked.only, mutation.title)]
    for mutation in mutations:
        mutation.applied((ROOT / SOURCE / mutation.file).read_text())
    findings = Findings(mutations, fresh=asked.fresh)
    if missing := [mutation for mutation in mutations if findings.of(mutation) is None]:
        work(missing, findings, asked.jobs, asked.limit)
    return 1 if report(mutations, findings) else 0


if __name__ == "__main__":
    sys.exit(main())

"""The table of planted bugs stays true to the code, and the script tells a bug that is found from one that is not."""

import dataclasses
from collections import Counter
from pathlib import Path

import pytest
import run
from planted import ROOT, SOURCE, Mutation, planted

PACKAGES = {path.name for path in (ROOT / SOURCE).iterdir() if (path / "__init__.py").exists()}


@pytest.mark.parametrize("mutation", planted(), ids=lambda mutation: mutation.title)
def test_every_bug_can_still_be_planted(mutation: Mutation) -> None:
    text = (ROOT / SOURCE / mutation.file).read_text()
    changed = mutation.applied(text)  # an error says how often the text occurs
    assert changed != text
    compile(changed, mutation.file, "exec")
    assert mutation.test_files()
    assert all(path.exists() for path in mutation.test_files())


def test_every_package_has_some_and_none_is_there_twice() -> None:
    mutations = planted()
    assert len(mutations) >= 125
    counts = Counter(mutation.file.partition("/")[0] for mutation in mutations)
    assert PACKAGES - set(counts) == {"library"}  # numbers of spacecraft: its tests compare them with their sources
    assert max(Counter((m.file, m.old, m.new) for m in mutations).values()) == 1
    assert max(Counter(mutation.title for mutation in mutations).values()) == 1
    explained = [mutation for mutation in mutations if mutation.survives]
    assert len(explained) <= 0.05 * len(mutations)


def test_a_place_that_is_not_clear_is_an_error() -> None:
    slip = Mutation("values/files.py", old="x", new="y", tests="tests/unit/values", why="slip")
    assert slip.applied("a x b") == "a y b"
    for text, found in (("a b", 0), ("x x", 2)):
        with pytest.raises(ValueError, match=f"slip: old text occurs {found} times, not once"):
            slip.applied(text)


def test_an_entry_goes_by_another_name_once_anything_of_it_changes(tmp_path: Path) -> None:
    for name, text in ((SOURCE / "a.py", "x = 1"), (Path("tests/test_a.py"), "assert True")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    slip = Mutation("a.py", old="1", new="2", tests="tests/test_a.py -k x", why="slip")
    key, tests = slip.key(tmp_path), slip.tests_key(tmp_path)
    assert dataclasses.replace(slip, new="3").key(tmp_path) != key
    assert dataclasses.replace(slip, why="another word").key(tmp_path) == key
    (tmp_path / "tests/test_a.py").write_text("assert False")
    assert (slip.key(tmp_path) == key, slip.tests_key(tmp_path) == tests) == (True, False)
    (tmp_path / SOURCE / "a.py").write_text("x = 11")
    assert slip.key(tmp_path) != key


def test_the_script_tells_what_is_found_from_what_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of one line with one test: a bug that the test sees, one that it does not, and no test at all."""
    for name, text in (
        (SOURCE / "__init__.py", "double = lambda x: 2 * x\nhalf = lambda x: x / 2\n"),
        (Path("tests/test_a.py"), "import freefloat\n\ndef test_double():\n    assert freefloat.double(3) == 6\n"),
        (Path("pyproject.toml"), ""),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(run, "ROOT", tmp_path)
    (bench_folder := tmp_path / "bench").mkdir()
    bench = run.Bench(bench_folder, limit=60.0)
    seen = Mutation("__init__.py", old="2 * x", new="3 * x", tests="tests/test_a.py", why="seen")
    unseen = dataclasses.replace(seen, old="x / 2", new="x / 3", why="unseen")
    found = bench.judge(seen)
    assert (found.word, found.failed) == (run.KILLED, ("tests/test_a.py::test_double",))
    assert bench.judge(unseen).word == run.SURVIVED  # and the first bug is no longer there
    with pytest.raises(RuntimeError, match="did not run"):
        bench.judge(dataclasses.replace(seen, tests="tests/test_a.py -k nothing"))

"""The gate runs everything: what `make test` leaves out, `make slow` runs, and nothing else is left out."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from support import gate_report

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def recipe(target: str) -> str:
    """The commands of a target of the Makefile."""
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    assert found, f"make {target}"
    return found[1]


def test_the_gate_is_check_test_slow_and_claims_of_all_scenarios():
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.findall(r"^make (\w+)", gate, re.MULTILINE) == ["check", "test", "slow", "claims"]
    assert re.search(r"freefloat claims( --\w+)*$", recipe("claims").strip()), "claims of all scenarios, none named"


def test_what_the_tests_leave_out_the_slow_tests_run():
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    assert re.findall(r"-m '(.*?)'", options["addopts"]) == ["not slow"]
    assert options["testpaths"] == ["tests"]
    assert re.findall(r" -m (\w+)", recipe("slow").replace("-m pytest", "")) == ["slow"]
    for text in (options["addopts"], recipe("test"), recipe("slow")):
        assert not re.search(r"--deselect|--ignore| -k |tests/", text)


@pytest.mark.slow
def test_every_slow_case_of_the_list_is_a_test():
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "slow or not slow", "--no-header"]
    command += ["-o", "addopts=", "-p", "no:xdist"]
    listed = subprocess.run([*command, "tests"], capture_output=True, text=True, cwd=ROOT, check=True).stdout
    known = {line.removeprefix("tests/") for line in listed.splitlines()}
    assert set((ROOT / "tests" / "slow_cases.txt").read_text(encoding="utf-8").splitlines()) <= known


ONE = "import pytest\n\ndef test_a():\n    pytest.skip('no such thing')\n"
ALL_OF_A_FILE = "import pytest\n\npytest.skip('no such thing', allow_module_level=True)\n"


@pytest.mark.parametrize(("gate", "status"), [("1", 1), ("", 0)])
@pytest.mark.parametrize("skipped", [ONE, ALL_OF_A_FILE])
def test_a_test_that_is_skipped_fails_in_the_gate_alone(tmp_path, skipped, gate, status):
    (tmp_path / "test_skipped.py").write_text(skipped)
    (tmp_path / "test_other.py").write_text("def test_b():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "support.gate_report", str(tmp_path)]
    environment = {"PYTHONPATH": str(Path(gate_report.__file__).parents[1]), "FREEFLOAT_GATE": gate}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    assert ("The gate skips no test, but some were: no such thing" in done.stdout) is bool(gate)

"""Choose the test cases that `make test` leaves to `make slow`, from how long each took, and write the list of them.

    python -m pytest -n 3 --dist loadfile --junitxml=took.xml
    python scripts/choose_slow_cases.py took.xml

Of each test function the quickest case stays, unless even that takes longer than `LONGEST`; so does every case shorter
than `SHORT`. At least one test of each file stays, and those of `STAY`, which nothing quicker stands for. What the list
names already stays in it.
"""

import argparse
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
SLOW_CASES = TESTS / "slow_cases.txt"
SHORT = 0.5  # [s]
LONGEST = 5.0  # [s]
STAY = (
    "browser/test_linear_page.py::test_it_opens_from_disk_draws_and_asks_for_nothing",
    "browser/test_studio.py::test_a_run_from_the_form_completes_and_is_kept",
    "hil/test_realtime.py::test_paced_or_in_lockstep_the_run_is_the_same",
    "hil/test_rehearse_command.py::test_the_folder_has_run_log_and_page",
    "hil/test_software_outside.py::test_software_inside_in_process_and_behind_a_socket",
    "physics/test_gravity_on_parts.py::test_a_flexible_tree_cut_at_any_joint[linear]",
    "reference/test_native_against_jax.py::test_forward_dynamics_equals_plain_jax",
    "scenarios/test_ets7.py::test_claims[ets7-gravity-gradient-nominal]",
    "unit/cli/test_campaign_cli.py::test_run_status_replay_page",
)


def case_times(report: Path) -> dict[str, float]:
    """Seconds that each case took, by its id below `tests`, from a report in JUnit's format."""
    cases = ET.parse(report).getroot().iter("testcase")
    return {_case_id(case.attrib): float(case.attrib["time"]) for case in cases}


def _case_id(case: dict[str, str]) -> str:
    return f"{case['classname'].removeprefix('tests.').replace('.', '/')}.py::{case['name']}"


def slow_cases(took: dict[str, float]) -> set[str]:
    """Ids of the cases that take too long for `make test`."""
    functions, files = defaultdict(list), defaultdict(list)
    for case in sorted(took, key=took.__getitem__):
        functions[case.partition("[")[0]].append(case)
        files[case.partition("::")[0]].append(case)
    slow = {case for cases in functions.values() for case in cases[1:] if took[case] > SHORT}
    slow |= {cases[0] for cases in functions.values() if took[cases[0]] > LONGEST}
    return slow - {cases[0] for cases in files.values()} - set(STAY)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("report", type=Path, help="what `pytest --junitxml=FILE` wrote")
    known = SLOW_CASES.read_text(encoding="utf-8").splitlines() if SLOW_CASES.exists() else []
    chosen = slow_cases(case_times(options.parse_args().report))
    SLOW_CASES.write_text("".join(f"{case}\n" for case in sorted(chosen | set(known))), encoding="utf-8")
    print(f"{len(chosen)} cases added to {SLOW_CASES}")

"""Every scenario of the catalogue records the same bits whatever way its code was made.

The first, quick run is compared with a warm one, with one that finds pieces of graph and nothing else, with one in
which code at full strength takes the place of quick code, and with one at full strength throughout: all to the last
bit. Against a run without pieces, and against the second way of tracing (`make_jaxpr`), 1e-12 of a channel's largest
number (or of 1 in its unit) is allowed: they may add in another order. The bits that differ are listed by
`python tests/support/catalogue_bits.py`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from freefloat.scenarios.catalogue import SCENARIOS
from support import catalogue_bits
from support.catalogue_bits import CONTACT, SHORTENED, TOLERANCE, Recorded

# One for each kind of model; the others show the same for their software, and take long.
QUICK = ("ets7-gjm/nominal", "ets7-capture/case-1-release", "goddard-symmetric/50-kg", CONTACT)
CASES = [case if case in QUICK else pytest.param(case, marks=pytest.mark.slow) for case in SHORTENED]


def compared(case: str) -> dict[str, Any]:
    """What differs between the runs of a case, found by a process of its own."""
    command = [sys.executable, str(Path(catalogue_bits.__file__)), "--json", case]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FREEFLOAT_")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", CASES)
def test_bits_are_the_same_however_code_was_made(case: str) -> None:
    found = compared(case)
    words = catalogue_bits.table(found)
    print(words)  # noqa: T201
    assert set(found["ways"]) == {"pieces", "alone", "warm", "swapped", "full", "jaxpr"}
    for way, differences in found["ways"].items():
        assert not differences["events"], words
        if way in catalogue_bits.OTHER_GRAPHS:
            assert all(row["apart"] <= TOLERANCE for row in differences["channels"]), words
        else:
            assert not differences["channels"], words
    assert len(found["events"]) >= catalogue_bits.EVENTS.get(case, 0), found["events"]


def test_every_scenario_is_in_the_table() -> None:
    assert {case.split("/")[0] for case in SHORTENED if case != CONTACT} == set(SCENARIOS)
    assert set(QUICK) | set(catalogue_bits.EVENTS) <= set(SHORTENED)


# ---- negative controls: what differs is found


def recorded(**channels: Any) -> Recorded:
    return Recorded({name: np.asarray(values) for name, values in channels.items()}, ({"time": 1.0, "label": "touch"},))


def test_a_single_bit_is_found() -> None:
    ours, theirs = recorded(a=[1.0, 2.0], b=[3, 4]), recorded(a=[1.0, np.nextafter(2.0, 3.0)], b=[3, 4])
    (row,) = catalogue_bits.differing_channels(ours, theirs)
    assert (row["channel"], row["numbers"], row["of"]) == ("a", 1, 2)
    assert 0.0 < row["apart"] < TOLERANCE
    assert catalogue_bits.differing_channels(ours, ours) == []


@pytest.mark.parametrize(
    "theirs",
    [
        recorded(a=[1.0, 2.0], b=[3, 5]),  # an integer
        recorded(a=[1.0, 2.0 + 1e-11], b=[3, 4]),
        recorded(a=[1.0, np.nan], b=[3, 4]),
        recorded(a=[1.0, 2.0, 3.0], b=[3, 4]),
        recorded(a=[1.0, 2.0]),
    ],
)
def test_more_than_rounding_is_found(theirs: Recorded) -> None:
    rows = catalogue_bits.differing_channels(recorded(a=[1.0, 2.0], b=[3, 4]), theirs)
    assert any(not row["apart"] <= TOLERANCE for row in rows)


def test_other_events_are_found() -> None:
    ours = recorded()
    for event in ({"time": 1.0, "label": "latched"}, {"time": 1.0 + 1e-11, "label": "touch"}, {"time": 1.0}):
        assert catalogue_bits.differing_events(ours, Recorded({}, (event,)), TOLERANCE)
    assert catalogue_bits.differing_events(ours, Recorded({}, ()), TOLERANCE)
    near = Recorded({}, ({"time": 1.0 + 1e-15, "label": "touch"},))
    assert not catalogue_bits.differing_events(ours, near, TOLERANCE)
    assert catalogue_bits.differing_events(ours, near, 0.0)

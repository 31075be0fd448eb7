"""The counts of claims in README are those of the page of all claims; `scripts/claims_table.py` writes both."""

import claims_table
import pytest

from freefloat.scenarios import SCENARIOS
from freefloat.values.claims import tally


@pytest.fixture(scope="module")
def page():
    return claims_table.ALL.read_text(encoding="utf-8")


def test_the_page_says_its_own_counts(page):
    assert f"{tally(claims_table.rows_on(page))}." in page


def test_readme_has_the_counts_of_the_page(page):
    readme = claims_table.README.read_text(encoding="utf-8")
    written = readme.split(claims_table.START)[1].split(claims_table.END)[0].strip()
    assert written == claims_table.counts(claims_table.rows_on(page))


def test_every_scenario_is_counted_once(page):
    for name in SCENARIOS:
        assert sum(name.startswith(start) for start in claims_table.GROUPS) == 1
    assert {row["scenario"] for row in claims_table.rows_on(page)} == set(SCENARIOS)


def test_a_claim_that_fails_is_counted_as_such(page):
    broken = page.replace("| holds |", "| **fails** |", 1)
    assert "1 fail" in claims_table.counts(claims_table.rows_on(broken))

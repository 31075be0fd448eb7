"""The page of a campaign in a real browser, opened from disk."""

from pathlib import Path
from typing import Any

import pytest

from freefloat.campaign import campaign_page, run_campaign
from support import pushed_craft

_EVIL = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked=1'>"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = run_campaign(pushed_craft.campaign(60, title=f"Pushed {_EVIL}"))
    return campaign_page(results, tmp_path_factory.mktemp("campaign") / "page.html", folder="runs/push")


def test_it_opens_from_disk_draws_and_a_run_can_be_chosen(file: Path, open_tab: Any) -> None:
    tab = open_tab(file.as_uri())
    assert tab.page.locator("#histograms article").count() == 4
    assert tab.page.locator("#matrix article").count() == 2 * 4
    assert (
        len(set(tab.page.locator("#histograms .stage").first.screenshot())) > 200
    )  # an empty one compresses to little
    words = tab.page.inner_text("body")
    assert "60 of 60 runs: 60 completed." in words
    assert "speed at most 0.09" in words
    tab.page.locator("[data-run]").first.click()
    run = tab.page.locator("[data-run]").first.inner_text()
    assert f"freefloat campaign replay runs/push {run}" in tab.page.inner_text("#chosen")
    tab.page.locator("#matrix .stage").first.click()
    assert "freefloat campaign replay runs/push" in tab.page.inner_text("#chosen")
    tab.keep("campaign", full_page=True)
    assert tab.page.evaluate("window.hacked") is None
    assert tab.complaints == []
    assert [url for url in tab.requests if not url.startswith(("blob:", "data:"))] == [file.as_uri()]

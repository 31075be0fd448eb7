"""The page of a verdict in a real browser: wide, narrow and on paper."""

from pathlib import Path
from typing import Any

import pytest

from freefloat.hil.judging import judge_rehearsal, verdict_curves
from freefloat.report.verdict_page import refusal_page, verdict_page
from support.judged_rehearsals import healthy, with_declared


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    evidence = with_declared(healthy(), inertia=(1 / 1.2, 1.0, 1.0))
    path = tmp_path_factory.mktemp("verdict") / "verdict.html"
    return verdict_page(judge_rehearsal(evidence), evidence.run, verdict_curves(evidence), path)


def test_a_board_reads_it_on_any_screen_and_on_paper(file: Path, open_tab: Any) -> None:
    tab = open_tab(file.as_uri())
    page = tab.page
    assert page.inner_text("#verdict") == "✗ NO-GO"
    assert "inertia of client: The inertia of client about x is 1.20" in page.inner_text(".reasons")
    assert page.locator("#plots .plot").count() == 10
    assert "axes client.base" in page.inner_text("[data-channel='relative.position']")
    assert len(set(page.locator("[data-channel='contact.force'] .stage").screenshot())) > 200  # it is drawn
    tab.keep("verdict", full_page=True)
    page.set_viewport_size({"width": 420, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    assert page.evaluate("document.querySelector('.judged table').scrollWidth") <= 420
    page.emulate_media(media="print")
    assert page.locator("#theme").is_hidden()
    assert page.locator("#signature code").first.is_visible()
    assert tab.complaints == []
    assert [url for url in tab.requests if not url.startswith(("blob:", "data:"))] == [file.as_uri()]


def test_one_that_could_not_begin_is_shown_too(file: Path, open_tab: Any) -> None:
    path = refusal_page(judge_rehearsal(healthy()), file.with_name("refused.html"))
    tab = open_tab(path.as_uri())
    assert tab.page.locator("#curves").is_hidden()
    assert tab.complaints == []

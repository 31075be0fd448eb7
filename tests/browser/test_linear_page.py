"""The page of a linear model in a real browser: a mode moves, another is chosen, plots are drawn."""

from pathlib import Path
from typing import Any

import pytest

import freefloat as ff
from freefloat.control.lqr import SecondOrderModel, design_lqr, spacecraft_structure
from freefloat.report.linear_pages import linear_page
from support.browsing import not_blank

_EVIL = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked=1'>$$\\unsafe$$"


@pytest.fixture(scope="module")
def craft() -> ff.Spacecraft:
    panel = ff.flex.beam(length=4.0, mass=20.0, bending_stiffness=600.0, modes={"z": 2}, damping_ratio=0.005)
    hub = ff.Spacecraft.from_base("hub", mass=300.0, inertia=(100.0, 120.0, 150.0))
    hub = hub.mount(panel, name="right", at=ff.Pose.from_rpy_deg((0.0, 0.0, 90.0), (0.0, 0.5, 0.0)))
    return hub.mount(panel, name="left", at=ff.Pose.from_rpy_deg((0.0, 0.0, -90.0), (0.0, -0.5, 0.0)))


@pytest.fixture(scope="module")
def file(craft: ff.Spacecraft, tmp_path_factory: pytest.TempPathFactory) -> Path:
    structure = spacecraft_structure(craft)
    regulator = design_lqr(structure, Q=1.0, R=1e-3)
    return linear_page(structure, tmp_path_factory.mktemp("linear") / "modes.html", craft=craft, controller=regulator)


def test_it_opens_from_disk_draws_and_asks_for_nothing(file: Path, open_tab: Any) -> None:
    tab = open_tab(file.as_uri())
    tab.page.wait_for_timeout(300)
    assert not_blank(tab, "#canvas") > 20
    assert tab.page.locator(".charts canvas").count() >= 5
    tab.keep("linear", full_page=True)
    assert tab.complaints == []
    assert [url for url in tab.requests if not url.startswith(("blob:", "data:"))] == [file.as_uri()]


def test_a_mode_moves_stops_and_another_is_chosen_everywhere(file: Path, open_tab: Any) -> None:
    tab = open_tab(file.as_uri())
    first = tab.page.evaluate("freefloat.modes.chosen")
    assert first == 6  # after six free ones
    for _ in range(2):
        size = tab.page.evaluate("freefloat.modes.size")
        tab.page.wait_for_function("size => freefloat.modes.size !== size", arg=size)
    tab.page.click("#play")
    tab.page.wait_for_timeout(60)
    held = tab.page.evaluate("freefloat.modes.size")
    tab.page.wait_for_timeout(150)
    assert tab.page.evaluate("freefloat.modes.size") == held
    tab.page.click("tr[data-mode='8']")
    assert tab.page.evaluate("[freefloat.modes.chosen, freefloat.responses.marked]") == [8, 8]
    assert tab.page.input_value("#mode") == "8"
    tab.page.click("#later")
    assert tab.page.locator("tr.chosen").get_attribute("data-mode") == "9"


def test_bode_plot_follows_its_choice_and_reads_at_the_pointer(file: Path, open_tab: Any) -> None:
    tab = open_tab(file.as_uri())
    tab.page.select_option("#input", "3")
    tab.page.select_option("#output", "3")
    tab.page.wait_for_timeout(400)
    assert tab.page.inner_text("#bode .unit") == "[SI]"
    stage = tab.page.locator("#bode .stage").first
    stage.scroll_into_view_if_needed()
    box = stage.bounding_box()
    tab.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    assert "rad/s: without control" in tab.page.inner_text("#bode .reading")
    tab.page.click("#theme")
    tab.page.wait_for_timeout(400)
    assert tab.complaints == []


def test_names_with_markup_in_them_stay_text(open_tab: Any, tmp_path: Path) -> None:
    model = SecondOrderModel(
        [[1.0]], [[2.0]], [[1.0]], coordinates=(_EVIL,), inputs=(_EVIL,), Cp=[[1.0]], outputs=(_EVIL,)
    )
    path = linear_page(model, tmp_path / "evil.html", title=_EVIL, notes=[_EVIL], units={_EVIL: _EVIL})
    tab = open_tab(path.as_uri())
    tab.page.wait_for_timeout(300)
    assert tab.page.evaluate("typeof window.hacked") == "undefined"
    assert "<script>window.hacked" in tab.page.inner_text("h1")
    assert tab.complaints == []

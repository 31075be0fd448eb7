"""The page of a run in a real browser, opened from disk."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from freefloat.report import compare, page
from freefloat.scenarios import find
from freefloat.sim import Run
from support.browsing import not_blank
from support.recorded import made_up


@pytest.fixture(scope="module")
def gjm_page(gjm_file: Path) -> Path:
    return page(gjm_file, gjm_file.with_name("page.html"))


def _time(tab: Any) -> float:
    return tab.page.evaluate("freefloat.time")


def _picture(tab: Any) -> bytes:
    tab.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return tab.page.locator("#canvas").screenshot()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_from_disk_draws_and_asks_for_nothing(gjm_page: Path, open_tab: Any, scheme: str) -> None:
    tab = open_tab(gjm_page.as_uri(), scheme)
    assert not_blank(tab, "#canvas") > 50
    assert tab.page.locator(".plot").count() == 4
    assert not_blank_plots(tab) > 50
    tab.keep(f"page-{scheme}")
    tab.keep(f"page-{scheme}-whole", full_page=True)
    assert tab.complaints == []
    asked = [url for url in tab.requests if not url.startswith(("blob:", "data:"))]
    assert asked == [gjm_page.as_uri()]


def not_blank_plots(tab: Any) -> int:
    """Distinct bytes in the picture of the first plot: an empty one compresses to little."""
    return len(set(tab.page.locator(".plot .stage").first.screenshot()))


def test_it_answers_what_was_simulated_whether_it_matches_and_what_was_conserved(gjm_page: Path, open_tab: Any) -> None:
    words = open_tab(gjm_page.as_uri()).page.inner_text("body")
    for sentence in (
        "ETS-VII: straight line of the hand",
        "22 s of spacecraft ets7",
        "reaches all 7 reference numbers",
        "Momentum and energy balance",
        "-0.60145 ± 0.0001 deg",
        "angular momentum about the centre of mass",
        "path.length",
    ):
        assert sentence in words


def test_the_run_stands_among_others_like_it(gjm_page: Path, open_tab: Any) -> None:
    tab = open_tab(gjm_page.as_uri())
    card = tab.page.locator(".scatter")
    assert card.count() == 1
    assert "this run: 2.291 m, -0.6014 deg" in card.inner_text()
    assert len(set(card.locator(".stage").screenshot())) > 200
    card.scroll_into_view_if_needed()
    place = tab.page.evaluate(
        """() => {
            const { view, groups: [group], stage } = freefloat.scatters.plots[0];
            const { left, top } = stage.getBoundingClientRect();
            const { x_scale: across, y_scale: up } = view.frame;
            return [left + across.compute(group.xPlace[0]), top + up.compute(group.yPlace[0])];
        }"""
    )
    tab.page.mouse.move(*place)
    plot = Run.load(gjm_page.with_name("run.nc")).description.scatters[0]
    groups = sorted(set(plot.groups), key=lambda word: -plot.groups.count(word))  # the largest is drawn first
    first = plot.groups.index(groups[0])
    pitch = f"{plot.y.values[first]:.4g}"
    assert f"base pitch at the end {pitch} deg ({groups[0]})" in card.locator(".reading").inner_text()
    tab.page.click("#theme")
    tab.page.wait_for_timeout(500)
    tab.keep("page-scatter", full_page=True)
    assert tab.complaints == []


def test_scatters_of_a_scenario_are_drawn_whatever_the_run_lacks(gjm_run: Run, open_tab: Any, tmp_path: Path) -> None:
    plots = tuple(scatter.plot() for scatter in find("ets7-capture").scatters)
    run = dataclasses.replace(gjm_run, description=dataclasses.replace(gjm_run.description, scatters=plots))
    tab = open_tab(page(run, tmp_path / "page.html").as_uri())
    cards = tab.page.locator(".scatter")
    assert cards.count() == 2
    for card in cards.all():
        assert "this run" not in card.inner_text()
        assert len(set(card.locator(".stage").screenshot())) > 200
    assert tab.complaints == []


def test_the_slider_moves_the_scene_the_clock_and_every_cursor(gjm_page: Path, open_tab: Any) -> None:
    tab = open_tab(gjm_page.as_uri())
    tab.page.evaluate("freefloat.scene.camera.distance *= 0.35; freefloat.scene.camera.target = [0, 0, 2];")
    tab.page.evaluate("freefloat.setTime(0)")
    before = _picture(tab)
    tab.page.locator("#time").evaluate(
        "(slider) => { slider.value = 0.5; slider.dispatchEvent(new Event('input', {bubbles: true})); }"
    )
    assert _time(tab) == pytest.approx(11.0)
    assert tab.page.inner_text("#clock") == "11.00 s"
    assert tab.page.evaluate("[...freefloat.plots.open.values()].every((plot) => plot.cursor.location === 11)")
    assert "pitch -0.30" in tab.page.locator(".plot li").nth(1).inner_text()  # half of -0.6 deg
    assert _picture(tab) != before
    tab.keep("page-slider")


def test_the_pointer_on_a_plot_moves_the_scene(gjm_page: Path, open_tab: Any) -> None:
    tab = open_tab(gjm_page.as_uri())
    box = tab.page.locator(".plot .stage").first.bounding_box()
    tab.page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 60)
    tab.page.wait_for_timeout(100)
    assert 10.0 < _time(tab) < 20.0
    assert tab.page.evaluate("freefloat.scene.time") == _time(tab)


def test_playing_advances_and_pauses(gjm_page: Path, open_tab: Any) -> None:
    tab = open_tab(gjm_page.as_uri())
    tab.page.select_option("#speed", "5")
    tab.page.click("#play")
    tab.page.wait_for_timeout(600)
    tab.page.click("#play")
    paused = _time(tab)
    assert paused > 0.5
    tab.page.wait_for_timeout(200)
    assert _time(tab) == paused


def test_any_channel_can_be_added_and_closed(gjm_page: Path, open_tab: Any) -> None:
    tab = open_tab(gjm_page.as_uri())
    tab.page.fill("#pick", "hand.velocity")
    tab.page.locator("#pick").dispatch_event("change")
    card = tab.page.locator('.plot[data-channel="hand.velocity"]')
    card.wait_for()
    assert "[mm/s]" in card.inner_text()
    assert "axes N" in card.inner_text()
    card.locator("header button").click()
    assert tab.page.locator('.plot[data-channel="hand.velocity"]').count() == 0


def test_dark_and_light_can_be_switched(gjm_page: Path, open_tab: Any) -> None:
    tab = open_tab(gjm_page.as_uri())
    ground = "getComputedStyle(document.body).backgroundColor"
    before = tab.page.evaluate(ground)
    tab.page.click("#theme")
    tab.page.wait_for_timeout(300)
    assert tab.page.evaluate(ground) != before
    assert tab.complaints == []


def test_it_prints(gjm_page: Path, open_tab: Any) -> None:
    tab = open_tab(gjm_page.as_uri())
    document = tab.page.pdf(format="A4", print_background=True)
    assert document.startswith(b"%PDF")
    assert len(document) > 30_000


def test_two_runs_lie_over_each_other(gjm_run: Run, open_tab: Any, tmp_path: Path) -> None:
    half = Run(
        recorded=gjm_run.recorded.isel(time=slice(0, 220)),
        audit=gjm_run.audit,
        status="interrupted after 11 s of 22 s",
        scenario=gjm_run.scenario | {"duration": 11.0},
        scene=gjm_run.scene,
    )
    tab = open_tab(compare([gjm_run, half], tmp_path / "compare.html", ["whole", "half"]).as_uri())
    assert tab.page.locator(".plot").first.locator("li").count() == 6
    assert not_blank(tab, "#canvas") > 50
    assert "interrupted after 11 s" in tab.page.inner_text(".top")
    tab.page.evaluate("freefloat.setTime(20)")
    tab.keep("compare")
    assert tab.complaints == []


def test_a_long_run_of_many_channels_stays_small_and_paints_at_once(open_tab: Any, tmp_path: Path) -> None:
    """60 s at 100 Hz of 60 channels: below 6 MB; the paint is measured and shown, not judged (no timed asserts)."""
    file = page(made_up(6000, 60), tmp_path / "long.html")
    assert file.stat().st_size < 6e6
    tab = open_tab(file.as_uri())
    paint = tab.page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    print(f"first paint after {paint:.0f} ms, page of {file.stat().st_size / 1e6:.2f} MB")  # noqa: T201
    assert tab.complaints == []

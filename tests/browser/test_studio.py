"""The studio in a real browser: replay, form with errors beside the field, run, live, abort."""

import importlib.util
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from freefloat.report.scene import scene_of
from freefloat.sim import Run
from support.own_experiment import MINE

pytest.importorskip("viser", reason="viser is not installed")

from freefloat.studio import Studio

_READY = "text=freefloat studio"


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    made = Studio(tmp_path / "runs", port=0)
    yield made
    made.close()


def _until(true: Callable[[], Any], seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)


def _complaints(tab: Any) -> list[str]:
    """Without what viser itself is known to say in a browser without a graphics card."""
    return [c for c in tab.complaints if "THREE.Clock" not in c and "favicon" not in c]


def _field(tab: Any, value: str) -> Any:
    return tab.page.locator(f'input[value="{value}"]').first


def _set_duration(studio: Studio, tab: Any, seconds: float) -> None:
    """Typed into the form, and there on the other side."""
    _field(tab, "22.0").fill(str(seconds))
    _until(lambda: (made := studio.form.scenario()) is not None and made.duration == seconds)


def test_a_run_is_replayed_and_the_time_bar_moves_it(studio: Studio, gjm_folder: Path, open_tab: Any) -> None:
    studio.open(gjm_folder)
    tab = open_tab(studio.url, ready=_READY)
    tab.page.wait_for_selector("text=all 7 reference numbers")
    tab.page.wait_for_timeout(1500)
    before = tab.page.locator("canvas").first.screenshot()
    replay = studio._stage
    replay.bar.value = 22.0
    replay.show_time(22.0)
    tab.page.wait_for_timeout(800)
    assert tab.page.locator("canvas").first.screenshot() != before
    tab.keep("studio-replay")
    own = studio.url.partition("?")[0]
    outside = [url for url in tab.requests if not url.startswith((own, "data:", "blob:", "ws:"))]
    assert outside == []
    assert _complaints(tab) == []


def test_a_second_viewer_may_come_and_go(studio: Studio, gjm_folder: Path, open_tab: Any) -> None:
    first, second = (open_tab(studio.url, ready=_READY) for _ in range(2))
    second.page.close()
    studio.open(gjm_folder)
    first.page.wait_for_selector("text=all 7 reference numbers")


def test_what_is_wrong_stands_beside_its_field_and_nothing_starts(studio: Studio, open_tab: Any) -> None:
    tab = open_tab(studio.url, ready=_READY)
    _field(tab, "22.0").fill("-3")
    tab.page.wait_for_selector("text=must be > 0")
    _field(tab, "0.05").fill("quick")
    tab.page.wait_for_selector("text='quick' is not a number")
    tab.page.get_by_role("button", name="Run", exact=True).click()
    tab.page.wait_for_selector("text=Some settings cannot be")
    tab.keep("studio-faults")
    assert studio._source is None
    _field(tab, "-3").fill("2.0")
    tab.page.wait_for_selector("text=must be > 0", state="detached")
    assert _complaints(tab) == []


def test_a_run_from_the_form_completes_and_is_kept(studio: Studio, open_tab: Any) -> None:
    tab = open_tab(studio.url, ready=_READY)
    _set_duration(studio, tab, 2.0)
    tab.page.get_by_role("button", name="Run", exact=True).click()
    tab.page.wait_for_selector("text=2 s of spacecraft ets7", timeout=120_000)
    folder = next(studio.runs.iterdir())
    assert {file.name for file in folder.iterdir()} == {"run.nc", "scenario.toml", "summary.json", "page.html"}
    run = Run.load(folder / "run.nc")
    assert run.completed
    assert run.scenario["duration"] == 2.0
    tab.keep("studio-run")
    assert _complaints(tab) == []


def test_a_live_run_moves_shows_its_lights_and_can_be_aborted(studio: Studio, open_tab: Any) -> None:
    tab = open_tab(studio.url, ready=_READY)
    _set_duration(studio, tab, 600.0)  # so that nobody is too late to abort it
    tab.page.get_by_role("button", name="Run live").click()
    tab.page.wait_for_selector("text=/live: [1-9]/", timeout=120_000)
    tab.page.wait_for_selector("text=late by")
    assert "simulation" in tab.page.inner_text("body")
    tab.keep("studio-live")
    tab.page.get_by_role("button", name="Abort").click()
    _until(lambda: studio._source is None)
    run = Run.load(next(studio.runs.glob("*/run.nc")))
    assert run.status.startswith("interrupted after")
    assert 0 < run.data.sizes["time"] < 12001
    tab.page.wait_for_selector("text=interrupted after")
    assert _complaints(tab) == []


@pytest.mark.skipif(importlib.util.find_spec("mujoco") is None, reason="no MuJoCo for the virtual cell")
def test_a_rehearsal_shows_orbit_and_cell_side_by_side(studio: Studio, open_tab: Any) -> None:
    studio.choose("envisat-free")
    tab = open_tab(studio.url, ready=_READY)
    tab.page.get_by_role("button", name="Rehearse live").click()
    tab.page.wait_for_selector("text=/live: [1-9]/", timeout=120_000)
    body = tab.page.inner_text("body")
    assert all(word in body for word in ("simulation", "facility", "deadline"))
    tab.keep("studio-rehearsal")
    tab.page.get_by_role("button", name="Abort").click()
    _until(lambda: studio._source is None)
    folder = next(studio.runs.glob("*/run.nc")).parent
    run = Run.load(folder / "run.nc")
    assert "interrupted" in run.status
    assert (folder / "cell.html").exists()
    seen = scene_of(run)
    assert seen is not None
    assert {"client.base", "servicer.gripper", "cell.client.ring"} <= set(seen.bodies)
    assert _complaints(tab) == []


def test_a_file_of_the_user_s_own_is_set_up_run_and_replayed(studio: Studio, tmp_path: Path, open_tab: Any) -> None:
    file = tmp_path / "my_experiment.py"
    file.write_text(MINE)
    studio.choose(str(file))
    tab = open_tab(studio.url, ready=_READY)
    _field(tab, "2.5").fill("3.5")  # the gain
    tab.page.wait_for_timeout(300)
    tab.page.get_by_role("button", name="Run", exact=True).click()
    tab.page.wait_for_selector("text=2 s of spacecraft hub", timeout=120_000)
    run = Run.load(next(studio.runs.glob("my_experiment-*/run.nc")))
    assert run.completed
    assert run.scenario["gain"] == 3.5
    tab.keep("studio-own-file")
    assert _complaints(tab) == []


def test_from_elsewhere_only_the_token_opens_the_door(tmp_path: Path, open_tab: Any) -> None:
    studio = Studio(tmp_path / "runs", host="0.0.0.0", port=0)
    try:
        url = studio.url.replace("0.0.0.0", "127.0.0.1")
        refused = open_tab(url.partition("?")[0], ready="text=asks for the token")
        assert "freefloat studio" not in refused.page.inner_text("body")
        tab = open_tab(url, ready=_READY)
        tab.page.wait_for_selector("text=path.length [m]")  # the panel came through the socket
        assert "token" not in tab.page.url
    finally:
        studio.close()

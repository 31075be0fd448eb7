"""The page of maps in a real browser, opened from disk."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

from freefloat.analysis import disturbance_map, singularity_map
from freefloat.library import ets7
from freefloat.report import map_page

_EVIL = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked=1'>$$\\unsafe$$"
Q0 = np.deg2rad([0.0, 0.0, 10.0, -32.8, 0.0, 0.0])


@pytest.fixture(scope="module")
def maps() -> list[xarray.Dataset]:
    craft = ets7().with_value("base.mass", 200.0).with_value("base.inertia", np.diag([60.0, 40.0, 60.0]))
    plane = {"arm.2": np.deg2rad(np.linspace(-180, 180, 37)), "arm.3": np.deg2rad(np.linspace(-90, 90, 19))}
    return [disturbance_map(craft, Q0, plane), singularity_map(craft, Q0, plane, "hand")]


@pytest.fixture(scope="module")
def file(maps: list[xarray.Dataset], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return map_page(maps, tmp_path_factory.mktemp("maps") / "map.html")


def _colours(tab: Any, number: int) -> int:
    """Distinct bytes in the picture of a map: an empty one compresses to little."""
    return len(set(tab.page.locator("#maps .stage").nth(number).screenshot()))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_from_disk_draws_and_asks_for_nothing(file: Path, open_tab: Any, scheme: str) -> None:
    tab = open_tab(file.as_uri(), scheme)
    assert tab.page.locator("#maps article").count() == 4
    assert all(_colours(tab, k) > 200 for k in range(4))
    words = tab.page.inner_text("body")
    assert "Joint motion turns the base most at" in words
    assert "dynamic singularity" in words
    tab.keep(f"map-{scheme}", full_page=True)
    assert tab.complaints == []
    assert [url for url in tab.requests if not url.startswith(("blob:", "data:"))] == [file.as_uri()]


def test_the_configuration_is_read_first_and_the_pointer_reads_any_point(
    file: Path, maps: list[xarray.Dataset], open_tab: Any
) -> None:
    tab = open_tab(file.as_uri())
    here = maps[0].sel({"arm.2": 0.0, "arm.3": np.deg2rad(10.0)}, method="nearest")
    assert tab.page.inner_text("#where") == "At the configuration"
    assert tab.page.inner_text("#place") == "arm.2 0 deg, arm.3 10 deg"
    assert float(tab.page.inner_text("#numbers dd").split()[0]) == pytest.approx(float(here["largest"]), abs=5e-5)
    box = tab.page.locator("#maps .stage").first.bounding_box()
    tab.page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
    assert tab.page.inner_text("#where") == "At the pointer"
    i, j = tab.page.evaluate("freefloat.cursor")
    value = float(maps[0]["largest"].values[i, j])
    assert float(tab.page.inner_text("#numbers dd").split()[0]) == pytest.approx(value, abs=5e-5)
    shares = [abs(float(text)) for text in tab.page.locator("#direction output").all_inner_texts()]
    assert shares == pytest.approx(np.abs(maps[0]["worst"].values[i, j]), abs=6e-3)
    tab.keep("map-pointer")
    tab.page.mouse.move(5, 5)
    assert tab.page.inner_text("#where") == "At the configuration"


def test_it_changes_its_theme_and_prints(file: Path, open_tab: Any) -> None:
    tab = open_tab(file.as_uri())
    tab.page.click("#theme")
    tab.page.wait_for_timeout(500)
    assert tab.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert tab.page.pdf(format="A4", print_background=True).startswith(b"%PDF")
    assert tab.complaints == []


def test_names_with_markup_in_them_stay_text(maps: list[xarray.Dataset], open_tab: Any, tmp_path: Path) -> None:
    names = [_EVIL, *map(str, maps[0]["joint"].values[1:])]
    data = maps[0].assign_coords(joint=["arm.1", _EVIL, *names[2:]]).rename({"arm.2": _EVIL})
    data.attrs["spacecraft"] = _EVIL
    data["largest"].attrs |= {"long_name": _EVIL, "units": _EVIL}
    data["largest"].values[3:6] = np.nan
    tab = open_tab(map_page(data, tmp_path / "map.html").as_uri())
    tab.page.wait_for_timeout(300)
    assert tab.page.evaluate("typeof window.hacked") == "undefined"
    assert "<script>window.hacked" in tab.page.inner_text("h1")
    assert tab.complaints == []
    tab.keep("map-hostile", full_page=True)

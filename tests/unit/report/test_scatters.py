"""Many runs as points: where they stand, what is counted, and a run among them."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import xarray

from freefloat.report import compare, page
from freefloat.report.payload import Bytes
from freefloat.report.scatters import beyond, marks, scatter_contents, side
from freefloat.report.sections import Sheet
from freefloat.scenarios import SCENARIOS
from freefloat.scenarios.figures import Axis, Mark, Scatter
from freefloat.sim import Run
from recorded import made_up


def _table() -> xarray.Dataset:
    return xarray.Dataset(
        {
            "x": ("row", np.array([1.0, 2.0, np.inf]), {"units": "s"}),
            "y": ("row", np.array([0.0, 0.1, 1.0]), {"units": "deg"}),
            "kind": ("row", np.array(["few", "many", "many"])),
        },
        attrs={"made by": "a test"},
    )


def test_points_stand_where_they_belong_or_at_the_ends() -> None:
    never = side(_table(), Axis("x", "time", never=4.0))
    np.testing.assert_array_equal(never.places, [1.0, 2.0, 4.0])
    assert never.limits == pytest.approx((0.85, 4.15))
    assert never.label == "time [s]"
    cut = side(_table(), Axis("y", "angle", (0.05, 0.5), logarithmic=True))
    np.testing.assert_array_equal(cut.places, [0.05, 0.1, 0.5])
    assert beyond(never, cut) == "2 of 3 points lie beyond the axes and are drawn at their ends."
    assert beyond(never, side(_table(), Axis("y", "angle"))) == ""
    free = side(_table(), Axis("y", "angle", logarithmic=True))
    assert 0.08 < free.limits[0] < 0.1  # a logarithmic axis starts at the smallest positive value


def test_marks_of_runs_that_do_not_tell_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(run: Run, data: xarray.Dataset) -> list[Mark]:
        return [Mark("this run", run.scenario["x"], None), Mark("elsewhere", 1.0, 1.0), Mark("nowhere", np.nan, 1.0)]

    scatter = Scatter("title", "table", Axis("x", "time"), Axis("y", "angle"), "kind", lambda data: "", marks=told)
    monkeypatch.setattr(Scatter, "data", lambda self: _table())
    x, y = side(_table(), scatter.x), side(_table(), scatter.y)
    good, bad = (
        Sheet(name, dataclasses.replace(made_up(2, 1), scenario=s)) for name, s in (("a", {"x": 2.0}), ("b", {}))
    )
    assert marks(scatter, [good, bad], x, y) == [Mark("a", 2.0, None), Mark("elsewhere", 1.0, 1.0)]


def test_the_page_of_a_run_shows_it_among_the_others(gjm_run: Run, tmp_path: Path) -> None:
    words = page(gjm_run, tmp_path / "page.html").read_text()
    scenario = SCENARIOS["ets7-gjm"]
    assert "Is this run typical?" in words
    assert scenario.note in words
    assert scenario.scatters[0].words().replace("'", "&#x27;") in words
    assert "Made by: python docs/start_poses.py" in words
    (contents,) = scatter_contents([Sheet("", gjm_run)], Bytes())
    assert [mark["label"] for mark in contents["marks"]] == ["this run: -22.8 deg, -0.6014 deg"]
    json.dumps(contents, allow_nan=False)
    both = compare([gjm_run, gjm_run], tmp_path / "both.html", ["one", "two"]).read_text()
    assert both.count("Is this run typical?") == 1


def test_a_run_without_scatters_has_no_such_section(tmp_path: Path) -> None:
    assert "Is this run typical?" not in page(made_up(5, 1), tmp_path / "page.html").read_text()

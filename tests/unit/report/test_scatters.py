"""Many runs as points: where they stand, what is counted, and a run among them."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from freefloat.report import compare, page
from freefloat.report.payload import ArrayStore
from freefloat.report.scatters import beyond_sentence, plot_axis, scatter_contents, scatters_of
from freefloat.report.sections import Sheet
from freefloat.sim import Run
from freefloat.sim.record.description import Mark, ScatterAxis, ScatterPlot
from support.recorded import made_up

X = ScatterAxis("time", "s", (1.0, 2.0, np.inf))
Y = ScatterAxis("angle", "deg", (0.0, 0.1, 1.0))


def test_points_stand_where_they_belong_or_at_the_ends() -> None:
    never = plot_axis(dataclasses.replace(X, never=4.0))
    np.testing.assert_array_equal(never.places, [1.0, 2.0, 4.0])
    assert never.limits == pytest.approx((0.85, 4.15))
    assert never.label == "time [s]"
    cut = plot_axis(dataclasses.replace(Y, limits=(0.05, 0.5), logarithmic=True))
    np.testing.assert_array_equal(cut.places, [0.05, 0.1, 0.5])
    assert beyond_sentence(never, cut) == "2 of 3 points lie beyond the axes and are drawn at their ends."
    assert beyond_sentence(never, plot_axis(Y)) == ""
    free = plot_axis(dataclasses.replace(Y, logarithmic=True))
    assert 0.08 < free.limits[0] < 0.1  # a logarithmic axis starts at the smallest positive value


def _with_marks(*marks: Mark) -> Run:
    plot = ScatterPlot("title", X, Y, ("few", "many", "many"), "A sentence.", "a test", marks=marks)
    run = made_up(2, 1)
    return dataclasses.replace(run, description=dataclasses.replace(run.description, scatters=(plot,)))


def test_runs_of_one_page_share_a_scatter_and_each_has_its_mark() -> None:
    first, second = _with_marks(Mark("this run", 2.0, None), Mark("elsewhere", 1.0, 1.0)), _with_marks()
    (plot,) = scatters_of([Sheet("a", first), Sheet("b", second), Sheet("c", first)])
    assert plot.marks == (Mark("a", 2.0, None), Mark("elsewhere", 1.0, 1.0), Mark("c", 2.0, None))


def test_a_mark_without_a_place_is_not_drawn() -> None:
    run = _with_marks(Mark("nowhere", np.nan, 1.0), Mark("here", 2.0, 1.0))
    (contents,) = scatter_contents([Sheet("", run)], ArrayStore())
    assert [mark["label"] for mark in contents["marks"]] == ["here: 2 s, 1 deg"]


def test_the_page_of_a_run_shows_it_among_the_others(gjm_run: Run, tmp_path: Path) -> None:
    words = page(gjm_run, tmp_path / "page.html").read_text()
    told = gjm_run.description
    assert "Is this run typical?" in words
    assert told.notes[0] in words
    assert told.scatters[0].sentence.replace("'", "&#x27;") in words
    assert f"Made by: {told.scatters[0].made_by}" in words
    (contents,) = scatter_contents([Sheet("", gjm_run)], ArrayStore())
    assert [mark["label"] for mark in contents["marks"]] == ["this run: 2.291 m, -0.6014 deg"]
    json.dumps(contents, allow_nan=False)
    both = compare([gjm_run, gjm_run], tmp_path / "both.html", ["one", "two"]).read_text()
    assert both.count("Is this run typical?") == 1


def test_a_run_without_scatters_has_no_such_section(tmp_path: Path) -> None:
    assert "Is this run typical?" not in page(made_up(5, 1), tmp_path / "page.html").read_text()

"""Tables of many runs: they survive writing, and the sentences and pages of the scenarios are counted from them."""

import re
from pathlib import Path

import numpy as np
import pytest
import xarray

from freefloat.scenarios import SCENARIOS
from freefloat.scenarios.ets7.capture_scatter import contrast_counts
from freefloat.scenarios.tables import load_table, parse_table, save_table

DOCS = Path(__file__).parents[3] / "docs"
SCATTERS = [scatter for scenario in SCENARIOS.values() for scatter in scenario.scatters]


def test_a_table_survives_being_written(tmp_path: Path) -> None:
    data = xarray.Dataset(
        {
            "time": ("case", np.array([1.234567, np.inf]), {"units": "s"}),
            "place": (("case", "xyz"), np.array([[1.0, 2.0, 3.0], [-1.0, 0.0, 1e-9]]), {"units": "m"}),
            "word": ("case", np.array(["so", "not, so"])),
        },
        attrs={"seed": 3, "torque": 0.1, "said": "by: whom"},
    )
    text = save_table(data, tmp_path / "table.csv", "make it").read_text()
    assert text.startswith("# made by: make it\n# seed: 3\n")
    again = parse_table(text)
    assert list(again) == ["time", "place.1", "place.2", "place.3", "word"]
    np.testing.assert_array_equal(again["time"].values, [1.234567, np.inf])  # seven digits
    assert again["place.3"].values[1] == 1e-9
    assert again["place.1"].attrs["units"] == "m"
    assert list(again["word"].values) == ["so", "not, so"]
    assert again.attrs == {"made by": "make it", "seed": 3.0, "torque": 0.1, "said": "by: whom"}


@pytest.mark.parametrize("scatter", SCATTERS, ids=lambda scatter: scatter.title)
def test_every_scatter_has_its_table_and_the_command_that_makes_it(scatter) -> None:
    data = scatter.data()
    assert {scatter.x.column, scatter.y.column, scatter.group} <= set(data)
    command = data.attrs["made by"]
    assert (DOCS.parent / command.removeprefix("python ")).exists()
    assert scatter.words()


def test_the_sentence_of_the_capture_is_counted() -> None:
    data = load_table("ets7_capture.csv")
    times, attitudes = (scatter.words() for scatter in SCENARIOS["ets7-capture"].scatters)
    good = (data["case1.captured"].values < np.inf) & (data["case1.attitude"].values <= 0.5)
    slower = good & (data["case2.captured"].values > data["case1.captured"].values)
    assert f"captured below 0.5 deg in {good.sum()};" in times
    assert f"did not capture, in {slower.sum()}," in times
    assert contrast_counts(data)["case 1 captures below 0.5 deg"] == good.sum()
    more = good & (data["case2.attitude"].values > data["case1.attitude"].values)
    assert f"disturbed the attitude more in {more.sum()};" in attitudes
    changed = data.isel(row=slice(0, 100))
    assert SCENARIOS["ets7-capture"].scatters[0].sentence(changed).startswith("Of 100 random geometries")


def test_the_sentence_of_the_start_poses_is_counted() -> None:
    data, (scatter,) = load_table("ets7_start_poses.csv"), SCENARIOS["ets7-gjm"].scatters
    assert f"Of {data.attrs['poses']:.0f} start poses" in scatter.words()
    pitch = data["pitch"].values
    assert f"From the other {pitch.size} the base" in scatter.words()
    assert f"{pitch.min():.3f} to {pitch.max():.3f} deg" in scatter.words()
    assert pitch.size + data.attrs["low"] + data.attrs["fast"] == data.attrs["poses"]


@pytest.mark.parametrize("scatter", SCATTERS, ids=lambda scatter: scatter.title)
def test_the_documentation_says_what_the_table_says(scatter) -> None:
    words = re.sub(r"\s+", " ", (DOCS / "ets7.md").read_text(encoding="utf-8"))
    assert scatter.words() in words, f"Run {scatter.data().attrs['made by']} --draw"

"""Runs that older versions wrote: they still load and make pages."""

from pathlib import Path

import numpy as np
import pytest

import freefloat as ff
from freefloat.sim import Run

DATA = Path(__file__).parents[2] / "data"
# Format 1: goddard-symmetric, 25-kg shortened, written by 0.1.0. Format 2: ets7-capture, one second of case 1, without
# its scatters, written before there were worlds: the target was no spacecraft, and laws were everything at once.
FILES = ("run_format_1.nc", "run_format_2.nc")


@pytest.mark.parametrize("name", FILES)
def test_an_old_run_makes_a_page_and_is_saved_in_the_format_of_today(name: str, tmp_path: Path) -> None:
    run = Run.load(DATA / name)
    assert run.completed
    assert run.audit.holds
    assert run.scenario["scenario"] in ff.page(DATA / name, tmp_path / "page.html").read_text()
    again = Run.load(run.save(tmp_path / "run.nc"))
    assert again.data.identical(run.data)
    assert again.description == run.description


def test_laws_of_format_2_are_parts_of_today(tmp_path: Path) -> None:
    run = Run.load(DATA / "run_format_2.nc")
    assert [(part["part"], part["kind"]) for part in run.description.parts] == [
        ("CaptureApproach", "law"),
        ("AttitudeHold", "law"),
    ]
    assert run.description.parts[1]["stiffness"] == 10.0
    assert run.description.title == "ETS-VII: autonomous capture of a drifting target"
    assert np.linalg.norm(run["hand.position_error"].values[0]) == pytest.approx(0.4, abs=1e-12)
    assert "law 1.limits.gain" in ff.page(run, tmp_path / "page.html").read_text()

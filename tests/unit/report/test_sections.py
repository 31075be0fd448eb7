"""What stands at the head of a page: the worst first. And what differs between two runs, parts included."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from freefloat.report import compare
from freefloat.report.sections import Sheet, badges, settings
from freefloat.sim import Run
from freefloat.values.labelled import LabelledArrays
from support.recorded import made_up


def _words(markup: str) -> list[str]:
    return re.findall(r"<span class=\"(\w+)\">(.*?)</span>", markup)  # pyright: ignore[reportReturnType]


def _with_channel(run: Run, name: str, values: np.ndarray, **attributes: Any) -> Run:
    dims = ("time",) if values.ndim == 1 else ("time", "rpy")
    coords = {} if values.ndim == 1 else {"rpy": ["roll", "pitch", "yaw"]}
    channel = xarray.DataArray(values, dims=dims, coords=coords, attrs={"units": "1", "frame": "", **attributes})
    return dataclasses.replace(run, recorded=LabelledArrays.of(run.data.assign({name: channel})))


def test_a_run_that_is_saturated_all_the_time_says_so_before_anything_good() -> None:
    saturated = np.ones(1000)
    saturated[0] = 0.0
    run = _with_channel(made_up(1000, 1), "wheels.condition", saturated, flags=["normal", "torque limit"])
    first, *others = _words(badges(run))
    assert first == ("caution", "! wheels.condition: torque limit 99.9 % of the time")
    assert [colour for colour, _ in others] == ["good", "good"]


def test_badges_go_from_bad_to_good() -> None:
    run = made_up(4, 1)
    entry = dataclasses.replace(run.audit.entries[0], value=1.0)
    audit = dataclasses.replace(run.audit, entries=(entry,), warnings=("bent too far",))
    rows = [{"claim": "a", "holds": holds, "kind": kind} for holds, kind in ((True, "exact"), (None, "printed"))]
    bad = dataclasses.replace(run, audit=audit, claims=tuple(rows))
    assert [colour for colour, _ in _words(badges(bad))] == ["bad", "caution", "caution", "good", "good"]
    assert "! warning: bent too far" in badges(bad)
    assert "! 1 not reproduced" in badges(bad)
    assert "1 of 1 reference numbers reached: 1 exact" in badges(bad)


def test_angles_near_a_pole_are_said() -> None:
    angles = np.zeros((4, 3))
    angles[:2, 1] = np.deg2rad(88.0)
    run = _with_channel(made_up(4, 1), "base.roll_pitch_yaw", angles, units="rad")
    assert "! base.roll_pitch_yaw: near a pole of the angles 50 % of the time" in badges(run)


def _with_gain(gain: float) -> Run:
    run, part = made_up(2, 1), {"part": "Hold", "kind": "software", "gain": gain, "frame": "hand"}
    return dataclasses.replace(run, description=dataclasses.replace(run.description, parts=(part,)))


def test_a_comparison_shows_what_differs_first_parts_included(tmp_path: Path) -> None:
    soft, stiff = _with_gain(10.0), _with_gain(20.0)
    words = settings([Sheet("soft", soft), Sheet("stiff", stiff)])
    before, after = words.split("<details>")
    assert "software 1.gain" in before
    assert "<td>10</td><td>20</td>" in before
    assert "software 1.frame" not in before
    assert "software 1.frame" in after
    assert "software 1.gain" in compare([soft, stiff], tmp_path / "both.html", ["soft", "stiff"]).read_text()

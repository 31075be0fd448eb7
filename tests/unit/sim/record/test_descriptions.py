"""What a run tells of itself: parts with their gains, start, limits; it survives its file, and old files are read."""

from pathlib import Path

import numpy as np
import pytest

import freefloat as ff
from freefloat.control import AttitudeHold
from freefloat.sensors import Gyro
from freefloat.sim import Run
from freefloat.sim.record.description import Description, Figure, Guide, Mark, ScatterAxis, ScatterPlot
from freefloat.sim.record.part_description import describe_part

OLD_FILE = (
    Path(__file__).parents[3] / "data" / "run_format_1.nc"
)  # goddard-symmetric, 25-kg shortened, written by 0.1.0


def _line(craft: ff.Spacecraft, period: float | None = None) -> ff.ResolvedMotion:
    path = ff.Line(direction=(1, 0, 0), length=0.2, speed=0.01)
    return ff.ResolvedMotion(craft=craft, frame="hand", path=path, period=period)


def test_software_is_described_with_every_number_in_it() -> None:
    craft = ff.library.ets7()
    told = describe_part(_line(craft, period=0.25), craft)
    assert told["part"] == "ResolvedMotion"
    assert told["kind"] == "software"
    assert told["period"] == 0.25
    assert told["frame"] == "hand"
    assert told["path.length"] == 0.2
    assert told["path"] == "Line"
    assert told["craft"] == "ets7, as simulated"
    heavier = craft.with_value("base.mass", 2600.0)
    assert describe_part(_line(heavier), craft)["craft"] == "ets7, a model of its own, 2740.4 kg"


def test_gains_differ_in_their_descriptions() -> None:
    craft = ff.library.ets7(wheels=True)
    soft, stiff = (describe_part(AttitudeHold(craft=craft, stiffness=k), craft) for k in (10.0, 20.0))
    assert {path for path in soft if soft[path] != stiff[path]} == {"stiffness"}


def test_every_kind_of_part_is_told() -> None:
    craft = ff.library.ets7(wheels=True)
    push = ff.WrenchPulse(frame="base", wrench=(1, 0, 0, 0, 0, 0))
    told = [describe_part(part, craft) for part in (Gyro(name="first"), push)]
    assert [part["kind"] for part in told] == ["sensor", "effect"]
    assert told[0]["name"] == "first"


def test_a_run_brings_its_parts_start_and_limits_along(tmp_path: Path) -> None:
    craft = ff.library.ets7(wheels=True).with_value("wheel.x.max_torque", 0.05)
    run = ff.simulate(craft, _line(craft), joints_deg=(0, 0, 10, -32.8, 0, 0), duration=0.1, dt=0.05)
    told = Run.load(run.save(tmp_path / "run.nc")).description
    assert told == run.description
    assert [part["part"] for part in told.parts] == ["ResolvedMotion"]
    assert told.start["arm.3 position"] == pytest.approx([np.deg2rad(10.0)])
    assert told.limits["wheel.x max_torque"] == 0.05


def test_a_description_survives_being_plain_data() -> None:
    axis = ScatterAxis("time", "s", (1.0, np.inf), limits=(0.0, 5.0), never=4.0)
    plot = ScatterPlot("t", axis, axis, ("a", "b"), "Words.", "a test", (Guide(1.0, "g"),), (Mark("m", np.inf, None),))
    told = Description("t", "s", "p", ("n",), "o", (Figure("a.b", "mm"),), (plot,), {"dt": "s"}, ({"part": "L"},))
    assert Description.from_dict(told.as_dict()) == told


def test_laws_of_format_2_become_parts() -> None:
    old = {name: value for name, value in Description("t").as_dict().items() if name != "parts"}
    told = Description.from_dict(old | {"laws": [{"law": "AttitudeHold", "stiffness": 10.0}]})
    assert told.parts == ({"part": "AttitudeHold", "kind": "law", "stiffness": 10.0},)


def test_a_file_of_format_1_is_read() -> None:
    run = Run.load(OLD_FILE)
    assert run.completed
    assert run.scenario["scenario"] == "goddard-symmetric"
    assert run.variant == "custom"
    assert run.description == Description()
    assert run.audit.holds


def test_claims_of_format_1_get_todays_names(tmp_path: Path) -> None:
    import json

    import xarray

    row = {"claim": "c", "source": "s", "relation": "below", "published": 2.0, "ours": 1.0, "unit": "m"}
    row |= {"tolerance": None, "holds": True, "scenario": "x", "variant": "y"}
    with xarray.open_dataset(OLD_FILE, engine="h5netcdf") as opened:
        data = opened.load().assign_attrs(claims=json.dumps([row]))
    data.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    (claim,) = Run.load(tmp_path / "run.nc").claims
    assert claim["reference"] == 2.0
    assert claim["kind"] == ""
    words = ff.page(tmp_path / "run.nc", tmp_path / "page.html").read_text()
    assert "1 of 1 reference numbers reached: 1 unstated" in words


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    import xarray

    with xarray.open_dataset(OLD_FILE, engine="h5netcdf") as opened:
        data = opened.load().assign_attrs(format_version=99)
    data.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    with pytest.raises(ValueError, match="run format 99, this freefloat reads formats 1 to 5"):
        Run.load(tmp_path / "run.nc")

"""Labelled arrays say what xarray says, and their files are those that others read."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray

from freefloat.values.labelled import LabelledArrays
from freefloat.values.netcdf import read_netcdf, rewrite_attribute, write_netcdf


@pytest.fixture
def data(rng: np.random.Generator) -> LabelledArrays:
    """Every kind of array that a run has: vectors, truth values, words, counters, axes without names or length."""
    return LabelledArrays(
        {
            "base.position": (("time", "xyz"), rng.normal(size=(5, 3)), {"units": "m", "frame": "N"}),
            "wheels.condition": (("time", "wheel"), np.zeros((5, 2)), {"flags": ["fine", "torque limit"]}),
            "state.q": (("time", "coordinate"), rng.normal(size=(5, 4)), {"units": "SI"}),
            "state.none": (("time", "nothing"), np.zeros((5, 0))),
            "latched": ("time", np.array([False, True, True, False, True])),
            "tick": ((), np.int32(7)),
            "key": ("word", np.array([1, 2**32 - 1], dtype=np.uint32)),
            "scene": ((), '{"name": "größer als 64 kB", "x": "' + 70_000 * "y" + '"}'),
            "gap": ("time", np.array([0.0, np.nan, np.inf, -np.inf, 1.0])),
        },
        {"time": ("time", 0.1 * np.arange(5), {"units": "s"}), "xyz": ["x", "y", "z"], "wheel": ["a", "b"]},
        {"format_version": 3, "status": "completed"},
    )


def test_it_is_the_same_as_xarray_s(data: LabelledArrays) -> None:
    theirs = data.as_dataset()
    assert dict(theirs.sizes) == data.sizes
    assert list(theirs.data_vars) == list(data)
    assert theirs["base.position"].values is data["base.position"].values or np.shares_memory(
        theirs["base.position"].values, data["base.position"].values
    )
    again = LabelledArrays.of(theirs)
    assert again.as_dataset().identical(theirs)
    some = slice(1, 4)
    assert data.isel(time=some).as_dataset().identical(theirs.isel(time=some))
    rows = np.array([4, 0])
    assert data.isel(time=rows).as_dataset().identical(theirs.isel(time=rows))
    for name, axis in (("base.position", "xyz"), ("state.q", "coordinate"), ("gap", "time")):
        np.testing.assert_array_equal(data[name].along(axis), theirs[name][axis].values)
        assert set(data[name].coords) == set(theirs[name].coords)


def test_a_file_is_read_as_one_that_xarray_wrote(data: LabelledArrays, tmp_path: Path) -> None:
    write_netcdf(data, tmp_path / "ours.nc")
    data.as_dataset().to_netcdf(tmp_path / "theirs.nc", engine="h5netcdf")
    ours, theirs = (xarray.load_dataset(tmp_path / f"{who}.nc", engine="h5netcdf") for who in ("ours", "theirs"))
    assert ours.identical(theirs)
    assert ours["latched"].dtype == bool
    for name in data:
        assert ours[name].dtype == theirs[name].dtype, name
    for who in ("ours", "theirs"):
        assert read_netcdf(tmp_path / f"{who}.nc").as_dataset().identical(theirs), who


def test_one_fact_of_a_file_can_be_changed(data: LabelledArrays, tmp_path: Path) -> None:
    file = tmp_path / "data.nc"
    write_netcdf(data, file)
    rewrite_attribute(file, "status", "judged")
    again = xarray.load_dataset(file, engine="h5netcdf")
    assert again.attrs == {"format_version": 3, "status": "judged"}
    assert again.drop_attrs(deep=False).identical(data.as_dataset().drop_attrs(deep=False))


def test_a_slash_in_a_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no slash in a name: 'hand/force'. Give the channel another name"):
        write_netcdf(LabelledArrays({"hand/force": ("time", np.zeros(2))}), tmp_path / "data.nc")
    assert not list(tmp_path.iterdir())


def test_a_run_imports_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    """Simulated, saved and shown on its page. A negative control: a data set needs xarray."""
    program = (
        "import sys, freefloat as ff\n"
        "hub = ff.Spacecraft.from_base('hub', mass=10.0, inertia=(1.0, 1.0, 1.0))\n"
        "run = ff.simulate(hub, duration=1.0)\n"
        f"run.save({str(tmp_path / 'run.nc')!r}); ff.page(run, {str(tmp_path / 'page.html')!r})\n"
        "heavy = {'xarray', 'pandas', 'scipy', 'bokeh', 'pydantic', 'matplotlib', 'viser', 'skfem', 'xml'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "run.data; print('xarray' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "True"]

"""One labelled array answers as xarray's DataArray does, and hands over what it does not know."""

import copy
import operator
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import xarray

from freefloat.values.labelled import LabelledArrays
from freefloat.values.labelled_array import LabelledArray, from_xarray


@pytest.fixture
def arrays(rng: np.random.Generator) -> LabelledArrays:
    """Vectors over time, their like in another unit, names alone, an axis without names, and a hole."""
    hole = rng.normal(size=(6, 3))
    hole[2, 1] = np.nan
    return LabelledArrays(
        {
            "r": (("time", "xyz"), rng.normal(size=(6, 3)), {"units": "m", "frame": "N"}),
            "v": (("time", "xyz"), rng.normal(size=(6, 3)), {"units": "m/s", "frame": "N"}),
            "lever": ("xyz", np.array([1.0, 2.0, 3.0]), {"units": "m"}),
            "q": (("time", "coordinate"), rng.normal(size=(6, 4))),
            "hole": (("time", "xyz"), hole),
            "on": ("time", np.array([False, True, True, False, True, False])),
        },
        {"time": ("time", 0.1 * np.arange(6), {"units": "s"}), "xyz": ["x", "y", "z"]},
    )


SAME: list[Callable[[Any], Any]] = [
    lambda d: d["r"].sel(xyz="y"),
    lambda d: d["r"].sel(xyz=["z", "x"]),
    lambda d: d["r"].sel({"xyz": "y"}).sel(time=slice(0.1, 0.35)),
    lambda d: d["r"].sel(time=slice(0.2, None), xyz="z"),
    lambda d: d["r"].sel(time=slice(None, 0.25)),
    lambda d: d["r"].sel(time=slice(9.0, None)),
    lambda d: d["r"].sel(time=0.0),
    lambda d: d["r"].sel(time=0.26, method="nearest"),
    lambda d: d["r"].sel(time=[-1.0, 0.05, 0.1, 0.15000000000000002, 0.49, 7.0], method="nearest"),
    lambda d: d["r"].sel(xyz=slice("x", "y")),
    lambda d: d["q"].sel(coordinate=2),
    lambda d: d["q"].sel(coordinate=slice(1, 3)),
    lambda d: d["r"].isel(time=-1),
    lambda d: d["r"].isel(time=slice(1, 4, 2), xyz=[2, 0]),
    lambda d: d["r"].isel({"time": np.array([4, 4, 0])}),
    lambda d: d["r"][0],
    lambda d: d["r"][-1, 0],
    lambda d: d["r"][:, 1],
    lambda d: d["r"][..., 1],
    lambda d: d["r"][1:3, [0, 2]],
    lambda d: d["r"][{"xyz": 0}],
    lambda d: d["r"][d["on"].values],
    lambda d: d["r"][d["on"]],
    lambda d: d["r"]["time"],
    lambda d: d["q"]["coordinate"],
    lambda d: d["r"].T,
    lambda d: 1e3 * d["r"],
    lambda d: d["r"] * 2,
    lambda d: -abs(d["r"]),
    lambda d: d["r"] + d["r"],
    lambda d: d["r"] * d["v"],
    lambda d: d["r"] * d["lever"],
    lambda d: d["lever"] * d["r"],
    lambda d: d["r"] - d["r"].T,
    lambda d: d["r"].sel(xyz="y") - d["r"].sel(xyz="z"),
    lambda d: d["r"].sel(xyz="y") * d["v"].sel(xyz="y"),
    lambda d: d["r"] - d["r"].sel(xyz="y"),
    lambda d: d["r"] - d["r"].isel(time=slice(2, None)),
    lambda d: d["r"] + d["r"].values,
    lambda d: d["r"].values + d["r"],
    lambda d: d["r"] + np.arange(3.0),
    lambda d: np.float64(2.0) * d["r"],
    lambda d: d["r"] > 0.5,
    lambda d: (d["r"] > 0.5) & (d["v"] < 0.0),
    lambda d: ~d["on"],
    lambda d: np.rad2deg(d["r"]),
    lambda d: np.abs(d["r"]).max(),
    lambda d: d["r"] ** 2 / 3.0,
    lambda d: 2 // d["r"],
    lambda d: d["r"].max(),
    lambda d: d["r"].min("time"),
    lambda d: d["r"].mean(dim=["time", "xyz"]),
    lambda d: d["r"].sum("xyz"),
    lambda d: d["r"].mean(axis=1),
    lambda d: np.max(d["r"], axis=0),
    lambda d: np.mean(d["r"]),
    lambda d: np.all(d["r"] < 9.0),
    lambda d: (d["r"] > 0.0).any("xyz"),
    lambda d: d["r"].argmax("time"),
    lambda d: d["r"].sel(xyz="y").argmin("time"),
    lambda d: d["hole"].max("time"),
    lambda d: d["hole"].mean(),
    lambda d: d["hole"].max(skipna=False),
    lambda d: d["r"].sel(xyz="y").max(),
    lambda d: np.maximum(d["r"], 0.0),
]


@pytest.mark.parametrize("of", SAME, ids=map(str, range(len(SAME))))
def test_it_answers_as_xarray_does(arrays: LabelledArrays, of: Callable[[Any], Any]) -> None:
    ours, theirs = of(_ours(arrays)), of(arrays.as_dataset())
    assert isinstance(ours, LabelledArray)
    assert ours.dtype == theirs.dtype
    assert ours.to_xarray().identical(theirs), (ours.to_xarray(), theirs)


def _ours(arrays: LabelledArrays) -> dict[str, LabelledArray]:
    return {name: arrays[name] for name in arrays}


def test_the_comparison_tells_a_difference(arrays: LabelledArrays) -> None:
    """A negative control of the test above: a changed value, attribute, label or name is seen."""
    array = arrays["r"]
    same = array.to_xarray()
    assert from_xarray(same).to_xarray().identical(same)
    changed = same.copy(deep=True)
    changed[0, 0] += 1e-16 + abs(changed[0, 0]) * 1e-15
    assert not array.to_xarray().identical(changed)
    assert not array.to_xarray().identical(same.rename("other"))
    assert not array.to_xarray().identical(same.assign_attrs(units="km"))
    assert not array.to_xarray().identical(same.assign_coords(xyz=["x", "y", "w"]))


def test_what_it_does_not_have_is_xarray_s(arrays: LabelledArrays) -> None:
    array, theirs = arrays["r"], arrays.as_dataset()["r"]
    assert array.diff("time").identical(theirs.diff("time"))
    assert array.where(array > 0.0).identical(theirs.where(theirs > 0.0))
    assert array.interp(time=0.123).identical(theirs.interp(time=0.123))
    assert array.std().identical(theirs.std())
    assert (array.to_xarray() * array.to_xarray()).identical(array * theirs)
    assert array.units == "m"
    assert array.frame == "N"
    np.testing.assert_array_equal(array.time, theirs["time"])
    with pytest.raises(AttributeError, match="nonsense"):
        _ = array.nonsense
    assert not hasattr(array, "_private")


def test_numpy_python_and_jax_read_it(arrays: LabelledArrays) -> None:
    array = arrays["r"]
    assert np.asarray(array) is array.values or np.shares_memory(np.asarray(array), array.values)
    assert not np.shares_memory(np.array(array), array.values)
    np.testing.assert_array_equal(jnp.asarray(array), array.values)
    assert np.linalg.norm(array, axis=-1).shape == (6,)
    last = array.sel(xyz="z")[-1]
    assert float(last) == array.values[-1, 2] == last.item()
    assert f"{last:.3f}" == f"{array.values[-1, 2]:.3f}"
    assert int(array.argmax()) == operator.index(array.argmax()) == int(np.argmax(array.values))
    assert len(array) == len(list(array)) == 6
    assert max(array.sel(xyz="x")).item() == array.values[:, 0].max()
    assert array.values[0, 0] in array
    assert array.sel(xyz="x") == pytest.approx(array.values[:, 0])
    assert array.sizes == {"time": 6, "xyz": 3}
    assert (array.size, array.ndim, array.shape) == (18, 2, (6, 3))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(array > 0.0)
    with pytest.raises(TypeError, match="single value"):
        iter(last)


def test_results_can_be_written_into_it(arrays: LabelledArrays) -> None:
    array = copy.deepcopy(arrays["r"])
    doubled = 2.0 * array.values
    array *= 2.0
    assert isinstance(array, LabelledArray)
    np.testing.assert_array_equal(array.values, doubled)
    array[0, 0] = 7.0
    assert array.values[0, 0] == 7.0
    np.testing.assert_array_equal(np.add.reduce(array, axis=0), np.add.reduce(array.values, axis=0))


def test_it_is_copied_and_pickled(arrays: LabelledArrays) -> None:
    array = arrays["r"]
    for again in (pickle.loads(pickle.dumps(array)), copy.copy(array), copy.deepcopy(array)):
        assert again.to_xarray().identical(array.to_xarray())


def test_it_shows_its_name_axes_and_unit(arrays: LabelledArrays) -> None:
    shown = repr(arrays["r"])
    assert shown.startswith("<LabelledArray 'r' (time: 6, xyz: 3)>")
    assert "units: m" in shown
    assert "['x' 'y' 'z']" in shown
    assert "xarray" in arrays["r"]._repr_html_()


@pytest.mark.parametrize(
    ("of", "error", "message"),
    [
        (lambda a: a.sel(xyz="w"), KeyError, "Axis 'xyz' has no 'w'. It has: x, y, z."),
        (lambda a: a.sel(xyz=["x", "w"]), KeyError, "Axis 'xyz' has no 'w'."),
        (lambda a: a.sel(xyz=1), KeyError, "Axis 'xyz' has no '1'."),
        (lambda a: a.sel(time=0.123), KeyError, "Axis 'time' has no 0.123. It has 6 values from 0 to 0.5. Pass"),
        (lambda a: a.sel(rpy="roll"), KeyError, "Array 'r' has no axis 'rpy'. Axes: time, xyz."),
        (lambda a: a.isel(rpy=0), ValueError, "Array 'r' has no axis 'rpy'. Axes: time, xyz."),
        (lambda a: a["rpy"], KeyError, "Array 'r' has no axis 'rpy'. Axes: time, xyz."),
        (lambda a: a.max("rpy"), KeyError, "Array 'r' has no axis 'rpy'. Axes: time, xyz."),
        (lambda a: a.max(0), TypeError, "takes the name of an axis"),
        (lambda a: a[0, 0, 0], IndexError, "has 2 axes, not 3"),
        (lambda a: a + np.ones((2, 6, 3)), ValueError, "An array without names does not fit the axes"),
        (lambda a: a.sel(xyz="x") + np.ones((6, 1)), ValueError, "does not fit the axes (time: 6)"),
    ],
)
def test_errors_name_what_there_is(
    arrays: LabelledArrays, of: Callable[[Any], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        of(arrays["r"])
    assert message in str(raised.value)


def test_points_are_picked_as_xarray_picks_them(arrays: LabelledArrays) -> None:
    """An array with axes of its own selects point by point, which only xarray knows."""
    points = xarray.DataArray([1, 3], dims="point")
    assert arrays["r"].isel(time=points).to_xarray().identical(arrays["r"].to_xarray().isel(time=points))


@pytest.mark.parametrize("name", ["r", "v", "lever", "q", "on"])
@pytest.mark.parametrize("of", [operator.add, operator.mul, operator.lt, operator.eq, operator.iadd, np.subtract])
def test_an_array_of_xarray_takes_it(arrays: LabelledArrays, name: str, of: Callable[[Any, Any], Any]) -> None:
    """With theirs on the left and ours on the right the result is what two arrays of xarray give."""
    left, right = arrays["r"].to_xarray(), arrays[name]
    if of is operator.iadd and name == "q":
        pytest.skip("written in place, an array gets no further axis")
    with xarray.set_options(keep_attrs=False):
        assert of(left.copy(), right).identical(of(left.copy(), right.to_xarray()))
        assert left.where(right > 0.0).identical(left.where(right.to_xarray() > 0.0))


def test_an_array_of_xarray_at_other_times_is_not_added(arrays: LabelledArrays) -> None:
    """A negative control: same length and other times, and another length, are never added place by place."""
    early, late = arrays["r"].to_xarray()[:5], arrays["r"][1:]
    with pytest.raises(xarray.MergeError, match="time"):
        _ = early + late
    with pytest.raises(ValueError, match="time"):
        _ = early[1:] + late
    assert (late + early).sizes["time"] == 4  # ours on the left: what they share, as xarray does


def test_a_script_needs_no_xarray_until_it_asks(tmp_path: Any) -> None:
    """Simulated, read, computed with, audited and printed. Negative controls: what xarray alone has, and a data set."""
    program = (
        "import sys, numpy as np, freefloat as ff\n"
        "hub = ff.Spacecraft.from_base('hub', mass=10.0, inertia=(1.0, 1.0, 1.0))\n"
        "run = ff.simulate(hub, duration=1.0)\n"
        "x = run['base.roll_pitch_yaw'].sel(rpy='yaw', time=slice(0.0, 0.5)); print(run.audit, run, x)\n"
        "print(float(np.abs(np.rad2deg(x)).max()), run['time'].values[-1], np.asarray(run['base.position'])[0])\n"
        "heavy = {'xarray', 'pandas', 'dask'}\n"
        "print('heavy:', sorted(heavy & set(sys.modules)))\n"
        "run['base.position'].diff('time'); print('heavy:', sorted({'xarray', 'pandas'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    said = [line for line in done.stdout.split("\n") if line.startswith("heavy:")]
    assert said == ["heavy: []", "heavy: ['pandas', 'xarray']"]

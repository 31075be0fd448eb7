"""One labelled array answers as xarray's DataArray does, and hands over what it does not know."""

import copy
import itertools
import operator
import pickle
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
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
            "count": ("time", np.arange(6)),
            "square": (("row", "col"), rng.normal(size=(3, 3))),
            "turned": (("col", "row"), rng.normal(size=(3, 3))),
            "single": ((), np.array(2.5), {"units": "s"}),
            "angles": (("time", "rpy"), rng.normal(size=(6, 3))),
            "stepped": ("step", np.array([3.0, 1.0, 2.0, 2.5])),
            "twice": ("label", np.arange(3.0)),
        },
        {
            "time": ("time", 0.1 * np.arange(6), {"units": "s"}),
            "xyz": ["x", "y", "z"],
            "rpy": ["roll", "pitch", "yaw"],
            "step": ("step", np.array([4, 2, 6, 1])),
            "label": ["a", "b", "a"],
        },
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
    ours, theirs = of(_ours(arrays)), of(_theirs(arrays))
    assert isinstance(ours, LabelledArray)
    assert ours.dtype == theirs.dtype
    assert ours.to_xarray().identical(theirs), (ours.to_xarray(), theirs)


OPERANDS: dict[str, Callable[[Any], Any]] = {
    **{
        name: lambda d, name=name: d[name]
        for name in ("r", "lever", "q", "hole", "count", "square", "turned", "single")
    },
    "r.T": lambda d: d["r"].T,
    "square.T": lambda d: d["square"].T,
    "early": lambda d: d["r"].isel(time=slice(0, 3)),
    "late": lambda d: d["v"].isel(time=slice(3, 6)),
    "one time": lambda d: d["r"].isel(time=2),
    "one record": lambda d: d["r"].isel(time=[2]),
    "one of four": lambda d: d["q"].isel(coordinate=[1]),
    "y": lambda d: d["r"].sel(xyz="y"),
    "reversed": lambda d: d["r"].isel(time=slice(None, None, -1)),
    "zyx": lambda d: d["lever"].sel(xyz=["z", "y", "x"]),
    "coordinate": lambda d: d["r"]["time"],
    "coordinate of coords": lambda d: d["r"].coords["time"],
    "coordinate of y": lambda d: d["r"].sel(xyz="y").time,
    "on": lambda d: d["on"],
    "number": lambda d: 2.0,
    "word": lambda d: "x",
}
OPERATORS = (operator.add, operator.eq, operator.ne, operator.matmul)
PLACES: tuple[Any, ...] = (
    *(
        0,
        -1,
        7,
        1.0,
        "x",
        None,
        True,
        [0, 2],
        [-1, -2],
        [7],
        [0.0],
        (0, 1),
        ("point", [0, 1]),
        ...,
        (..., 0),
        (..., ...),
    ),
    *(slice(1, 3), slice(None, None, -1), slice(0.0, 2.0), np.array(2), np.array([[0, 1], [2, 3]]), (0, 1, 2)),
    *(np.array([True, False, True, False, True, False]), np.array([True, False]), (slice(None), "x"), ([0, 1], [2, 0])),
)
LABELS: tuple[Any, ...] = (
    *(
        0,
        0.2,
        0.25,
        np.float32(0.5),
        -5.0,
        70.0,
        np.inf,
        np.nan,
        None,
        True,
        "x",
        "yaw",
        ["yaw", "roll"],
        "a",
        "b",
        2,
        4,
    ),
    *([0.0, 0.2], [0.2, 0.0, 0.0], [], np.array([0.0, 9.0]), np.array([2, 6]), (0.0, 0.2), ("x", "y"), [[0.0]]),
    *(np.array(["x"], dtype=object), ["z", "x"], np.array(["x", "x"]), np.str_("z"), slice(0.1, 0.35), slice(0.4, 0.1)),
    *(slice(None), slice("x", "y"), slice("yaw", "roll"), slice(0, 2, 2), slice(1, 3), slice(np.nan, 1.0), slice(4, 6)),
)
AXES = (("r", "time"), ("r", "xyz"), ("angles", "rpy"), ("q", "coordinate"), ("stepped", "step"), ("twice", "label"))
MASKS: dict[str, Callable[[Any], Any]] = {
    "of its times": lambda d: d["on"],
    "of later times": lambda d: d["on"].isel(time=slice(3, None)),
    "of times reversed": lambda d: d["on"].isel(time=slice(None, None, -1)),
    "of its axes": lambda d: d["lever"] > 1.0,
    "of both": lambda d: d["r"] > 0.0,
    "of one axis": lambda d: d["r"].sel(xyz="y") > 0.0,
    "of its times by value": lambda d: d["r"].time > 0.2,
    "a place": lambda d: d["count"][2],
    "places": lambda d: d["count"][2:4],
    "a place found": lambda d: d["r"].argmax("time")[0],
    "a place of y": lambda d: d["r"].sel(xyz="y").argmax("time"),
}
KEYWORDS: list[Callable[[Any], Any]] = [
    lambda d: d["r"].isel(0),
    lambda d: d["r"].isel([]),
    lambda d: d["r"].isel({"time": 0}, xyz=1),
    lambda d: d["r"].isel({}, time=0),
    lambda d: d["r"].isel({"time": 0}, True),
    lambda d: d["r"].isel(time=0, drop=True),
    lambda d: d["r"].isel(indexers={"time": 0}),
    lambda d: d["r"].isel(rpy=0, missing_dims="ignore"),
    lambda d: d["r"].sel("x"),
    lambda d: d["r"].sel({"xyz": "x"}, "nearest"),
    lambda d: d["r"].sel(indexers={"xyz": "x"}),
    lambda d: d["r"].sel(xyz="x", drop=True),
    lambda d: d["r"].sel(time=0.2, drop=True).sel(xyz="x"),
    lambda d: d["r"].sel(time=0.26, method="nearest", tolerance=0.05),
    lambda d: d["r"].sel(time=0.26, method="nearest", tolerance=0.01),
    lambda d: d["r"].sel(time=0.26, method="pad"),
    lambda d: d["r"].sel(time=0.26, method="bfill"),
    lambda d: d["r"].sel(time=0.2).sel(time=0.2),
    lambda d: d["r"].sel(time=d["r"].time[2]),
    lambda d: d["r"].sel(time=d["r"].time[2:4]),
    lambda d: d["r"].sel(time=d["r"].sel(xyz="y").time[2]),
    lambda d: d["r"].sel(xyz=d["r"].xyz == "x"),
    lambda d: d["r"].isel(time=0)["xyz"],
    lambda d: d["r"].isel(time=0).time,
    lambda d: d["q"].isel(time=0)["coordinate"],
    lambda d: d["r"].coords["time"],
    lambda d: d["r"].isel(time=0).max("time"),
    lambda d: d["r"].isel(d["r"].argmax(["time", "xyz"])),
    lambda d: d["r"].time + d["r"].isel(time=slice(1, None)).coords["time"],
    lambda d: np.hypot(d["r"], d["v"].isel(time=slice(1, None))),
    lambda d: np.maximum(d["r"], d["r"].T),
    lambda d: np.arctan2(d["square"], d["turned"]),
    lambda d: d["r"].isel(time=("point", [0, 1])).isel(point=0),
    lambda d: d["r"].isel(time=("point", [0, 1])) + d["v"].isel(time=("point", [2, 1])),
]
REDUCED = ("max", "min", "sum", "mean", "any", "all", "argmax", "argmin")
OVER: tuple[dict[str, Any], ...] = (
    *({}, {"dim": "time"}, {"dim": "xyz"}, {"dim": ["time"]}, {"dim": ("time", "xyz")}, {"dim": ...}, {"dim": "rpy"}),
    *({"axis": 0}, {"axis": -1}, {"axis": 5}, {"dim": "time", "keep_attrs": False}, {"dim": "time", "skipna": True}),
)


def _compared() -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Every expression with its name, whose first word is its group."""
    left = {name: of for name, of in OPERANDS.items() if name not in ("number", "word")}
    for (one, a), (other, b) in itertools.product(left.items(), OPERANDS.items()):
        yield f"iadd {one}, {other}", lambda d, a=a, b=b: operator.iadd(copy.deepcopy(a(d)), b(d))
        for of in OPERATORS:  # a coordinate on the right of a comparison puts xarray's axes in another order
            if of in (operator.add, operator.matmul) or not other.startswith("coordinate"):
                yield f"{of.__name__} {one}, {other}", lambda d, of=of, a=a, b=b: of(a(d), b(d))
    for place in PLACES:
        yield f"places [{place!r}]", lambda d, place=place: d["r"][place]
        yield f"places time={place!r}", lambda d, place=place: d["r"].isel(time=place)
    for (name, axis), label, method in itertools.product(AXES, LABELS, (None, "nearest")):
        given = {axis: label}
        yield f"labels {given}, {method}", lambda d, n=name, given=given, method=method: d[n].sel(given, method=method)
    for name, of in MASKS.items():
        yield f"masks {name}", lambda d, of=of: d["r"][of(d)]
        yield f"masks along xyz {name}", lambda d, of=of: d["r"].isel(xyz=of(d))
        yield f"masks of few {name}", lambda d, of=of: d["r"][:3][of(d)]
        yield f"masks of no coordinate {name}", lambda d, of=of: d["q"].isel(coordinate=of(d))
    for word, name, over in itertools.product(REDUCED, ("r", "hole", "count", "on"), OVER):
        yield f"reduced {name}.{word}({over})", lambda d, n=name, word=word, over=over: getattr(d[n], word)(**over)
    for k, of in enumerate(KEYWORDS):
        yield f"keywords {k}", of


COMPARED = dict(_compared())
REMEDY = r"Write x = x \+ y|It has: |Pass method=|coordinates of this array cannot"


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::FutureWarning")  # of numpy for holes, of xarray's argmax
@pytest.mark.parametrize("group", dict.fromkeys(name.split()[0] for name in COMPARED))
def test_values_axes_and_coordinates_are_xarray_s_or_an_error(arrays: LabelledArrays, group: str) -> None:
    """Where xarray raises an error, so do we; where it answers, we give the same or an error with its remedy."""
    theirs, ours = _theirs(arrays), _ours(arrays)
    differ, equal = {}, 0
    for name, of in COMPARED.items():
        if name.startswith(f"{group} "):
            expected, found = _outcome(of, theirs), _outcome(of, ours)
            if not _agree(found, expected):
                differ[name] = (found, expected)
            equal += not isinstance(expected, Exception) and not isinstance(found, Exception)
    assert not differ
    assert equal >= 5  # a negative control: not everything is an error


def _agree(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, Exception):
        return isinstance(ours, Exception)
    if isinstance(ours, Exception):
        return re.search(REMEDY, str(ours)) is not None
    if isinstance(theirs, dict):
        return list(ours) == list(theirs) and all(_agree(ours[name], theirs[name]) for name in theirs)
    equal = ours.dims == theirs.dims and ours.dtype == theirs.dtype and set(ours.coords) == set(theirs.coords)
    return equal and ours.to_xarray().equals(theirs)


def test_the_comparison_of_expressions_sees_a_difference(arrays: LabelledArrays) -> None:
    """A negative control of the comparison: other values, axes, coordinates or kinds are seen, and so is no error."""
    array = arrays["r"]
    theirs = array.to_xarray()
    assert _agree(array, theirs)
    wrong = (2.0 * array, array.T, array[1:], array.isel(time=0), array > 0.0)
    for other in (*wrong, LabelledArray(array.dims, array.values), ValueError("without a remedy")):
        assert not _agree(other, theirs)
    assert not _agree(array, ValueError())


def _outcome(of: Callable[[Any], Any], arrays: Mapping[str, Any]) -> Any:
    try:
        return of(arrays)
    except Exception as error:
        return error


def _theirs(arrays: LabelledArrays) -> Mapping[str, Any]:
    """The same in xarray, each array by itself, so that nothing is written into ours."""
    return {name: arrays[name].to_xarray().copy(deep=True) for name in arrays}


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


def test_a_result_in_place_goes_by_names(arrays: LabelledArrays) -> None:
    square, turned, count, r = (copy.deepcopy(arrays[name]) for name in ("square", "turned", "count", "r"))
    expected, same = square.values + turned.values.T, square
    square += turned
    assert square is same
    np.testing.assert_array_equal(square.values, expected)
    expected = expected * expected
    square *= square.T
    np.testing.assert_array_equal(square.values, expected)
    square += square.to_xarray().T
    np.testing.assert_array_equal(square.values, 2.0 * expected)
    np.subtract(square, turned, out=square.T, where=turned > 0.0)
    np.testing.assert_array_equal(square.values, 2.0 * expected - np.where(turned.values > 0.0, turned.values, 0.0).T)
    with pytest.raises(TypeError, match="same_kind"):
        count += 1.5
    for other in (arrays["v"][1:], arrays["q"], arrays["lever"][1:], arrays["lever"].sel(xyz=["z", "y", "x"])):
        before = r.values.copy()
        with pytest.raises(ValueError, match=r"cannot be combined in place: .* Write x = x \+ y"):
            r += other
        np.testing.assert_array_equal(r.values, before)
    with pytest.raises(TypeError, match=r"Write x = x @ y, not x @= y"):
        square @= square
    with pytest.raises(TypeError, match=r"numpy.add.at does not match axes by name"):
        np.add.at(square, 0, turned)
    with pytest.raises(TypeError, match=r"numpy.vecdot does not match axes by name"):
        np.vecdot(square, turned)


def test_products_with_plain_arrays_are_plain(arrays: LabelledArrays) -> None:
    array, turn = arrays["r"], np.arange(9.0).reshape(3, 3)
    for found, expected in (
        (array @ turn, array.values @ turn),
        (array @ np.ones(3), array.values @ np.ones(3)),
        (turn @ array[0], turn @ array.values[0]),
        (np.ones(6) @ array, np.ones(6) @ array.values),
    ):
        assert isinstance(found, np.ndarray)
        np.testing.assert_array_equal(found, expected)
    total = np.zeros((6, 3))
    total += array
    assert isinstance(total, np.ndarray)
    np.testing.assert_array_equal(total, array.values)


@pytest.mark.parametrize(
    "write",
    [
        lambda a: a.__setitem__("time", np.arange(6.0)),
        lambda a: a.__setitem__("new", 1.0),
        lambda a: a.coords.__setitem__("time", np.arange(6.0)),
        lambda a: a.coords.__delitem__("time"),
        lambda a: a.coords.update({"time": np.arange(6.0)}),
        lambda a: a.time.__setitem__(0, 5.0),
        lambda a: a.time.__iadd__(1.0),
        lambda a: a["time"][1:].__setitem__(0, 5.0),
    ],
)
def test_a_coordinate_is_not_written(arrays: LabelledArrays, write: Callable[[Any], Any]) -> None:
    array = arrays["r"]
    before = copy.deepcopy(array)
    with pytest.raises(TypeError, match=r"coordinates of this array cannot be changed. Use .assign_coords\(\w+=...\)"):
        write(array)
    assert array.to_xarray().identical(before.to_xarray())
    later = array["time"] + 1.0
    later[0] = 7.0  # a negative control: what is computed from a coordinate is the caller's own
    assert later.values[0] == 7.0


def test_values_are_written_where_a_named_mask_is_true(arrays: LabelledArrays) -> None:
    array = copy.deepcopy(arrays["r"])
    array[arrays["on"]] = 0.0
    np.testing.assert_array_equal(array.values == 0.0, np.repeat(arrays["on"].values[:, None], 3, axis=1))
    with pytest.raises(IndexError, match="conflicts"):
        array[:3][arrays["on"][3:]] = 1.0


def test_attributes_are_an_array_s_own(arrays: LabelledArrays) -> None:
    arrays["r"].isel(time=0).attrs["units"] = "km"
    assert arrays["r"].units == "m"


def test_many_labels_are_found_without_a_table_of_all_pairs() -> None:
    times = 0.01 * np.arange(40_000)
    for order in (slice(None), slice(None, None, -1)):
        array = LabelledArrays({"x": ("time", times[order])}, {"time": ("time", times[order])})["x"]
        tracemalloc.start()
        found = array.sel(time=times[::2])
        peak = tracemalloc.get_traced_memory()[1]  # [B]; a table of all pairs has 800 MB
        tracemalloc.stop()
        np.testing.assert_array_equal(found.values, times[::2])
        assert peak < 20e6


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
        (lambda a: a.isel(time=0).max("time"), KeyError, "Array 'r' has no axis 'time'. Axes: xyz."),
        (
            lambda a: a.ravel(),
            AttributeError,
            "Array 'r' has no 'ravel', nor has xarray's. numpy's arrays have it: .val",
        ),
        (lambda a: a.tolist(), AttributeError, "numpy's arrays have it: .values.tolist."),
        (lambda a: a.nothing, AttributeError, "Array 'r' has no 'nothing', nor has xarray's."),
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


# Written in place (`iadd`), an array gets no further axis, such as that of q.
_TAKEN = [operator.add, operator.mul, operator.lt, operator.eq, operator.iadd, np.subtract]


@pytest.mark.parametrize(
    ("name", "of"),
    [(name, of) for name in ("r", "v", "lever", "q", "on") for of in _TAKEN if (name, of) != ("q", operator.iadd)],
)
def test_an_array_of_xarray_takes_it(arrays: LabelledArrays, name: str, of: Callable[[Any, Any], Any]) -> None:
    """With theirs on the left and ours on the right the result is what two arrays of xarray give."""
    left, right = arrays["r"].to_xarray(), arrays[name]
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

"""Maps as a page: lines where the arm is singular, words from the data, and what cannot be drawn."""

from pathlib import Path

import numpy as np
import pytest
import xarray

import freefloat as ff
from freefloat.analysis import disturbance_map, singularity_map
from freefloat.dynamics import generalized_jacobian
from freefloat.library import ets7
from freefloat.report.joint_plane import MOST_POINTS, joint_plane
from freefloat.report.map_words import direction_text, disturbance_sentences, extremes, is_flat
from freefloat.report.maps import sentences
from freefloat.report.singular_lines import singular_lines

Q0 = np.deg2rad([0.0, 0.0, 10.0, -32.8, 0.0, 0.0])
PLANE = {"arm.2": np.deg2rad(np.linspace(-90, 90, 19)), "arm.3": np.deg2rad(np.linspace(-80, 80, 33))}


@pytest.fixture(scope="module")
def maps() -> list[xarray.Dataset]:
    """Of ETS-VII as it flew."""
    return [disturbance_map(ets7(), Q0, PLANE), singularity_map(ets7(), Q0, PLANE, "hand")]


@pytest.fixture(scope="module")
def light() -> xarray.Dataset:
    """Of ETS-VII with a base lighter than its arm."""
    craft = ets7().with_value("base.mass", 100.0).with_value("base.inertia", np.diag([60.0, 40.0, 60.0]))
    return singularity_map(craft, Q0, PLANE, "hand")


def made_up(largest: np.ndarray, units: tuple[str, str] = ("rad", "rad")) -> xarray.Dataset:
    """A disturbance map of two joints, given its values."""
    a, b = largest.shape
    worst = np.zeros((a, b, 2))
    worst[..., 0] = -1.0
    attributes = {"units": "rad/rad", "long_name": "Gain"}
    return xarray.Dataset(
        {
            "largest": (("one", "two"), largest, attributes),
            "smallest": (("one", "two"), 0.1 * largest, attributes),
            "worst": (("one", "two", "joint"), worst),
        },
        coords={
            "one": ("one", np.linspace(0.0, 1.0, a), {"units": units[0]}),
            "two": ("two", np.linspace(0.0, 1.0, b), {"units": units[1]}),
            "joint": ["one", "two"],
            "configuration": ("joint", np.array([0.5, 0.25])),
            "unit": ("joint", list(units)),
        },
        attrs={"spacecraft": "made-up"},
    )


def test_the_lines_are_where_the_determinant_vanishes(maps: list[xarray.Dataset]) -> None:
    found = singular_lines(maps[1])
    points = np.concatenate(found.floating)
    assert len(points) > 20
    q = Q0.copy()
    for point in points[:: len(points) // 8]:
        q[1], q[2] = point
        J = np.asarray(generalized_jacobian(ets7(), q, "hand"))
        # Linear between points 10 and 5 deg apart; the values on the map go up to 0.38.
        assert np.linalg.svd(J, compute_uv=False)[-1] < 0.003


def test_a_light_base_has_dynamic_singularities_away_from_the_fixed_ones(light: xarray.Dataset) -> None:
    found = singular_lines(light)
    assert len(found.dynamic) > 10
    assert found.kinematic_there.max() > 0.1
    assert np.all(found.kinematic_there >= light.attrs["singular_below"])


def test_a_border_that_is_singular_has_its_line() -> None:
    plane = {"arm.2": PLANE["arm.2"], "arm.3": np.deg2rad(np.linspace(-90.0, 80.0, 18))}  # stretched at -90 deg
    found = singular_lines(singularity_map(ets7(), Q0, plane, "hand"))
    points = np.concatenate(found.fixed)
    lowest = points[np.abs(points[:, 1] - np.deg2rad(-90.0)) < 1e-6]
    assert len(lowest) >= len(plane["arm.2"])
    assert np.ptp(lowest[:, 0]) == pytest.approx(np.pi)


def test_without_a_determinant_places_are_points_of_the_grid() -> None:
    data = made_up(np.ones((3, 3))).assign(
        dynamic=(("one", "two"), np.array([[1.0, 1.0, 1.0], [1.0, 1e-3, 1.0], [1.0, 1.0, 1e-3]])),
        kinematic=(("one", "two"), np.array([[1.0, 1.0, 1.0], [1.0, 0.5, 1.0], [1.0, 1.0, 1e-3]])),
    )
    data.attrs |= {"frame": "hand", "singular_below": 0.01}
    found = singular_lines(data)
    assert found.floating == found.fixed == []
    np.testing.assert_array_equal(found.dynamic, [[0.5, 0.5]])
    assert "Crosses mark dynamic singularities" in sentences([data])[-1]
    assert "The clearest is at one 28.65 deg, two 28.65 deg, where it is 0.5." in sentences([data])[-1]


def test_words_come_from_the_data() -> None:
    largest = np.full((3, 5), 0.2)
    largest[2, 1], largest[0, 4] = 0.8, 0.1
    data = made_up(largest, units=("rad", "m"))
    words = disturbance_sentences(data, joint_plane([data]))
    assert "turns the base most at one 57.3 deg, two 250 mm: 0.8 rad/rad" in words
    assert "least at one 0 deg, two 1000 mm: 0.1 rad/rad, 8 times less" in words
    assert "At the configuration it is 0.2 rad/rad, and that direction is 1.00 one, the others below 0.1" in words
    assert "one in 100 % of the points" in words
    assert extremes(data, joint_plane([data]))["largest"]["largest"] == {
        "value": 0.8,
        "at": {"one": pytest.approx(57.29578), "two": 250.0},
    }


def test_a_direction_has_no_sign() -> None:
    assert direction_text(np.array([0.05, -0.8, 0.6]), ["a", "b", "c"]) == "0.80 b, -0.60 c, the others below 0.1"


def test_a_configuration_off_the_map_is_said() -> None:
    data = made_up(np.ones((3, 3)))
    data["configuration"].values[:] = 0.5, 3.0
    assert joint_plane([data]).nearest_indices is None
    assert "The configuration itself is not on the map: one 28.65 deg, two 171.9 deg." in sentences([data])[0]


def test_the_page_is_whole_and_small(maps: list[xarray.Dataset], tmp_path: Path) -> None:
    file = ff.map_page(maps, tmp_path / "deep" / "map.html")
    words = file.read_text()
    assert "default-src 'none'" in words
    assert "ets7: maps over arm.2 and arm.3" in words
    assert "The smallest singular value of the Jacobian of hand" in words
    assert len(words) < 1e6
    assert ff.map_page(maps, tmp_path / "again.html").read_text() == words
    assert ff.map_page(maps[0], tmp_path / "one.html").exists()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (xarray.Dataset(), "This is no map"),
        (made_up(np.ones((MOST_POINTS + 1, 2))), f"at most {MOST_POINTS} values"),
        (made_up(np.ones((3, 3))).assign_coords(one=[0.0, 0.1, 1.0]), "evenly spaced"),
    ],
)
def test_what_cannot_be_drawn_gets_a_sentence(data: xarray.Dataset, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        ff.map_page(data, tmp_path / "map.html")
    assert not list(tmp_path.iterdir())


def test_maps_of_different_planes_are_refused(maps: list[xarray.Dataset], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must share their joints"):
        ff.map_page([maps[0], made_up(np.ones((3, 3)))], tmp_path / "map.html")


def test_an_arm_that_moves_in_a_plane_has_no_map_of_rounding() -> None:
    arm = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0))
    for name, parent in (("one", "base"), ("two", "one")):
        arm = arm.with_link(
            name,
            parent=parent,
            joint="revolute",
            at=(1.0, 0.0, 0.0),
            mass=5.0,
            com=(0.5, 0.0, 0.0),
            inertia=(0.1, 0.5, 0.5),
        )
    values = np.linspace(-1.0, 1.0, 5)
    data = disturbance_map(arm, np.zeros(2), {"one": values, "two": values})
    assert is_flat(data)
    assert "leaves the base alone all over the map" in sentences([data])[1]


def test_a_map_of_one_value_can_be_drawn(tmp_path: Path) -> None:
    assert ff.map_page(made_up(np.zeros((2, 2))), tmp_path / "zero.html").exists()
    assert ff.map_page(made_up(np.full((2, 2), np.nan)), tmp_path / "nan.html").exists()


def test_values_that_are_none_are_not_the_extremes() -> None:
    largest = np.arange(6.0).reshape(2, 3)
    largest[1, 2] = largest[0, 0] = np.nan
    data = made_up(largest)
    assert "turns the base most at one 57.3 deg, two 28.65 deg: 4 rad/rad" in sentences([data])[1]
    assert extremes(data, joint_plane([data]))["largest"]["smallest"]["value"] == 1.0

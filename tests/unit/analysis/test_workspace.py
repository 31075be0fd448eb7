"""Maps over a joint plane: the disturbance map predicts the base's motion, the singularity map sees a straight arm."""

import numpy as np
import pytest

from freefloat.analysis import disturbance_map, singularity_map
from freefloat.dynamics import generalized_jacobian, impose_rates
from freefloat.dynamics.least_squares import SINGULAR_BELOW
from freefloat.library import ets7
from freefloat.model import Spacecraft
from freefloat.values import ModelError

CRAFT = ets7()
Q0 = np.deg2rad([0.0, 0.0, 10.0, -32.8, 0.0, 0.0])
PLANE = {"arm.2": np.deg2rad(np.linspace(-90, 90, 5)), "arm.3": np.deg2rad(np.linspace(-90, 90, 7))}


def sliding() -> Spacecraft:
    """A base with a joint that turns and one that slides."""
    inertia = np.diag([2.0, 2.0, 2.0])
    craft = Spacecraft.from_base("cart", mass=50.0, inertia=10.0 * inertia)
    for name, joint, axis in (("arm", "revolute", (0, 0, 1)), ("slide", "prismatic", (1, 0, 0))):
        parent = craft.body_names[-1]
        craft = craft.with_link(
            name, parent=parent, joint=joint, axis=axis, mass=5.0, com=(0.5, 0.0, 0.0), inertia=inertia
        )
    return craft


def test_disturbance_map_is_what_the_base_does() -> None:
    data = disturbance_map(CRAFT, Q0, PLANE)
    assert data["largest"].shape == (5, 7)
    q = Q0.copy()
    q[1], q[2] = PLANE["arm.2"][1], PLANE["arm.3"][5]
    for gain, direction in (("largest", "worst"), ("smallest", "best")):
        rates = data[direction].values[1, 5]
        v = np.asarray(impose_rates(CRAFT, q, np.zeros(12), CRAFT.layout.moving_joints, rates))
        assert np.linalg.norm(v[3:6]) == pytest.approx(float(data[gain].values[1, 5]), rel=1e-9)


def test_singularity_map_shows_the_stretched_arm_and_the_floating_base() -> None:
    # The elbow is straight where the upper arm (joint 2 to 3, along z) and the forearm (along x) line up: -90 deg.
    data = singularity_map(CRAFT, Q0, PLANE, "hand")
    straight = data["kinematic"].values[:, 0]
    assert np.all(straight < 0.05)
    assert np.max(data["kinematic"].values) > 0.3
    assert np.max(np.abs(data["dynamic"].values - data["kinematic"].values)) > 1e-3


def test_the_determinant_changes_its_sign_across_the_map() -> None:
    data = singularity_map(CRAFT, Q0, PLANE, "hand")
    q = Q0.copy()
    q[1], q[2] = PLANE["arm.2"][3], PLANE["arm.3"][4]
    expected = float(np.linalg.det(np.asarray(generalized_jacobian(CRAFT, q, "hand"))))
    assert float(data["dynamic_determinant"].values[3, 4]) == pytest.approx(expected, rel=1e-9)
    assert set(np.sign(data["dynamic_determinant"].values.ravel())) == {-1.0, 1.0}  # a singular line crosses the map


def test_maps_say_where_they_were_cut_and_in_which_units() -> None:
    data = singularity_map(CRAFT, Q0, PLANE, "hand")
    np.testing.assert_array_equal(data["configuration"].values, Q0)
    assert data["arm.2"].attrs == {"units": "rad", "long_name": "Joint arm.2"}
    assert data.attrs == {"spacecraft": "ets7", "frame": "hand", "singular_below": SINGULAR_BELOW}
    craft = sliding()
    plane = {"arm": np.linspace(0.0, 1.0, 3), "slide": np.linspace(0.0, 0.4, 2)}
    data = disturbance_map(craft, np.zeros(2), plane)
    assert [data[name].attrs["units"] for name in plane] == ["rad", "m"]
    assert list(data["unit"].values) == ["rad", "m"]
    assert data["largest"].attrs["units"] == "rad/rad, rad/m"
    assert "dynamic_determinant" not in singularity_map(craft, np.zeros(2), plane, "slide")  # 6 x 2: no determinant


@pytest.mark.parametrize(
    ("plane", "message"),
    [
        ({"elbow": np.zeros(2), "arm.2": np.zeros(2)}, "no moving joint 'elbow'. Moving joints: arm.1, arm.2"),
        ({"arm.2": np.arange(2.0)}, "needs two joints"),
        ({"arm.2": np.arange(2.0), "arm.3": np.array([0.5])}, "'arm.3' of a plane needs at least two values, got 1"),
        ({"arm.2": np.array([0.0, np.nan]), "arm.3": np.arange(2.0)}, "'arm.2' of a plane must be finite"),
        ({"arm.2": np.arange(2.0), "arm.3": np.zeros(3)}, "'arm.3' of a plane must ascend"),
    ],
)
def test_wrong_planes_are_refused(plane: dict[str, np.ndarray], message: str) -> None:
    for drawn in (lambda: disturbance_map(CRAFT, Q0, plane), lambda: singularity_map(CRAFT, Q0, plane, "hand")):
        with pytest.raises(ValueError, match=message):
            drawn()


def test_a_configuration_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ModelError, match="q must have 6 numbers"):
        disturbance_map(CRAFT, Q0[:5], PLANE)
    with pytest.raises(ValueError, match="must be finite"):
        disturbance_map(CRAFT, np.full(6, np.nan), PLANE)

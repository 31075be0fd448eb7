"""Maps over a joint plane: the disturbance map predicts the base's motion, the singularity map sees a straight arm."""

import numpy as np
import pytest

from freefloat.control import disturbance_map, singularity_map
from freefloat.dynamics import impose_rates
from freefloat.library import ets7
from freefloat.model import ModelError

CRAFT = ets7()
Q0 = np.deg2rad([0.0, 0.0, 10.0, -32.8, 0.0, 0.0])
PLANE = {"arm.2": np.deg2rad(np.linspace(-90, 90, 5)), "arm.3": np.deg2rad(np.linspace(-90, 90, 7))}


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


def test_unknown_joints_and_wrong_planes_are_refused() -> None:
    with pytest.raises(ModelError, match="no joint 'elbow'"):
        singularity_map(CRAFT, Q0, {"elbow": np.zeros(2), "arm.2": np.zeros(2)}, "hand")
    with pytest.raises(ValueError, match="needs two joints"):
        disturbance_map(CRAFT, Q0, {"arm.2": np.zeros(2)})

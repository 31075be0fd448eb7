"""Numbers read off a run."""

import dataclasses

import numpy as np

from freefloat.scenarios.measures import position_in_base
from freefloat.spatial.rotations import rotation_matrix
from freefloat.values.labelled import LabelledArrays
from recorded import made_up


def test_a_place_in_base_axes_does_not_depend_on_where_the_base_is(rng: np.random.Generator) -> None:
    hand_B, base_N = rng.normal(size=3), rng.normal(size=3)
    quat_NB = rng.normal(size=4)
    quat_NB /= np.linalg.norm(quat_NB)
    hand_N = base_N + np.asarray(rotation_matrix(quat_NB)) @ hand_B
    recorded = LabelledArrays(
        {
            "base.position": (("time", "xyz"), base_N[None]),
            "base.attitude": (("time", "wxyz"), quat_NB[None]),
            "hand.position": (("time", "xyz"), hand_N[None]),
        }
    )
    run = dataclasses.replace(made_up(1, 1), recorded=recorded)
    np.testing.assert_allclose(position_in_base(run, "hand"), hand_B, atol=1e-14)  # rounding of a few units

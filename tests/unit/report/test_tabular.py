"""A run as one table: every component under its own name."""

import dataclasses

import numpy as np

from freefloat.report.tabular import columns
from freefloat.values.labelled import LabelledArrays
from support.recorded import made_up


def test_a_channel_with_two_axes_has_a_column_for_each_of_its_numbers() -> None:
    values = np.arange(2.0 * 2 * 3).reshape(2, 2, 3)
    recorded = LabelledArrays(
        {"bodies.position": (("time", "body", "xyz"), values, {"units": "m"})},
        {"time": ("time", np.array([0.0, 1.0])), "body": ["hub", "arm"], "xyz": ["x", "y", "z"]},
    )
    found = columns(dataclasses.replace(made_up(2, 1), recorded=recorded))
    assert [one.heading for one in found[:3]] == ["time [s]", "bodies.position.hub.x [m]", "bodies.position.hub.y [m]"]
    by_name = {one.name: one.values for one in found}
    for i, body in enumerate(("hub", "arm")):
        for k, axis in enumerate("xyz"):
            np.testing.assert_array_equal(by_name[f"bodies.position.{body}.{axis}"], values[:, i, k])

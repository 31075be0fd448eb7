"""Conditions in words: which value, from when to when, how often."""

import numpy as np
import pytest

from freefloat.sim.audit.conditions import find_conditions
from freefloat.values.labelled import LabelledArrays


def told(*values: float, **attributes: int) -> list[str]:
    arrays = {"wheels.condition": ("time", np.array(values), {"flags": ["fine", "torque limit", "full"], **attributes})}
    return [
        str(one) for one in find_conditions(LabelledArrays(arrays, {"time": ("time", 0.5 * np.arange(len(values)))}))
    ]


def test_neighbouring_records_are_one_interval():
    assert told(0, 1, 1, 1, 0, 1, 0, 0) == [
        "wheels.condition: torque limit, 0.5 s to 1.5 s, 2.5 s to 2.5 s (50 % of the run)"
    ]
    assert told(1, 0, 2, 2) == [
        "wheels.condition: torque limit, 0 s to 0 s (25 % of the run)",
        "wheels.condition: full, 1 s to 1.5 s (50 % of the run)",
    ]
    assert told(0, 0, 0) == []


def test_of_many_intervals_the_first_three_are_told():
    (words,) = told(*[0, 1] * 5)
    assert words.endswith("0.5 s to 0.5 s, 1.5 s to 1.5 s, 2.5 s to 2.5 s and 2 times more (50 % of the run)")


@pytest.mark.parametrize(("normal", "count"), [(1, 2), (2, 1), (3, 0)])
def test_values_may_be_normal(normal, count):
    assert len(told(0, 1, 2, normal_flags=normal)) == count

"""A flexible body that leaves the domain of its linear model is told: by how much, of what, and when."""

import numpy as np
import pytest

import freefloat as ff
from freefloat.sim.audit.linear_domain import domain_warnings
from freefloat.values.labelled import LabelledArrays

BEAM = ff.flex.beam(length=4.0, mass=2.0, bending_stiffness=20.0, modes={"z": 1})
CRAFT = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(10.0, 10.0, 10.0)).mount(BEAM, name="panel")
TIP = BEAM.node("tip")


def told(coordinate: float, rate: float = 0.0) -> tuple[str, ...]:
    """Of a run in which the mode is bent at its second record of three, and the panel turns at its third."""
    modes, rates = np.array([[0.0], [coordinate], [0.0]]), np.array([[0.0] * 3, [0.0] * 3, [0.0, rate, 0.0]])
    arrays = {"panel.modes": (("time", "mode"), modes), "panel.rate": (("time", "xyz"), rates)}
    return domain_warnings(CRAFT, LabelledArrays(arrays, {"time": ("time", np.array([0.0, 1.5, 3.0]))}))


def test_deflections_beyond_a_tenth_of_the_length_are_told():
    """0.4 m at the tip, which per metre of deflection turns by more than a third of a radian: both limits are met."""
    per_metre = 1.0 / np.linalg.norm(TIP.translation)  # of the modal coordinate
    slope = float(np.linalg.norm(TIP.rotation)) * per_metre  # [rad/m]
    assert 0.2 < slope < 0.5  # so that deflections come first
    assert told(0.39 * per_metre) == ()
    (words,) = told(0.41 * per_metre)
    assert words.startswith("panel: tip moved 0.41 m at 1.5 s, more than 0.1 of its 4 m")


def test_slopes_beyond_a_fifth_of_a_radian_are_told():
    per_radian = 1.0 / np.linalg.norm(TIP.rotation)
    assert not any("turned" in words for words in told(0.199 * per_radian))
    assert any("panel: tip turned 0.201 rad at 1.5 s" in words for words in told(0.201 * per_radian))


@pytest.mark.parametrize(("share", "count"), [(0.099, 0), (0.101, 1)])
def test_turning_beyond_a_tenth_of_the_lowest_frequency_is_told(share, count):
    found = told(0.0, share * float(BEAM.frequencies()[0]))
    assert len(found) == count
    assert all("panel: it turns at" in words and "at 3 s" in words for words in found)

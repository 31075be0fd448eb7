"""Frequencies of the unloaded Shuttle arm, stretched out sideways, brakes on: published ones and ours.

Table 4, row S, transcription.si.edu/view/24585 (page 12 of NASM.2014.0025-bx011-fd006). The first three of the held
orbiter were used to find the gears' stiffness, so they say nothing; the others do.
"""

import numpy as np
import pytest

import freefloat as ff

HELD, FREE = (0.3463, 0.4614, 3.5544, 4.2282), (0.3547, 0.4633, 3.5571, 4.2296)  # [Hz]


def frequencies(*, gears, held):
    arm = ff.library.srms(modes=3, flexible_joints=gears)
    q = arm.at_rest(joints_deg={"shoulder.yaw": 90.0}).q
    return ff.analysis.vibration_modes(arm, q, held=held, locked=arm.layout.moving_joints).hz[:4]


@pytest.mark.slow  # docs/flexible-joints.md prints them, and is run by the tests
def test_with_gears_the_arm_vibrates_as_published():
    held, free = (frequencies(gears=True, held=held) for held in (True, False))
    assert np.max(np.abs(held[:3] / HELD[:3] - 1.0)) < 1e-3  # identified, and rounded to three digits
    assert held[3] == pytest.approx(HELD[3], rel=0.02)
    assert np.max(np.abs(free / FREE - 1.0)) < 0.02


@pytest.mark.slow
def test_booms_alone_are_much_too_stiff():
    booms = frequencies(gears=False, held=True)
    assert np.all(booms / HELD > 1.4)
    assert booms[0] > 2.4 * HELD[0]

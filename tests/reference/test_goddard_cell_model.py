"""Hub, robot and beams as one linear loop: spec/000 section 11, [R], to the printed digits."""

from itertools import pairwise

import numpy as np
import pytest

from freefloat.hil.cell import HangingBeams
from freefloat.scenarios.goddard.cell_model import CellModel

BEAMS = HangingBeams()  # Table I, two modes
HUBS = {"25 kg": 25.0, "50 kg": 50.0, "100 kg": 100.0}
INERTIAS = {"8.33 kg m2": 50.0 / 6.0, "41.7 kg m2": 250.0 / 6.0}

# Damping ratios of the first mode: ideal; first-order lag of 2, 2.5 and 3 Hz; second-order likewise.
DAMPING = {
    "25 kg": (0.00734, (0.00061, 0.00167, 0.00248), (-0.00347, -0.00141, 0.00003)),
    "50 kg": (0.00727, (0.00379, 0.00434, 0.00475), (0.00168, 0.00275, 0.00349)),
    "100 kg": (0.00724, (0.00546, 0.00574, 0.00595), (0.00439, 0.00493, 0.00531)),
    "8.33 kg m2": (0.00729, (0.00277, 0.00347, 0.00401), (0.00004, 0.00141, 0.00237)),
    "41.7 kg m2": (0.00722, (0.00630, 0.00644, 0.00655), (0.00575, 0.00603, 0.00622)),
}
# Critical delays [ms]: without lag, and behind a first-order lag of 2.5 Hz.
CRITICAL = {
    "25 kg": (76.4, 19.0),
    "50 kg": (158.5, 107.7),
    "100 kg": (np.inf, np.inf),
    "8.33 kg m2": (116.6, 62.2),
    "41.7 kg m2": (np.inf, np.inf),
}


def model(hub, **options):
    p, h = BEAMS.integrals()
    m, L, w = BEAMS.mass, BEAMS.length, BEAMS.frequencies()
    if hub in HUBS:
        return CellModel(HUBS[hub], 2 * m, 2 * m, p, w, BEAMS.damping_ratio, **options)
    return CellModel(INERTIAS[hub], 2 * m * L**2 / 3, 2 * m, h * L, w, BEAMS.damping_ratio, **options)


@pytest.mark.parametrize("hub", DAMPING)
def test_damping_that_a_lag_leaves(hub):
    ideal, first, second = DAMPING[hub]
    assert model(hub).first_damping() == pytest.approx(ideal, abs=5.1e-6)
    for lag, row in (("first", first), ("second", second)):
        for bandwidth, value in zip((2.0, 2.5, 3.0), row, strict=True):
            damping = model(hub, bandwidth=bandwidth, lag=lag).first_damping()
            assert damping == pytest.approx(value, abs=5.1e-6), (lag, bandwidth)


@pytest.mark.parametrize("hub", CRITICAL)
def test_critical_delays(hub):
    ideal, lagging = CRITICAL[hub]
    assert 1e3 * model(hub).critical_delay() == pytest.approx(ideal, abs=0.051)
    assert 1e3 * model(hub, bandwidth=2.5).critical_delay() == pytest.approx(lagging, abs=0.051)


def test_in_free_flight_it_is_the_hub_with_beams_of_two_modes():
    """Frequency of spec/000 section 5, within what two modes leave (8e-8)."""
    undamped = model("50 kg")
    s = CellModel(50.0, undamped.beams, undamped.both_masses, undamped.coupling, undamped.frequencies, 0.0).first_mode()
    assert s.imag / (2 * np.pi) == pytest.approx(0.831515, rel=1e-6)
    assert abs(s.real) < 1e-9


def test_the_lag_takes_what_the_estimate_says():
    """zeta_cell ~ zeta - (m p1^2 / m_s) |H| sin(arg lag), for a heavy hub where it is small."""
    one = model("100 kg", bandwidth=2.5)
    H = one.robot(1j * one.first_mode().imag)
    taken = 0.83 * one.coupling[0] ** 2 / 100.0 * abs(H) * np.sin(-np.angle(H))
    assert one.first_damping() == pytest.approx(model("100 kg").first_damping() - taken, abs=3e-5)


# ---- any delay


def zeros_inside(loop, corner, far):
    """Number of zeros of the characteristic function inside a rectangle: turns of its argument, less its poles there.

    The loop's own poles, those of lag and clamped modes, are left of the imaginary axis and outside the rectangle.
    """
    corners = [corner, complex(far.real, corner.imag), far, complex(corner.real, far.imag), corner]
    path = np.concatenate([np.linspace(a, b, 20001) for a, b in pairwise(corners)])
    values = np.array([loop.characteristic(s) for s in path])
    return round(np.sum(np.angle(values[1:] / values[:-1])) / (2.0 * np.pi))


@pytest.mark.parametrize("delay", [0.12, 0.14, 0.145, 0.15, 0.155, 0.16, 0.2, 0.3])
@pytest.mark.parametrize("hub", ["25 kg", "50 kg", "8.33 kg m2"])
def test_all_growing_poles_are_found_at_any_delay(hub, delay):
    """Counted by the argument of the characteristic function, which needs no starting value."""
    loop = model(hub, bandwidth=2.5, delay=delay)
    poles = loop.modes()
    assert max(abs(loop.characteristic(s)) for s in poles) < 1e-9
    growing = [s for s in poles if s.real > 0.0]
    assert zeros_inside(loop, 0.0 + 0.1j, 2.0 + 40.0j) == len(growing)


def test_the_pole_moves_with_the_delay_without_a_jump():
    damping = [model("50 kg", bandwidth=2.5, delay=T).first_damping() for T in np.linspace(0.0, 0.3, 61)]
    assert np.max(np.abs(np.diff(damping))) < 3e-4
    assert (damping[21] > 0.0, damping[22] > 0.0) == (True, False)  # 105 and 110 ms: critical at 107.7


def test_at_the_critical_delay_a_pole_is_on_the_imaginary_axis():
    loop = model("50 kg", bandwidth=2.5)
    for factor, sign in ((0.999, 1.0), (1.001, -1.0)):
        late = model("50 kg", bandwidth=2.5, delay=factor * loop.critical_delay())
        assert sign * late.first_damping() > 0.0


def test_a_loop_that_grows_without_delay_bears_none():
    assert model("25 kg", bandwidth=2.5, lag="second").critical_delay() == 0.0

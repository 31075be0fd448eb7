"""Robustness of a loop: gain, phase and delay margins input by input, and of all inputs together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from freefloat.control.lqr.frequency_response import FrequencyResponse, frequency_grid
from freefloat.control.lqr.loops import loop_gain
from freefloat.control.lqr.refusals import DesignError
from freefloat.control.lqr.regulator import Regulator
from freefloat.control.lqr.riccati import slowest_decay
from freefloat.control.lqr.state_space import StateSpace

_NONE = 1e-9  # factors of the gain below this are rounding


@dataclass(frozen=True)
class LoopMargin:
    """Margins of one input, the other loops closed. A margin is infinite where nothing of that kind destabilises."""

    name: str
    gain_up: float  # smallest factor above one that destabilises
    gain_down: float  # largest factor below one that does; 0: none
    phase: float  # smallest lag or lead that destabilises [rad]
    delay: float  # smallest extra delay that destabilises [s]
    delay_frequency: float  # of the oscillation that begins there [rad/s]
    distance: float  # smallest |1 + L|


@dataclass(frozen=True)
class RobustnessReport:
    """Margins of a stable loop."""

    loops: tuple[LoopMargin, ...]
    distance: float  # smallest singular value of the return difference 1 + L, inputs in their best units
    disk: float  # disk margin: gains and phases of all inputs may change at once, each within this disk
    delay: float  # extra delay of all inputs together that destabilises [s]
    delay_frequency: float  # [rad/s]
    decay: float  # slowest decay of the closed loop [1/s]

    def loop(self, name: str) -> LoopMargin:
        """Margins of the input with this name."""
        known = {loop.name: loop for loop in self.loops}
        if name not in known:
            raise DesignError(f"There is no loop '{name}'. Loops: {', '.join(known)}.")
        return known[name]

    @property
    def disk_gain(self) -> tuple[float, float]:
        """Factors between which the gains of all inputs may change at once."""
        low, high = 1.0 - self.disk / 2.0, 1.0 + self.disk / 2.0
        return low / high, high / low if low > 0.0 else np.inf

    @property
    def disk_phase(self) -> float:
        """Largest phase change of all inputs at once [rad]."""
        return 2.0 * float(np.arctan(self.disk / 2.0))

    def __str__(self) -> str:
        wide = max(len(loop.name) for loop in self.loops)
        lines = [f"{'loop':<{wide}}  gain up   gain down  phase deg  delay s    |1+L|"]
        for loop in self.loops:
            words = f"{loop.gain_up:<8.3g}  {loop.gain_down:<9.3g}  {np.rad2deg(loop.phase):<9.4g}  {loop.delay:<9.3g}"
            lines.append(f"{loop.name:<{wide}}  {words}  {loop.distance:.3f}")
        low, high = self.disk_gain
        lines.append(
            f"all together: |1+L| {self.distance:.3f}, gains {low:.3g} to {high:.3g} with phases "
            f"{np.rad2deg(self.disk_phase):.3g} deg, delay {self.delay:.3g} s at {self.delay_frequency:.3g} rad/s"
        )
        return "\n".join(lines)


def robustness(plant: StateSpace, controller: StateSpace | Regulator) -> RobustnessReport:
    """Margins of a loop broken at the plant's inputs; an unstable loop has none and raises an error."""
    loop = loop_gain(plant, controller)
    one = np.eye(len(loop.inputs))
    # S = (1 + L)^-1 is a system of its own: that of the closed loop, whose poles are all damped.
    E = np.linalg.inv(one + loop.D)
    closed = StateSpace(
        loop.A - loop.B @ E @ loop.C, loop.B @ E, -E @ loop.C, E, period=loop.period, scaling=loop.scaling
    )
    decay = slowest_decay(closed.poles, loop.period)
    if not decay > 0.0:
        raise DesignError(f"The loop is unstable (it grows at {-decay:.3g} 1/s): it has no margins. See `spillover`.")
    response, grid = FrequencyResponse(closed), frequency_grid(loop, closed)
    S = response.on(grid)
    loops = tuple(_loop_margin(name, k, response, grid, 1.0 / S[:, k, k] - 1.0) for k, name in enumerate(loop.inputs))
    units = np.sqrt(np.diag(controller.R)) if isinstance(controller, Regulator) else np.ones(len(one))
    disk, distance = 2.0 / _scaled_peak(2.0 * S - one, units), 1.0 / _scaled_peak(S, units)  # S - T with T = 1 - S
    delay, at = _common_delay(response, grid, np.linalg.inv(S) - one)
    return RobustnessReport(loops, float(distance), float(disk), delay, at, decay)


def _loop_margin(name: str, k: int, response: FrequencyResponse, grid: np.ndarray, L: np.ndarray) -> LoopMargin:
    """Margins from the loop gain of one input on a grid; crossings are then found by bisection."""

    def single(w: float) -> complex:
        return 1.0 / (response.diagonal_entry(k, w) or complex(1e-30)) - 1.0

    crossings = _roots(lambda w: np.abs(single(w)) - 1.0, grid, np.abs(L) - 1.0)
    lags = [np.mod(np.angle(-single(w)), 2 * np.pi) for w in crossings]  # how much later -L may come
    phases = [min(lag, 2 * np.pi - lag) for lag in lags]
    delays = [(lag / w, w) for lag, w in zip(lags, crossings, strict=True)]
    # A loop that only just holds something up falls over without swinging: L is real at zero frequency too.
    ends = [0.0] if response.period is None else [0.0, np.pi / response.period]
    real = [*ends, *_roots(lambda w: single(w).imag, grid, np.imag(L))]
    factors = [f for f in (_minus_inverse(single(w).real) for w in real) if f > _NONE]
    delay, at = min(delays, default=(np.inf, np.nan))
    return LoopMargin(
        name,
        gain_up=float(min((f for f in factors if f > 1.0), default=np.inf)),
        gain_down=float(max((f for f in factors if f < 1.0), default=0.0)),
        phase=float(min(phases, default=np.inf)),
        delay=float(delay),
        delay_frequency=float(at),
        distance=float(np.min(np.abs(1.0 + L))),
    )


def _roots(function: Callable[[float], float], grid: np.ndarray, values: np.ndarray) -> list[float]:
    """Zeros of a function of frequency between neighbours of a grid where it changes sign without a jump."""
    found = []
    for k in np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0):
        low, high, sign = grid[k], grid[k + 1], np.sign(values[k])
        for _ in range(50):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if np.sign(function(middle)) == sign else (low, middle)
        middle = 0.5 * (low + high)
        if abs(function(middle)) < 0.1 * max(abs(values[k]), abs(values[k + 1])):  # a pole changes sign too
            found.append(float(middle))
    return found


def _common_delay(response: FrequencyResponse, grid: np.ndarray, L: np.ndarray) -> tuple[float, float]:
    """Smallest delay of all inputs with det(1 + L e^(-iw delay)) = 0: an eigenvalue of L on the unit circle."""
    counts = np.sum(np.abs(np.linalg.eigvals(L)) > 1.0, axis=1)
    best = np.inf, np.nan
    for k in np.flatnonzero(np.diff(counts)):
        low, high = grid[k], grid[k + 1]
        for _ in range(50):
            middle = 0.5 * (low + high)
            same = np.sum(np.abs(_loop_values(response, middle)) > 1.0) == counts[k]
            low, high = (middle, high) if same else (low, middle)
        values = _loop_values(response, high)
        value = values[np.argmin(np.abs(np.abs(values) - 1.0))]
        if abs(abs(value) - 1.0) < 1e-3:
            best = min(best, (float(np.mod(np.angle(-value), 2 * np.pi) / high), float(high)))
    return best


def _loop_values(response: FrequencyResponse, frequency: float) -> np.ndarray:
    """Eigenvalues of the loop gain L = S^-1 - 1 at a frequency [rad/s]."""
    return 1.0 / np.linalg.eigvals(response(frequency)) - 1.0


def _scaled_peak(matrices: np.ndarray, units: np.ndarray) -> float:
    """Largest singular value over all frequencies, inputs in units that make it small: each input errs by itself.

    Perron scaling of the absolute values, or the units given; any scaling gives a bound that holds.
    """
    sizes = np.abs(matrices) + 1e-12 * np.max(np.abs(matrices), axis=(1, 2), keepdims=True)
    scale = np.sqrt(_perron_vectors(np.swapaxes(sizes, 1, 2)) / _perron_vectors(sizes))
    both = [scale[:, :, None] * matrices / scale[:, None, :], units[:, None] * matrices / units]
    return float(np.max(np.min([np.linalg.norm(scaled, 2, axis=(1, 2)) for scaled in both], axis=0)))


def _perron_vectors(sizes: np.ndarray) -> np.ndarray:
    """Eigenvector of the largest eigenvalue of each positive matrix."""
    values, vectors = np.linalg.eig(sizes)
    largest = np.argmax(np.real(values), axis=1)
    return np.abs(vectors[np.arange(len(sizes)), :, largest])


def _minus_inverse(value: float) -> float:
    return -1.0 / value if value != 0.0 else np.inf

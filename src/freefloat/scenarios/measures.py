"""Numbers read off a run, as the papers quote them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from freefloat.sim import Run
    from freefloat.values.labelled_array import LabelledArray


def largest_norm(run: Run, channel: str, degrees: bool = False, by_component: bool = False) -> float:
    """Largest length of a vector channel over the run, or its largest component."""
    values = run.values(channel)
    sizes = np.abs(values) if by_component else np.linalg.norm(values, axis=-1)
    largest = float(np.max(sizes))
    return float(np.rad2deg(largest)) if degrees else largest


def roll_pitch_yaw_deg(run: Run) -> tuple[float, float, float]:
    """Rotation of the base at the end relative to its start, Z-Y-X Euler angles [deg]."""
    roll, pitch, yaw = np.rad2deg(run.values("base.roll_pitch_yaw")[-1])
    return float(roll), float(pitch), float(yaw)


def position_in_base(run: Run, frame: str) -> np.ndarray:
    """Position of a frame relative to the base at the start, base axes [m]."""
    w, x, y, z = run.values("base.attitude")[0]
    way, axis = run.values(f"{frame}.position")[0] - run.values("base.position")[0], np.array([x, y, z])
    # Rotated back by the base's quaternion.
    return way - 2.0 * np.cross(axis, w * way - np.cross(axis, way))


def roll_pitch_yaw(run: Run) -> LabelledArray:
    """Rotation of the base relative to its start over the run [deg]."""
    return run["base.roll_pitch_yaw"] * (180.0 / np.pi)


def peak_to_peak(channel: LabelledArray, until: float) -> float:
    """Highest minus lowest value before a time [s]."""
    early = channel.sel(time=slice(0.0, until)).values
    return float(np.max(early) - np.min(early))


def damped_frequency_hz(channel: LabelledArray) -> float:
    """Frequency of one damped sinusoid with an offset, fitted to the whole channel [Hz]."""
    return damped_sinusoid(channel)[0]


def damped_sinusoid(channel: LabelledArray) -> tuple[float, float]:
    """Frequency [Hz] and damping ratio of one damped sinusoid with an offset, fitted to the whole channel."""
    from scipy.optimize import least_squares

    t, y = channel["time"].values, channel.values
    spectrum = np.abs(np.fft.rfft(y - y.mean(), n=16 * len(y)))
    guess = np.fft.rfftfreq(16 * len(y), t[1] - t[0])[np.argmax(spectrum)]

    def misfit(x: np.ndarray) -> np.ndarray:
        """Residuals of the fit; for each frequency and decay the best amplitudes follow linearly."""
        wave = np.exp(-x[1] * t) * np.exp(2j * np.pi * x[0] * t)
        basis = np.stack([np.ones_like(t), wave.real, wave.imag], axis=1)
        return basis @ np.linalg.lstsq(basis, y, rcond=None)[0] - y

    scale = max(float(np.max(np.abs(y))), 1e-300)
    frequency, decay = least_squares(lambda x: misfit(x) / scale, (guess, 0.01), xtol=1e-12, ftol=1e-14).x
    return float(frequency), float(decay / np.hypot(decay, 2.0 * np.pi * frequency))


def attitude_disturbance_deg(run: Run, prefix: str = "") -> np.ndarray:
    """Rotation angle of a base since the start, over time [deg]; `prefix` selects one of several spacecraft."""
    attitude = run.values(f"{prefix}base.attitude")
    first = attitude[0]
    w = attitude @ first
    xyz = np.linalg.norm(attitude - np.outer(w, first), axis=1)
    return np.rad2deg(2.0 * np.arctan2(xyz, np.abs(w)))


def angles_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Angles [rad] between attitudes, unit quaternions (n, 4)."""
    # The chord keeps its digits where the angle is small; both signs are one attitude.
    chord = np.minimum(np.linalg.norm(a - b, axis=1), np.linalg.norm(a + b, axis=1))
    return 4.0 * np.arcsin(np.clip(0.5 * chord, 0.0, 1.0))


def recovery_time(run: Run, angle_deg: np.ndarray, limit_deg: float) -> float:
    """Time from the start until an angle stays within a limit [s]; infinite if the run ends before."""
    time = run.values("time")
    outside = np.flatnonzero(angle_deg > limit_deg)
    if not outside.size:
        return 0.0
    return float(time[outside[-1] + 1]) if outside[-1] + 1 < len(time) else float("inf")


def value_at(run: Run, values: np.ndarray, t: float) -> float:
    """Recorded value at a time, interpolated linearly between records."""
    return float(np.interp(t, run.values("time"), values))


def first_event(run: Run, kind: str) -> dict[str, Any] | None:
    """First event of a kind, such as `latched`; None if there was none."""
    return next((event for event in run.events if event.get("kind") == kind), None)


def crossing_time(run: Run, values: np.ndarray, level: float) -> float:
    """Time at which a recorded value first exceeds a level [s]; infinite if it never does."""
    time, above = run.values("time"), np.flatnonzero(values > level)
    if not above.size:
        return float("inf")
    k = int(above[0])
    if k == 0:
        return float(time[0])
    return float(np.interp(level, values[k - 1 : k + 1], time[k - 1 : k + 1]))

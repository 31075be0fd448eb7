"""Drift of a spacecraft by the second-order term of gravity, which a linear field leaves out.

The term is recorded along the motion. The drift is the solution of d'' = G(t) d + a(t) from rest, with a the term and
G the linear field: the first correction of a free motion. Control is not known here: for a spacecraft whose position is
controlled the number is the drift that its control would have had to compensate.
"""

from __future__ import annotations

import numpy as np

from freefloat.effects.circular_orbit import CircularOrbit
from freefloat.effects.elliptic_orbit import EllipticOrbit
from freefloat.values.compiling import over_rows
from freefloat.values.labelled import LabelledArrays

_STEP = 0.02  # of 1 / n: the midpoint rule is then right to 1e-3 over an orbit
_WARNING_CHANNELS = ("position", "neglected")


def neglected_gravity_warning(
    name: str, orbit: CircularOrbit | EllipticOrbit, data: LabelledArrays, prefix: str, accuracy: float
) -> tuple[str, ...]:
    """Warning where the drift by the term that was left out exceeds an accuracy [m]."""
    t, left_out = data["time"].values, data[f"{prefix}orbit.neglected"].values
    if len(t) < 2 or not np.all(np.isfinite(left_out)):
        return ()
    drift = neglected_drift(orbit, t, left_out)
    if drift <= accuracy:
        return ()
    away, most = (np.max(np.linalg.norm(data[f"{prefix}orbit.{name}"].values, axis=-1)) for name in _WARNING_CHANNELS)
    return (
        f"{name}: it was up to {away:.3g} m from N's origin on the orbit, where the linear gravity field leaves out "
        f"{most:.2g} m/s2; a free spacecraft drifts {drift:.2g} m by that, more than the accuracy of {accuracy:g} m. "
        "Use GravityGradient(..., field='full').",
    )


def neglected_drift(orbit: CircularOrbit | EllipticOrbit, t: np.ndarray, left_out: np.ndarray) -> float:
    """Largest distance [m] by which accelerations (times, 3) in N, recorded at t, carry a free mass away from rest."""
    rates = over_rows(type(orbit).tidal_rate, orbit, rows=t)
    steps = max(len(t) - 1, int(np.ceil((t[-1] - t[0]) * np.max(rates) / _STEP)))
    ends = np.linspace(t[0], t[-1], steps + 1)
    middle, h = 0.5 * (ends[1:] + ends[:-1]), ends[1] - ends[0]
    nadirs = over_rows(type(orbit).nadir, orbit, rows=middle)
    squares = np.interp(middle, t, rates**2)
    pushes = np.stack([np.interp(middle, t, left_out[:, k]) for k in range(3)], axis=-1)
    place, velocity, farthest = np.zeros(3), np.zeros(3), 0.0
    for c, n2, push in zip(nadirs, squares, pushes, strict=True):
        half = place + 0.5 * h * velocity
        velocity = velocity + h * (push + n2 * (3.0 * c * (c @ half) - half))
        place = half + 0.5 * h * velocity
        farthest = max(farthest, float(np.linalg.norm(place)))
    return farthest

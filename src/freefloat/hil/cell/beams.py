"""Flexible beams on a flange: every mode of a clamped beam is modelled as a mass on a spring.

A bending mode with the integrals p and h (of its shape, and of its shape times the station, over a beam of unit length
and L2-normalised) moves the root exactly as a mass m p^2 does that slides across the beam at x = L h / p. What the
modes leave of the beam's mass, first and second moment is rigid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.flex.end_conditions import BeamModes
from freefloat.hil.cell.mockups import Mockup, digits
from freefloat.spatial.poses import Pose
from freefloat.values.checks import require_bounds
from freefloat.values.errors import ModelError


@dataclass(frozen=True)
class HangingBeams:
    """Two equal beams along x and -x of the flange, their roots on its axis, bending along y."""

    length: float = 0.635  # [m]
    mass: float = 0.83  # [kg]
    bending_stiffness: float = 0.46  # EI [N m2]
    damping_ratio: float = 7.2e-3
    modes: int = 2
    tips: tuple[float, float] = (0.0, 0.0)  # [m] along y, in the first mode, held until the run begins

    def __post_init__(self) -> None:
        require_bounds(self, {"length": "m", "mass": "kg", "bending_stiffness": "N m2"}, above=0.0)
        require_bounds(self, {"damping_ratio": ""}, least=0.0)
        if self.modes < 1:
            raise ModelError(f"HangingBeams.modes must be at least 1, got {self.modes}.")

    def integrals(self) -> tuple[np.ndarray, np.ndarray]:
        """Integrals p and h of every mode, L2-normalised."""
        b = BeamModes(self.modes).eigenvalues
        sigma = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
        return 2.0 * sigma / b, 2.0 / b**2

    def frequencies(self) -> np.ndarray:
        """Natural frequencies of the clamped beam [rad/s]."""
        b = BeamModes(self.modes).eigenvalues
        return b**2 * np.sqrt(self.bending_stiffness / (self.mass * self.length**3))

    def mockup(self, X_PM: Pose | None = None) -> Mockup:
        """The beams as a mock-up on a flange; the default carried frame is that of the flange."""
        text = "".join(self._beam(side, sign) for side, sign in _SIDES)
        first = self.integrals()[0][0]
        # Tip-normalised, the first mode's coordinate is the tip's; L2-normalised half of it; of its mass 1/p more.
        held = {f"{side}_1": 0.5 * tip / first for (side, _), tip in zip(_SIDES, self.tips, strict=True)}
        return Mockup(X_PM or Pose(), text, held=held)

    def _beam(self, side: str, sign: float) -> str:
        m, L, w = self.mass, self.length, self.frequencies()
        p, h = self.integrals()
        masses, places = m * p**2, sign * L * h / p
        moving = "".join(
            f'<body name="ROBOT.{side}_{j + 1}" pos="{digits((places[j], 0.0, 0.0))}">'
            f'<joint name="ROBOT.{side}_{j + 1}" type="slide" axis="0 1 0" stiffness="{digits(masses[j] * w[j] ** 2)}" '
            f'damping="{digits(2.0 * self.damping_ratio * w[j] * masses[j])}"/>'
            f'<inertial pos="0 0 0" mass="{digits(masses[j])}" diaginertia="1e-9 1e-9 1e-9"/>'
            f'<geom name="ROBOT.{side}_{j + 1}" type="sphere" size="0.015"/></body>'
            for j in range(self.modes)
        )
        rest = m - masses.sum()
        place = (m * sign * L / 2.0 - masses @ places) / rest
        about = m * L**2 / 3.0 - masses @ places**2 - rest * place**2
        return (
            f'<body name="ROBOT.{side}"><inertial pos="{digits((place, 0.0, 0.0))}" mass="{digits(rest)}" '
            f'diaginertia="{digits((_THIN, about, about))}"/>'
            f'<geom name="ROBOT.{side}" type="capsule" fromto="0 0 0 {digits((sign * L, 0.0, 0.0))}" size="0.008"/>'
            f"{moving}</body>"
        )


_SIDES = (("right", 1.0), ("left", -1.0))
_THIN = 1e-6  # [kg m2] about a beam's own axis

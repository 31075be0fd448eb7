"""A track along a meshed beam: how the beam moves a carriage at evenly spaced stations, ready to be a `Rail`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from freefloat.model.modal import Rail


@dataclass(frozen=True)
class Track:
    """Tables over stations and coordinates; the second of each pair is the change per metre along the track.

    Deflections are exact between stations that include the mesh lines: the elements are cubics, and so is the rail.
    Where two elements meet, their curvatures differ; the track takes the mean, so that a carriage that passes turns
    smoothly. Between stations beside such a line its angle differs from the elements' by what that costs.
    """

    spacing: float  # [m]; the first station is at zero
    position: np.ndarray  # (stations, 3) at rest [m]
    direction: np.ndarray  # (3,) along the track
    translation: np.ndarray  # (stations, 3, coordinates)
    translation_slope: np.ndarray
    rotation: np.ndarray  # (stations, 3, coordinates) [rad]
    rotation_slope: np.ndarray

    def project(self, basis: np.ndarray) -> Track:
        """The same track with fewer coordinates."""
        return replace(self, **{name: getattr(self, name) @ basis for name in _TABLES})

    def place_at(self, R: np.ndarray, p: np.ndarray) -> Track:
        """The same track in another frame."""
        tables = {name: np.einsum("ab,kbj->kaj", R, getattr(self, name)) for name in _TABLES}
        return replace(self, position=self.position @ R.T + p, direction=R @ self.direction, **tables)

    def rail(self) -> Rail:
        """What a flexible body keeps of it."""
        return Rail(
            start=0.0,
            spacing=self.spacing,
            position=self.position,
            position_slope=np.tile(self.direction, (len(self.position), 1)),
            translation=self.translation,
            translation_slope=self.translation_slope,
            rotation=self.rotation,
            rotation_slope=self.rotation_slope,
        )


_TABLES = ("translation", "translation_slope", "rotation", "rotation_slope")

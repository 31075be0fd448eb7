"""A track along a meshed beam: how the beam moves a carriage at evenly spaced stations, ready to be a `Rail`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from freefloat.flex.lines import hermite_row, quadratic_row
from freefloat.model.modal import Rail
from freefloat.values.errors import ModelError


@dataclass(frozen=True)
class BeamTrack:
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

    def project(self, basis: np.ndarray) -> BeamTrack:
        """This track with fewer coordinates."""
        return replace(self, **{name: getattr(self, name) @ basis for name in _TABLES})

    def place_at(self, R: np.ndarray, p: np.ndarray) -> BeamTrack:
        """This track in another frame."""
        tables = {name: np.einsum("ab,kbj->kaj", R, getattr(self, name)) for name in _TABLES}
        return replace(self, position=self.position @ R.T + p, direction=R @ self.direction, **tables)

    def rail(self) -> Rail:
        """The rail of a flexible body with this track."""
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


def beam_track(name: str, edges: np.ndarray, free: Mapping[str, np.ndarray], count: int) -> BeamTrack:
    """Track along a beam on x with mesh lines `edges`; `free`: which freedoms of each motion are coordinates."""
    if count < 2:
        raise ModelError(f"A rail along beam '{name}' needs at least two stations, not {count}.")
    stations = np.linspace(edges[0], edges[-1], count)

    def table(motion: str, derivative: int) -> np.ndarray:
        """Table (stations, coordinates) of one motion; zeros where there is no such motion."""
        blocks = []
        for other, kept in free.items():
            row = hermite_row if other in ("y", "z") else quadratic_row
            found = np.array([row(edges, x, derivative)[kept] for x in stations])
            blocks.append(found if other == motion else np.zeros_like(found))
        return np.hstack(blocks)

    def translation_table(derivative: int) -> np.ndarray:
        return np.stack([table(m, derivative) for m in ("axial", "y", "z")], axis=1)

    def rotation_table(derivative: int) -> np.ndarray:
        bends = -table("z", derivative + 1), table("y", derivative + 1)
        return np.stack([table("torsion", derivative), *bends], axis=1)

    along = np.array([1.0, 0.0, 0.0])
    return BeamTrack(
        spacing=float(stations[1] - stations[0]),
        position=np.outer(stations, along),
        direction=along,
        translation=translation_table(0),
        translation_slope=translation_table(1),
        rotation=rotation_table(0),
        rotation_slope=rotation_table(1),
    )

"""What a structure looks like: points on its surface, how its coordinates move them, and triangles between them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from freefloat.model.modal import Rail
from freefloat.model.shapes import Skin


@dataclass(frozen=True)
class Surface:
    """Points of a surface, their motion and triangles: for pictures only, never for motion."""

    position: np.ndarray  # (points, 3) at rest [m]
    motion: np.ndarray  # (points, 3, coordinates)
    faces: np.ndarray  # (triangles, 3) indices of points
    colour: str = "panel"

    def project(self, basis: np.ndarray) -> Surface:
        """This surface with fewer coordinates."""
        return replace(self, motion=self.motion @ basis)

    def place_at(self, R: np.ndarray, p: np.ndarray) -> Surface:
        """This surface in another frame."""
        return replace(self, position=self.position @ R.T + p, motion=np.einsum("ab,kbj->kaj", R, self.motion))

    def skin(self) -> Skin:
        """The skin of a flexible body with this surface."""
        return Skin(self.position, self.motion, self.faces, self.colour)


def grid_faces(rows: int, columns: int, closed: bool = False) -> np.ndarray:
    """Two triangles for every cell of a grid of points, row by row; `closed`: the last column meets the first."""
    i, j = np.meshgrid(np.arange(rows - 1), np.arange(columns if closed else columns - 1), indexing="ij")
    a, b = (i * columns + j).ravel(), (i * columns + (j + 1) % columns).ravel()
    c, d = a + columns, b + columns
    return np.concatenate([np.column_stack([a, c, b]), np.column_stack([b, c, d])])


def tube_skin(rail: Rail, radius: float, *, sides: int = 10, colour: str = "tank") -> Skin:
    """A tube around the rail of a beam: its rings move and turn with the beam. Long rails: at 25 to 48 stations."""
    every = max(1, (len(np.asarray(rail.position)) - 1) // 24)
    position, along = (np.asarray(x, dtype=float)[::every] for x in (rail.position, rail.position_slope))
    shift, turn = (np.asarray(x, dtype=float)[::every] for x in (rail.translation, rail.rotation))
    aside = np.eye(3)[int(np.argmin(np.abs(along[0])))]
    first = np.cross(along[0], aside)
    first, axis = first / np.linalg.norm(first), along[0] / np.linalg.norm(along[0])
    second, angles = np.cross(axis, first), 2.0 * np.pi * np.arange(sides) / sides
    arms = radius * (np.cos(angles)[:, None] * first + np.sin(angles)[:, None] * second)  # (sides, 3)
    points = position[:, None, :] + arms
    turned = np.cross(np.moveaxis(turn, 2, 1)[:, None], arms[None, :, None], axis=-1)  # (stations, sides, modes, 3)
    motion = shift[:, None] + np.moveaxis(turned, -1, -2)
    return Skin(
        points.reshape(-1, 3), motion.reshape(-1, 3, shift.shape[2]), grid_faces(len(position), sides, True), colour
    )

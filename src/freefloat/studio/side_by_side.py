"""Orbit and cell in one picture: the spacecraft where they are, and the facility's robots beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.report.solids import triangles
from freefloat.spatial.rotations import rotation_matrix

if TYPE_CHECKING:
    from freefloat.hil.rehearse import Moment
    from freefloat.model import State, World

_GAP = 1.0  # between the two, and above them to their names [m]


def orbit_poses(world: World, states: tuple[State, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Positions (bodies, 3) [m] and attitudes (bodies, 4) of every body of every spacecraft, in N."""
    from freefloat.dynamics import inertial_body_poses

    poses = [inertial_body_poses(craft, state) for craft, state in zip(world.crafts, states, strict=True)]
    position, attitude = (np.concatenate([np.asarray(x) for x in column]) for column in zip(*poses, strict=True))
    return position, attitude


class SideBySide:
    """The two halves, placed once at the start: afterwards each moves in its own frame."""

    def __init__(self, start: Moment) -> None:
        from freefloat.hil.cell_scene import cell_drawing
        from freefloat.model.drawing import drawing

        world = start.cycle.system.world
        orbit, cell = drawing(world), cell_drawing(start.facility)
        self._bodies = [body["name"] for body in cell["bodies"]]
        here = _corners(orbit["bodies"], *orbit_poses(world, start.states()))
        there = _corners(cell["bodies"], *self._cell(start)) if self._bodies else here
        centre = 0.5 * (here[0] + here[1])
        self._shift = centre - 0.5 * (there[0] + there[1])
        self._shift[1] = here[0, 1] - _GAP - there[1, 1]
        tops = [np.array([*(0.5 * (low + high))[:2], high[2] + _GAP]) for low, high in (here, there + self._shift)]
        self.drawing: dict[str, Any] = {
            **orbit,
            "bodies": [*orbit["bodies"], *cell["bodies"]],
            "labels": list(zip(("orbit", cell["name"]), tops, strict=True)),
        }

    def poses(self, moment: Moment) -> tuple[np.ndarray, np.ndarray]:
        """Of all bodies in the order of the drawing."""
        position, attitude = orbit_poses(moment.cycle.system.world, moment.states())
        if not self._bodies:
            return position, attitude
        p_F, quat_F = self._cell(moment)
        return np.concatenate([position, p_F + self._shift]), np.concatenate([attitude, quat_F])

    def _cell(self, moment: Moment) -> tuple[np.ndarray, np.ndarray]:
        poses = moment.facility.poses()
        return np.array([poses[name][0] for name in self._bodies]), np.array([poses[name][1] for name in self._bodies])


def _corners(bodies: list[dict[str, Any]], position: np.ndarray, attitude: np.ndarray) -> np.ndarray:
    """Lowest and highest corner (2, 3) of a box around what is drawn [m]."""
    points = [position]
    for body, p, quat in zip(bodies, position, attitude, strict=True):
        R = np.asarray(rotation_matrix(quat))
        points += [p + triangles(shape)[0] @ R.T for shape in body["shapes"]]
    every = np.concatenate(points)
    return np.stack([every.min(axis=0), every.max(axis=0)])

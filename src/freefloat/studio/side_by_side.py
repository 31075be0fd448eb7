"""Orbit and cell in one picture: the spacecraft at their poses, and the facility's robots beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.report.cell_placement import GAP, corners, shift_beside

if TYPE_CHECKING:
    from freefloat.hil.rehearse import Moment
    from freefloat.model import State, World


def orbit_poses(world: World, states: tuple[State, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Positions (bodies, 3) [m] and attitudes (bodies, 4) of every body of every spacecraft, in N."""
    from freefloat.dynamics import inertial_body_poses

    poses = [inertial_body_poses(craft, state) for craft, state in zip(world.crafts, states, strict=True)]
    position, attitude = (np.concatenate([np.asarray(x) for x in column]) for column in zip(*poses, strict=True))
    return position, attitude


class SideBySide:
    """Drawing of orbit and cell; the cell is placed once at the start, then each moves in its own frame."""

    def __init__(self, start: Moment) -> None:
        from freefloat.hil.record.cell_scene import cell_drawing
        from freefloat.model.drawing import drawing

        world = start.cycle.system.world
        orbit, cell = drawing(world), cell_drawing(start.facility)
        self._bodies = [body["name"] for body in cell["bodies"]]
        here = corners(orbit["bodies"], *orbit_poses(world, start.states()))
        there = corners(cell["bodies"], *self._cell(start)) if self._bodies else here
        self._shift = shift_beside(here, there)
        tops = [np.array([*(0.5 * (low + high))[:2], high[2] + GAP]) for low, high in (here, there + self._shift)]
        self.drawing: dict[str, Any] = {
            **orbit,
            "bodies": [*orbit["bodies"], *cell["bodies"]],
            "labels": list(zip(("orbit", cell["name"]), tops, strict=True)),
        }

    def poses(self, moment: Moment) -> tuple[np.ndarray, np.ndarray]:
        """Positions (bodies, 3) [m] and attitudes (bodies, 4) of all bodies in the order of the drawing."""
        position, attitude = orbit_poses(moment.cycle.system.world, moment.states())
        if not self._bodies:
            return position, attitude
        p_F, quat_F = self._cell(moment)
        return np.concatenate([position, p_F + self._shift]), np.concatenate([attitude, quat_F])

    def _cell(self, moment: Moment) -> tuple[np.ndarray, np.ndarray]:
        poses = moment.facility.poses()
        return np.array([poses[name][0] for name in self._bodies]), np.array([poses[name][1] for name in self._bodies])

"""The cell in the scene of a rehearsal: poses of its bodies over time, and their shapes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from freefloat.hil.facility import Facility
from freefloat.model.drawing import drawn_shape
from freefloat.sim.record.run import Run

_FRAMES = 600  # poses recorded at most

Poses = Mapping[str, tuple[np.ndarray, np.ndarray]]


class CellCamera:
    """Records the poses of the bodies of a facility, some hundred times in a rehearsal."""

    def __init__(self, facility: Facility, cycles: int) -> None:
        self._facility, self._every = facility, max(1, cycles // _FRAMES)
        self.taken: list[tuple[int, Poses]] = []

    def record_poses(self, cycle: int) -> None:
        """Record the poses if it is time for them; called once a cycle."""
        if cycle % self._every == 0:
            self.taken.append((cycle, self._facility.poses()))


def with_cell_scene(run: Run, facility: Facility, taken: Sequence[tuple[int, Poses]]) -> Run:
    """The run with the recorded poses of the cell's bodies; unchanged for a facility without shapes."""
    parts = facility.parts()
    bodies = list(dict.fromkeys(part.body for part in parts))
    if not taken or not all(body in taken[0][1] for body in bodies) or not bodies:
        return run
    at = np.array([cycle for cycle, _ in taken]) * facility.cycle
    nearest = np.clip(np.searchsorted(at, run.recorded["time"].values + 1e-9) - 1, 0, None)
    arrays: dict[str, Any] = {}
    for number, (what, axis, unit) in enumerate((("position", "xyz", "m"), ("attitude", "wxyz", "1"))):
        values = np.array([[poses[body][number] for body in bodies] for _, poses in taken])[nearest]
        about = {"units": unit, "frame": "F", "long_name": f"Every body's {what} in the cell"}
        arrays[f"cell.bodies.{what}"] = (("time", "cell.body", axis), values, about)
    recorded = run.recorded.with_arrays(arrays, coords={"cell.body": bodies})
    scene = {**(run.scene or {}), "cell": cell_drawing(facility)}
    return dataclasses.replace(run, recorded=recorded, scene=scene)


def cell_drawing(facility: Facility) -> dict[str, Any]:
    """Bodies and shapes of a facility, in the form of a drawn spacecraft; none for a facility without shapes."""
    parts = facility.parts()
    bodies = list(dict.fromkeys(part.body for part in parts))
    shapes = {body: [drawn_shape(part.shape) for part in parts if part.body == body] for body in bodies}
    drawn = [{"name": body, "parent": None, "shapes": shapes[body]} for body in bodies]
    return {"name": f"cell {facility.name}", "axes": "F", "bodies": drawn, "frames": []}

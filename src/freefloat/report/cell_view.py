"""The cell of a rehearsal as a page of its own: the same times and curves, with the robots instead of the orbit."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freefloat.sim import Run


def cell_view(run: Run) -> Run | None:
    """Motion of the robots in the cell as a run that a page can show; None if the run has no drawing of the cell."""
    drawing = (run.scene or {}).get("cell")
    if not drawing or "cell.bodies.position" not in run.recorded:
        return None
    others = [name for name in run.channels if not name.startswith("cell.")]
    own = run.recorded.without(others)
    bodies = {f"bodies.{what}": own[f"cell.bodies.{what}"] for what in ("position", "attitude")}
    recorded = own.with_arrays({name: (array.dims, array.values, array.attrs) for name, array in bodies.items()})
    description = dataclasses.replace(run.description, title=f"{run.description.title or 'Rehearsal'}: in the cell")
    return dataclasses.replace(run, recorded=recorded, scene=drawing, description=description)

"""Claims of a capture that ends in a latch: momentum of both spacecraft, the grasp itself, the attitude at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.scenarios.measures import attitude_disturbance_deg, recovery_time
from freefloat.values.claims import OWN_BOUND, Claim, Source

if TYPE_CHECKING:
    from freefloat.sim import Run

_NOTHING_OUTSIDE = Source("exact", "nothing pushes from outside")
_RIGID = Source("exact", "a latch holds all six directions")
_FREE = Source("exact", "nothing pushes the target once it is let go")


def latch_claims(variant: str, run: Run) -> Iterator[Claim]:
    """Claims of a run that latched; more of them if the run is long enough."""
    P, L = (run[f"world.momentum.{kind}"].values for kind in ("linear", "angular"))
    changed = [float(np.abs(values - values[0]).max()) for values in (P, L)]
    yield Claim("momentum of both through the latch, change", "below", 1e-10, changed[0], "N s", _NOTHING_OUTSIDE)
    yield Claim("angular momentum of both, change", "below", 1e-10, changed[1], "N m s", _NOTHING_OUTSIDE)
    latched, released = (_event(run, kind) for kind in ("latched", "released"))
    if latched is None:
        return
    time = run["time"].values
    held = (time > latched["time"]) & (time < (released["time"] if released else np.inf))
    yield Claim("grip in the hand, largest motion", "below", 1e-9, _slip(run, held), "m", _RIGID)
    if released is not None:
        after = run["target.momentum.linear"].values[time > released["time"]]
        drift = float(np.abs(after - after[0]).max())
        yield Claim("momentum of the released target, change", "below", 1e-10, drift, "N s", _FREE)
        kept = np.linalg.norm(after[-1] - run["target.momentum.linear"].values[0])
        yield Claim("momentum that the target left with the chaser", "above", 0.1, float(kept), "N s", OWN_BOUND)
    if variant == "case-1-after":
        angle = attitude_disturbance_deg(run, "chaser.")
        settled = recovery_time(run, angle, 0.1)
        yield Claim("largest attitude after the latch", "below", 1.2, float(angle[held].max()), "deg", OWN_BOUND)
        yield Claim("attitude back within 0.1 deg after", "below", 300.0, settled, "s", OWN_BOUND)


def _event(run: Run, kind: str) -> dict[str, Any] | None:
    return next((event for event in run.events if event.get("kind") == kind), None)


def _slip(run: Run, held: np.ndarray) -> float:
    """Largest motion of the grip in the hand's axes while it is held [m]."""
    from freefloat.spatial.rotations import rotation_matrix

    apart = (run["target.grip.position"].values - run["chaser.hand.position"].values)[held]
    turned = np.stack([np.asarray(rotation_matrix(q)) for q in run["chaser.hand.attitude"].values[held]])
    inside = np.einsum("nji,nj->ni", turned, apart)
    return float(np.abs(inside - inside[0]).max(initial=0.0))

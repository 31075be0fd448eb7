"""ETS-VII, experiment 1 from many start poses at once: is the base pitch of the flight typical?"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.scenarios.batches import recorded, repeated
from freefloat.scenarios.ets7.gjm import Ets7Gjm
from freefloat.scenarios.ets7.parts import spacecraft

if TYPE_CHECKING:
    import xarray

    from freefloat.control import ResolvedMotion
    from freefloat.sim.simulate import Progress

REGULAR, DAMPED = "regular all the way", "near a singularity: rates damped"
_RECORD_DT = 2.0  # [s]


@dataclass(frozen=True)
class Scan:
    """A grid of poses in the arm's plane, and when a pose counts.

    Joints 2, 3 and 4 each take every `step_deg` from -most_deg to most_deg, the others stay at zero. Joint 3 is
    stretched at -90 and folded at 90 deg: both are singular, and the grid ends before them.
    """

    most_deg: float = 80.0
    step_deg: float = 20.0
    dt: float = 0.05  # [s]
    singular_below: float | None = None  # where the law damps its rates; None: where it usually does
    stray_mm: float = 1.0  # a hand that strays farther from its line does not reach the end of it

    @property
    def joints_deg(self) -> np.ndarray:
        """(poses, 6)."""
        values = np.arange(-self.most_deg, self.most_deg + 1e-9, self.step_deg)
        joints = np.zeros((len(values) ** 3, 6))
        joints[:, 1:4] = np.stack(np.meshgrid(values, values, values, indexing="ij"), axis=-1).reshape(-1, 3)
        return joints


def start_poses(
    scan: Scan | None = None, threads: int | None = None, progress: Progress | None = None
) -> xarray.Dataset:
    """The line of experiment 1 from every pose of a grid; rows are the poses from which the hand keeps to its line."""
    import xarray

    scan = scan or Scan()
    joints = scan.joints_deg
    pitch, stray, damped = _rolled(scan, threads, progress)
    kept = stray < scan.stray_mm
    columns: dict[str, Any] = {f"joint{k + 1}": ("pose", joints[kept, k], {"units": "deg"}) for k in (1, 2, 3)}
    columns |= {
        "hand_pitch": ("pose", wrapped(joints[kept].sum(axis=1)), {"units": "deg"}),
        "pitch": ("pose", pitch[kept], {"units": "deg"}),
        "stray": ("pose", np.round(stray[kept], 3), {"units": "mm"}),
        "way": ("pose", np.where(damped[kept], DAMPED, REGULAR)),
    }
    counts = {"poses": len(joints), "out_of_reach": int((~kept).sum())}
    return xarray.Dataset(columns, attrs=counts | {k: v for k, v in dataclasses.asdict(scan).items() if v is not None})


def wrapped(angle_deg: Any) -> Any:
    """An angle between -180 (included) and 180 deg."""
    return (angle_deg + 180.0) % 360.0 - 180.0


def _rolled(scan: Scan, threads: int | None, progress: Progress | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All poses side by side: base pitch at the end [deg], farthest from the line [mm], whether rates were damped."""
    from freefloat import engine
    from freefloat.sim.system import System, begin, no_inputs, step

    craft, starts = spacecraft(None, {}), np.deg2rad(scan.joints_deg)
    law = Ets7Gjm().law(craft)
    if scan.singular_below is not None:
        law = dataclasses.replace(law, singular_below=scan.singular_below)
    system, loop = begin(System(craft=craft, laws=(law,), dt=scan.dt), craft.at_rest(starts[0]))
    inputs = no_inputs(system)
    places = [law.begin(craft.at_rest(q)).start for q in starts]
    held = [np.stack([np.asarray(getattr(place, part)) for place in places]) for part in ("p", "R")]

    def advanced(z: Any, *start: Any) -> Any:
        return step(dataclasses.replace(system, laws=(_started(law, *start),)), z, inputs)

    advance = engine.compile(advanced, loop, *(h[0] for h in held))
    loops = recorded(
        advance,
        repeated(loop, starts),
        *held,
        steps=round(Ets7Gjm().duration / scan.dt),
        record_every=round(_RECORD_DT / scan.dt),
        threads=threads,
        progress=progress,
    )
    return _seen(law, scan.dt, held, loops)


def _started(law: ResolvedMotion, position: Any, rotation: Any) -> ResolvedMotion:
    from freefloat.spatial import Pose

    return dataclasses.replace(law, start=Pose(position=position, rotation=rotation))


def _seen(
    law: ResolvedMotion, dt: float, held: list[np.ndarray], loops: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the law saw at the recorded instants of each run, and the base pitch at its end."""
    import jax
    import jax.numpy as jnp

    from freefloat.spatial.rotations import roll_pitch_yaw

    def of_one(position: Any, rotation: Any, z: Any) -> Any:
        started = _started(law, position, rotation)
        error, _, _, damped = jax.vmap(lambda now: started.observe(law.craft, now.plant.state, now.tick * dt))(z)
        end = jax.tree.map(lambda leaf: leaf[-1], z.plant.state)
        return roll_pitch_yaw(end.X_NB.R)[1], jnp.linalg.norm(error, axis=1).max(), damped.max()

    pitch, stray, damped = jax.jit(lambda *runs: jax.lax.map(lambda run: of_one(*run), runs))(*held, loops)
    return np.rad2deg(pitch), 1e3 * np.asarray(stray), np.asarray(damped) > 0.0

"""ETS-VII, experiment 1 from many start poses at once: is the base pitch of the flight typical?"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.scenarios.batches import recorded, with_states
from freefloat.scenarios.ets7.gjm import Ets7Gjm
from freefloat.scenarios.ets7.parts import spacecraft
from freefloat.scenarios.ets7.start_pose_scatter import lever

if TYPE_CHECKING:
    import xarray

    from freefloat.control import ResolvedMotion
    from freefloat.sim import SystemState
    from freefloat.sim.simulate import Progress

BACK, FORTH = "upper arm leans back (joint 2 below 0)", "upper arm upright or leans forward"
_LOW_ELBOW, _LOW = 1.2, 1.1  # joint 3, and joint 4 and hand, must not be lower: the satellite is there [m]
_UNDAMPED = 1e-6  # singular value under which rates are damped: hardly ever


@dataclass(frozen=True)
class Scan:
    """A grid of poses in the arm's plane whose hand points as in flight, and when a pose counts.

    Joints 2 and 3 take every `step_deg` of their range, joint 4 gives the hand its pitch, the others stay at zero.
    """

    joint2_deg: tuple[float, float] = (-100.0, 70.0)
    joint3_deg: tuple[float, float] = (-150.0, 150.0)
    step_deg: float = 10.0
    hand_pitch_deg: float = -22.8
    most_deg_s: float = 5.0  # a pose from which a joint must move faster does not count
    dt: float = 0.05  # [s]

    @property
    def joints_deg(self) -> np.ndarray:
        """(poses, 6)."""
        ranges = (np.arange(low, high + 1e-9, self.step_deg) for low, high in (self.joint2_deg, self.joint3_deg))
        second, third = (grid.ravel() for grid in np.meshgrid(*ranges, indexing="ij"))
        joints = np.zeros((len(second), 6))
        joints[:, 1], joints[:, 2], joints[:, 3] = second, third, self.hand_pitch_deg - second - third
        return joints


def start_poses(
    scan: Scan | None = None, threads: int | None = None, progress: Progress | None = None
) -> xarray.Dataset:
    """The line of experiment 1 from every pose of a grid; rows are the poses that count."""
    import xarray

    scan = scan or Scan()
    joints = scan.joints_deg
    hand, lowest = _places(joints)
    high = lowest >= 0.0
    pitch, stray, rate = _rolled(scan, joints[high], threads, progress)
    slow = rate <= scan.most_deg_s
    joints, hand, pitch, stray, rate = joints[high][slow], hand[high][slow], pitch[slow], stray[slow], rate[slow]
    columns: dict[str, Any] = {f"joint{k + 1}": ("pose", joints[:, k], {"units": "deg"}) for k in (1, 2, 3)}
    columns |= {
        "lever": ("pose", lever(hand, scan.hand_pitch_deg), {"units": "m"}),
        "pitch": ("pose", pitch, {"units": "deg"}),
        "stray": ("pose", stray, {"units": "mm"}),
        "rate": ("pose", rate, {"units": "deg/s"}),
        "way": ("pose", np.where(joints[:, 1] < 0.0, BACK, FORTH)),
    }
    counts = {"poses": len(high), "low": int((~high).sum()), "fast": int((~slow).sum())}
    settings = {name: value for name, value in dataclasses.asdict(scan).items() if not isinstance(value, tuple)}
    return xarray.Dataset(columns, attrs=counts | settings)


def hand_of(joints_deg: np.ndarray) -> np.ndarray:
    """(poses, 3): where the hand is, base axes [m]."""
    return _places(joints_deg)[0]


def _places(joints_deg: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Hand positions, base axes; and how far each pose is above the heights it must not go below [m]."""
    import jax

    from freefloat.dynamics import frame_pose

    craft = spacecraft(None, {})
    for joint in (3, 4):
        craft = craft.with_frame(f"joint.{joint}", body=f"arm.{joint}")

    def points(q: Any) -> Any:
        return [frame_pose(craft, q, frame).p for frame in ("joint.3", "joint.4", "hand")]

    third, fourth, hand = map(np.asarray, jax.jit(jax.vmap(points))(np.deg2rad(joints_deg)))
    lowest = np.minimum(third[:, 2] - _LOW_ELBOW, np.minimum(fourth[:, 2], hand[:, 2]) - _LOW)
    return hand, lowest


def _rolled(
    scan: Scan, joints_deg: np.ndarray, threads: int | None, progress: Progress | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All poses side by side: base pitch at the end [deg], farthest from the line [mm], fastest joint [deg/s]."""
    from freefloat import engine
    from freefloat.model import World
    from freefloat.sim import assemble, begin, step

    craft, starts = spacecraft(None, {}), np.deg2rad(joints_deg)
    law = dataclasses.replace(Ets7Gjm().law(craft), singular_below=_UNDAMPED)
    system, loop = begin(assemble(World.of(craft), (law,), scan.dt), (craft.at_rest(starts[0]),))
    loops = _begun(law, loop, starts)
    advance = engine.compile(lambda z: step(system, z, {}), loop)
    records = recorded(
        advance,
        loops,
        steps=round(Ets7Gjm().duration / scan.dt),
        record_every=1,
        threads=threads,
        progress=progress,
    )
    return _seen(law, scan.dt, records)


def _begun(law: ResolvedMotion, loop: SystemState, starts: np.ndarray) -> SystemState:
    """One loop for each start, with the law begun there."""
    import jax

    from freefloat.sensors import IdealMeasurements

    def begun(q: Any) -> Any:
        state = law.craft.at_rest(q)
        memory = law.begin(IdealMeasurements.of(law.craft, state))
        software = (dataclasses.replace(loop.software[0], memory=memory),)
        return dataclasses.replace(with_states(loop, state), software=software)

    return jax.tree.map(np.asarray, jax.jit(jax.vmap(begun))(starts))


def _seen(law: ResolvedMotion, dt: float, loops: SystemState) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the law saw and asked for at every step of each run, and the base pitch at its end."""
    import jax
    import jax.numpy as jnp

    from freefloat.dynamics import inertial_frame_pose
    from freefloat.model import Clock
    from freefloat.sensors import IdealMeasurements
    from freefloat.spatial import linear
    from freefloat.spatial.rotations import roll_pitch_yaw

    def at_one(now: SystemState) -> Any:
        (state,), start, clock = now.states, now.software[0].memory, Clock(t=now.tick * dt, tick=now.tick, dt=dt)
        error = law.pose_error(start, inertial_frame_pose(law.craft, state, law.frame), clock.t)
        rates = law.rates(start, IdealMeasurements.of(law.craft, state), clock)
        return jnp.linalg.norm(linear(error)), jnp.max(jnp.abs(rates))

    def of_one(z: SystemState) -> Any:
        stray, rate = jax.vmap(at_one)(z)
        end = jax.tree.map(lambda leaf: leaf[-1], z.states[0])
        return roll_pitch_yaw(end.X_NB.R)[1], stray.max(), rate.max()

    pitch, stray, rate = jax.jit(lambda runs: jax.lax.map(of_one, runs))(loops)
    return np.rad2deg(pitch), 1e3 * np.asarray(stray), np.rad2deg(rate)

"""ETS-VII, experiment 1 from many start poses: is the base pitch of the flight typical?"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.campaign.campaign import Campaign
from freefloat.campaign.dispersions import ListedDispersion
from freefloat.campaign.driver import Route, run_campaign
from freefloat.campaign.metrics import Metric
from freefloat.scenarios.ets7.gjm import Ets7Gjm
from freefloat.scenarios.ets7.parts import spacecraft
from freefloat.scenarios.ets7.start_pose_scatter import lever

if TYPE_CHECKING:
    import xarray

    from freefloat.values.progress import Progress

BACK, FORTH = "upper arm leans back (joint 2 below 0)", "upper arm upright or leans forward"
_LOW_ELBOW, _LOW = 1.2, 1.1  # joint 3, and joint 4 and hand, must not be lower: the satellite is there [m]
_UNDAMPED = 1e-6  # singular value under which rates are damped: hardly ever
_BLOCK = 64  # runs between two reports of progress
_METRICS = (
    Metric("pitch", "degrees(base.roll_pitch_yaw[pitch])", unit="deg"),
    Metric("stray", "norm(hand.position_error) * 1000", "max", unit="mm"),
    Metric("rate", "degrees(max(abs(joints.rate)))", "max", unit="deg/s"),
)


@dataclass(frozen=True)
class PoseGrid:
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
        """Joint angles of the poses [deg], (poses, 6)."""
        ranges = (np.arange(low, high + 1e-9, self.step_deg) for low, high in (self.joint2_deg, self.joint3_deg))
        second, third = (grid.ravel() for grid in np.meshgrid(*ranges, indexing="ij"))
        joints = np.zeros((len(second), 6))
        joints[:, 1], joints[:, 2], joints[:, 3] = second, third, self.hand_pitch_deg - second - third
        return joints


def start_poses(
    scan: PoseGrid | None = None, threads: int | None = None, progress: Progress | None = None
) -> xarray.Dataset:
    """The line of experiment 1 from every pose of a grid; rows are the poses that count."""
    import xarray

    def report(done: int, total: int, rate: float) -> None:
        if progress is not None:
            progress(done, total)

    scan = scan or PoseGrid()
    joints = scan.joints_deg
    hand, lowest = _places(joints)
    high = lowest >= 0.0
    results = run_campaign(
        _campaign(scan, joints[high]), route=Route(target="native", threads=threads), progress=report
    )
    pitch, stray, rate = (results.metric(metric.name) for metric in _METRICS)
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


def hand_positions(joints_deg: np.ndarray) -> np.ndarray:
    """Position of the hand in base axes [m], (poses, 3)."""
    return _places(joints_deg)[0]


def _places(joints_deg: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Hand positions in base axes, and height of each pose above the lowest permitted one [m]."""
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


def _campaign(scan: PoseGrid, joints_deg: np.ndarray) -> Campaign:
    """All poses as runs of one experiment: base pitch at the end, farthest from the line, fastest joint."""
    from freefloat.sim import Experiment

    craft, starts = spacecraft(None, {}), np.deg2rad(joints_deg)
    software = dataclasses.replace(Ets7Gjm().software(craft), singular_below=_UNDAMPED)
    experiment = Experiment.of(
        craft, software, joints=starts[0], duration=Ets7Gjm().duration, dt=scan.dt, record_dt=scan.dt
    )
    return Campaign(
        experiment, len(starts), (ListedDispersion("start.joints", starts),), _METRICS, block=_BLOCK, balances=False
    )

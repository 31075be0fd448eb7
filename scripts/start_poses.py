"""Experiment 1 of ETS-VII from many start poses: the table of the package, the picture and the numbers of docs/ets7.md.

python scripts/start_poses.py           # runs everything again
python scripts/start_poses.py --draw    # picture and numbers from the table that is there
"""

from dataclasses import replace

import jax
import numpy as np
import xarray
from scatter_figure import publish

from freefloat.campaign import Campaign, ListedDispersion, Metric, Route, run_campaign
from freefloat.dynamics import frame_pose
from freefloat.scenarios.ets7.gjm import Ets7Gjm
from freefloat.scenarios.ets7.parts import spacecraft
from freefloat.scenarios.ets7.start_pose_scatter import SCATTERS, lever
from freefloat.scenarios.runner import simulate_variant
from freefloat.sim.record.description import Mark

BACK, FORTH = "upper arm leans back (joint 2 below 0)", "upper arm upright or leans forward"
HAND_PITCH = -22.8  # as in flight [deg]
LOW_ELBOW, LOW = 1.2, 1.1  # joint 3, and joint 4 and hand, must not be lower: the satellite is there [m]
FASTEST = 5.0  # a pose from which a joint must move faster does not count [deg/s]
UNDAMPED = 1e-6  # singular value under which rates are damped: hardly ever
METRICS = (
    Metric("pitch", "degrees(base.roll_pitch_yaw[pitch])", unit="deg"),
    Metric("stray", "norm(hand.position_error) * 1000", "max", unit="mm"),
    Metric("rate", "degrees(max(abs(joints.rate)))", "max", unit="deg/s"),
)


def start_poses(
    joint2: tuple[float, float] = (-100.0, 70.0),
    joint3: tuple[float, float] = (-150.0, 150.0),
    step_deg: float = 10.0,
    dt: float = 0.05,
) -> xarray.Dataset:
    """The line of experiment 1 from a grid of poses in the arm's plane; rows are the poses that count.

    Joints 2 and 3 take every step of their range [deg], joint 4 gives the hand its pitch, the others stay at zero.
    """
    ranges = (np.arange(low, high + 1e-9, step_deg) for low, high in (joint2, joint3))
    second, third = (grid.ravel() for grid in np.meshgrid(*ranges, indexing="ij"))
    zero = np.zeros(len(second))
    joints = np.stack([zero, second, third, HAND_PITCH - second - third, zero, zero], axis=1)
    hand, high = _hands_and_heights(joints)
    joints, hand = joints[high], hand[high]

    starts = ListedDispersion("start.joints", np.deg2rad(joints))
    undamped = ListedDispersion("ResolvedMotion.singular_below", np.full(len(joints), UNDAMPED))
    campaign = Campaign(Ets7Gjm(dt=dt).build(), len(joints), (starts, undamped), METRICS, balances=False)
    results = run_campaign(campaign, route=Route(target="native"))

    slow = results.metric("rate") <= FASTEST
    columns = {f"joint{k + 1}": ("pose", joints[slow, k], {"units": "deg"}) for k in (1, 2, 3)}
    columns["lever"] = ("pose", lever(hand[slow], HAND_PITCH), {"units": "m"})
    columns |= {m.name: ("pose", results.metric(m.name)[slow], {"units": m.unit}) for m in METRICS}
    columns["way"] = ("pose", np.where(joints[slow, 1] < 0.0, BACK, FORTH))
    counts = {"poses": len(high), "low": int((~high).sum()), "fast": int((~slow).sum())}
    settings = {"step_deg": step_deg, "hand_pitch_deg": HAND_PITCH, "most_deg_s": FASTEST, "dt": dt}
    return xarray.Dataset(columns, attrs=counts | settings)


def _hands_and_heights(joints_deg: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Hand positions in base axes [m], and whether each pose is high enough above the satellite."""
    craft = spacecraft(None, {})
    for joint in (3, 4):
        craft = craft.with_frame(f"joint.{joint}", body=f"arm.{joint}")
    points = jax.vmap(lambda q: [frame_pose(craft, q, frame).p for frame in ("joint.3", "joint.4", "hand")])
    third, fourth, hand = map(np.asarray, jax.jit(points)(np.deg2rad(joints_deg)))
    return hand, (third[:, 2] >= LOW_ELBOW) & (np.minimum(fourth[:, 2], hand[:, 2]) >= LOW)


def paragraph(data) -> str:
    """The paragraph of docs/ets7.md."""
    stray = 1e3 * data["stray"].values.max()
    return f"{SCATTERS[0].words()} The hand misses its line by at most {stray:.2g} µm."


def flight(data) -> list[list[Mark]]:
    """The pose of the flight."""
    (mark,) = SCATTERS[0].plot(simulate_variant(Ets7Gjm())).marks
    return [[replace(mark, label="experiment 1")]]


if __name__ == "__main__":
    publish("scripts/start_poses.py", start_poses, SCATTERS, flight, paragraph)

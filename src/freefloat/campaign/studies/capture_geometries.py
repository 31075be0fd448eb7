"""Both capture strategies for many geometries: does the paper's contrast hold for them, too?"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from freefloat.campaign.campaign import Campaign
from freefloat.campaign.dispersions import ListedDispersion
from freefloat.campaign.driver import CampaignProgress as CampaignProgress
from freefloat.campaign.driver import Route, run_campaign
from freefloat.campaign.metrics import Metric
from freefloat.campaign.reductions import Reduction, ReductionState, Sample
from freefloat.campaign.results import Results
from freefloat.scenarios.ets7.capture import Ets7Capture, drifting_state, outcome, target
from freefloat.scenarios.ets7.capture_scatter import calm_captures
from freefloat.scenarios.ets7.parts import spacecraft

if TYPE_CHECKING:
    import xarray

    from freefloat.values.progress import Progress


CALM, ROUGH, NEVER = "case 1 captures below 0.5 deg", "case 1 captures above 0.5 deg", "case 1 never captures"
SEARCH = {1: 33, 2: 31}  # geometries by seed; each with seven drifts
UNTIL = {1: 45.0, 2: 200.0}  # how long each case may take [s]
_DRIFT = 0.01  # [m/s]
_DISTANCE, _SHORT = 0.4, 0.3  # from the hand to the target and to the end of the spline [m]
_SINGULAR_BELOW = 1e-6  # rates are hardly ever damped, as in the search
_BLOCK = 64  # runs between two reports of progress


class LargestBefore(Reduction):
    """The largest value before an event, which itself does not count: decided one sample later."""

    name = "largest before"

    def begin(self, value: Any) -> ReductionState:
        """No sample yet: minus infinity."""
        none = jnp.asarray(-jnp.inf)
        return {"best": none, "last": none, "waits": jnp.zeros(())}

    def update(self, kept: ReductionState, sample: Sample) -> ReductionState:
        """A sample counts once the next one shows that the event has not come with it."""
        best = jnp.where(sample.counts, jnp.maximum(kept["best"], kept["last"]), kept["best"])
        return {"best": best, "last": sample.value, "waits": jnp.where(sample.counts, 1.0, 0.0)}

    def result(self, kept: ReductionState) -> np.ndarray:
        """The largest value, with the last sample if the event never came."""
        return np.where(kept["waits"] > 0.0, np.maximum(kept["best"], kept["last"]), kept["best"])


_METRICS = (
    Metric("switched", "chaser.capture.switch_time", unit="s"),
    Metric("captured", "chaser.capture.time", unit="s"),
    Metric(
        "attitude", "degrees(angle(chaser.base.attitude))", LargestBefore(), when="chaser.capture.mode < 3", unit="deg"
    ),
)


@dataclass(frozen=True)
class Geometry:
    """Starts of the arm in its plane, and targets 0.4 m away where a motion without reaction leads."""

    joints_deg: np.ndarray  # (cases, 6)
    direction: np.ndarray  # (cases, 3), unit: from the hand to the target
    turn_deg: np.ndarray  # (cases, 3): target relative to the hand, rotation vector
    velocity: np.ndarray  # (cases, 3) [m/s]


def random_geometries(seeds: Mapping[int, int] = SEARCH) -> Geometry:
    """Random geometries, the requested number of each seed, each with seven drifts of 10 mm/s.

    A pose is drawn, then a rotation of the hand without reaction; the target is where that leads. Poses that hang low,
    are nearly singular, or whose rotation is short, long or nearly singular are dropped.
    """
    rows = []
    for seed, count in seeds.items():
        rng, found = np.random.default_rng(seed), 0
        while found < count:
            drawn = _draw_geometry(rng)
            if drawn is None:
                continue
            found += 1
            joints, direction, turn = drawn
            drifts = [direction, *(sign * axis for axis in np.eye(3) for sign in (1.0, -1.0))]
            rows += [(joints, direction, turn, _DRIFT * drift) for drift in drifts]
    return Geometry(*(np.stack(column) for column in zip(*rows, strict=True)))


def _draw_geometry(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Draw joints [deg], direction to the target and its rotation vector [deg]; None if the draw is dropped."""
    joint2, joint3, pitch = rng.uniform(-90.0, 40.0), rng.uniform(-120.0, 140.0), rng.uniform(-60.0, 40.0)
    rng.uniform()  # drawn and not used, so that the sequence is that of the search
    joints = np.array([0.0, joint2, joint3, pitch - joint2 - joint3, 0.0, 0.0])
    hand, J_m, _ = _hand(np.deg2rad(joints))
    if hand[2] < 1.2 or np.linalg.svd(J_m, compute_uv=False)[-1] < 0.15:
        return None
    axis = np.array([0.0, 1.0, 0.0]) if rng.random() < 0.6 else rng.normal(size=3)
    angle = rng.uniform(10.0, 40.0) * rng.choice([-1, 1])
    turn = angle * axis / np.linalg.norm(axis)
    way = _without_reaction(np.deg2rad(joints), np.deg2rad(turn))
    length = np.linalg.norm(way)
    return (joints, way / length, turn) if 0.25 <= length <= 0.7 else None


def _without_reaction(q: np.ndarray, turn: np.ndarray, steps: int = 40) -> np.ndarray:
    """How far the hand moves relative to the base when it turns without reaction [m]; zero near a singularity."""
    start, _, _ = _hand(q)
    for _ in range(steps):
        _, J_m, coupling = _hand(q)
        way = np.linalg.solve(np.vstack([coupling, J_m[3:]]), np.concatenate([np.zeros(3), turn / steps]))
        if np.abs(way).max() > 0.1:  # [rad]
            return np.zeros(3)
        q = q + way
    return _hand(q)[0] - start


@functools.cache
def _compiled_hand() -> Any:
    import jax

    from freefloat.dynamics import frame_pose, free_floating, joint_jacobian

    craft = spacecraft(None, {})

    def hand(q: Any) -> Any:
        coupling = free_floating(craft, q).angular_coupling
        return frame_pose(craft, q, "hand").p, joint_jacobian(craft, q, "hand"), coupling

    return jax.jit(hand)


def _hand(q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position of the hand [m], J_m and H~_bm, base axes."""
    position, J_m, coupling = _compiled_hand()(q)
    return np.asarray(position), np.asarray(J_m), np.asarray(coupling)


def scatter(
    seeds: Mapping[int, int] = SEARCH,
    wheel_torque: float = 0.1,
    dt: float = 0.05,
    until: Mapping[int, float] = UNTIL,
    threads: int | None = None,
    progress: Progress | None = None,
) -> xarray.Dataset:
    """Run case 1 and case 2 for random geometries; capture times are infinite where there is no capture.

    `status` says for each geometry whether both captured, or what went wrong; `contrast` whether case 1 does what the
    paper says of it. Where the arm cannot reach the end of the spline it goes as near as it can. `progress` is
    called with numbers of geometries: each is run twice.
    """
    import xarray

    def part(number: int) -> CampaignProgress:
        def report(done: int, total: int, rate: float) -> None:
            if progress is not None:
                progress(number * total + done, 2 * total)

        return report

    geometry = random_geometries(seeds)
    targets, ends, missed = _targets_and_ends(geometry)
    columns: dict[str, Any] = {}
    for case in (1, 2):
        campaign = _campaign(case, geometry, targets, ends, wheel_torque, dt, until[case])
        outcomes = _outcomes(
            run_campaign(campaign, route=Route(target="native", threads=threads), progress=part(case - 1))
        )
        for name, values, unit in zip(("switched", "captured", "attitude"), outcomes, ("s", "s", "deg"), strict=True):
            columns[f"case{case}.{name}"] = ("geometry", values, {"units": unit})
    columns |= {
        "joints": (("geometry", "joint"), geometry.joints_deg, {"units": "deg"}),
        "direction": (("geometry", "xyz"), geometry.direction, {"units": "1"}),
        "turn": (("geometry", "xyz"), geometry.turn_deg, {"units": "deg"}),
        "velocity": (("geometry", "xyz"), geometry.velocity, {"units": "m/s"}),
    }
    first, second = columns["case1.captured"][1], columns["case2.captured"][1]
    words = np.array(["both captured", "case 1 did not capture", "case 2 did not capture", "neither captured"])
    columns["status"] = ("geometry", words[~np.isfinite(first) + 2 * ~np.isfinite(second)])
    good = calm_captures(first, columns["case1.attitude"][1])
    columns["contrast"] = ("geometry", np.where(good, CALM, np.where(np.isfinite(first), ROUGH, NEVER)))
    described = {"wheel_torque": wheel_torque, "dt": dt, "out_of_reach": missed}
    described |= {f"until.case{case}": seconds for case, seconds in until.items()}
    return xarray.Dataset(columns, attrs=described)


def scenario_outcomes(wheel_torque: float, until: Mapping[int, float] = UNTIL) -> dict[str, float]:
    """Run both cases for the geometry of the scenario itself, under the same conditions, to mark it in the scatter."""
    from freefloat.sim import simulate

    outcomes = {}
    for case in (1, 2):
        result = outcome(simulate(Ets7Capture(case=case, wheel_torque=wheel_torque, duration=until[case]).build()))
        outcomes |= {f"scenario.case{case}.captured": result.captured, f"scenario.case{case}.attitude": result.attitude}
    return outcomes


def _targets_and_ends(geometry: Geometry) -> tuple[list[Any], np.ndarray, int]:
    """States of the targets; joints at the end of the splines (base at rest); how many geometries do not reach it."""
    from freefloat.dynamics import frame_pose, inverse_kinematics
    from freefloat.spatial import Pose
    from freefloat.spatial.rotations import rotation_exp

    craft, targets, ends, missed = spacecraft(None, {}), [], [], 0
    for joints, direction, turn, velocity in zip(*dataclasses.astuple(geometry), strict=True):
        hand = frame_pose(craft, np.deg2rad(joints), "hand")
        position, rotation = np.asarray(hand.p), np.asarray(rotation_exp(np.deg2rad(turn)) @ hand.R)
        targets.append(drifting_state(Pose(position=position + _DISTANCE * direction, rotation=rotation), velocity))
        solution = inverse_kinematics(
            craft, "hand", Pose(position=position + _SHORT * direction, rotation=rotation), np.deg2rad(joints)
        )
        ends.append(solution.q)
        missed += not solution.reached
    return targets, np.stack(ends), missed


def _campaign(
    case: int, geometry: Geometry, targets: list[Any], ends: np.ndarray, wheel_torque: float, dt: float, until: float
) -> Campaign:
    """All geometries as runs of one experiment, with commands and wheels at every step and rates hardly ever damped."""
    from scipy.spatial.transform import Rotation

    from freefloat.model import World
    from freefloat.sim import Experiment

    craft, starts = spacecraft(wheel_torque, {}), np.deg2rad(geometry.joints_deg)
    arm, attitude = Ets7Capture(case=case, wheel_torque=wheel_torque).software(craft)  # pyright: ignore[reportArgumentType]
    arm = dataclasses.replace(arm, singular_below=_SINGULAR_BELOW, period=dt)
    experiment = Experiment.of(
        World(chaser=craft, target=target()),
        *(arm, dataclasses.replace(attitude, period=dt)),
        state={"chaser": craft.at_rest(starts[0]), "target": targets[0]},
        duration=until,
        dt=dt,
        record_dt=dt,
    )
    first = Rotation.from_quat(targets[0].quat_NB, scalar_first=True)
    turned = [(first.inv() * Rotation.from_quat(state.quat_NB, scalar_first=True)).as_rotvec() for state in targets]
    listed = [
        ListedDispersion("start.chaser.joints", starts),
        ListedDispersion("start.target.position", [state.p_NB for state in targets]),
        ListedDispersion("start.target.attitude", turned, "add"),
        ListedDispersion("start.target.velocity", [state.v[:3] for state in targets]),
    ]
    if arm.spline is not None:
        listed.append(ListedDispersion("CaptureApproach.spline.points", np.stack([starts, ends], axis=1)))
    return Campaign(experiment, len(starts), tuple(listed), _METRICS, block=_BLOCK, balances=False)


def _outcomes(results: Results) -> tuple[np.ndarray, ...]:
    """Switch time and capture time [s], infinite if there is none; largest attitude before the capture [deg]."""
    switched, captured, attitude = (results.metric(metric.name) for metric in _METRICS)
    return np.where(switched < 0.0, np.inf, switched), np.where(captured < 0.0, np.inf, captured), attitude

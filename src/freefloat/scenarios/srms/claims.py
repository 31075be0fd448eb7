"""Claims of the payload impacts: our reference numbers, statements of the paper in words, conserved quantities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.scenarios.measures import attitude_disturbance_deg
from freefloat.scenarios.srms.meeting import PAYLOAD, SHUTTLE
from freefloat.scenarios.srms.reference import BRAKED_ENERGY, BRAKED_TIPS_MM, IMPACTS, MOTIONS
from freefloat.values.claims import OWN_BOUND, Claim, Source

if TYPE_CHECKING:
    from freefloat.model import World
    from freefloat.sim import Run

_REFERENCE = Source("prototype", "our own reference; the paper prints no numbers")
_SAID = Source("printed", "Cyril, Jaar and Misra 1993, section 4, in words; the factor is ours")
_NOTHING_OUTSIDE = Source("exact", "nothing pushes from outside")
_DRIFT = Source("exact", "a payload that drifts for a second")
_LINEAR = "the reference is linear about the posture; ours is not, and the booms bend by 1 % of their length"
_RELATIVE, _DIGIT = 1e-6, 0.51e-8  # of the impact; half of the last printed digit of velocities [m/s, rad/s]
_ANGLE_DEG = 2e-6  # of joint angles: the last printed digit, and what RK4 leaves at this step
_SAID_OF = {"srms-normal": ("entirely different response", 100.0), "srms-tangential": ("significantly different", 1.0)}
_JOINTS = ("shoulder", "elbow", "wrist")


def runs_to_compare(variant: str) -> tuple[str, ...]:
    """Other runs that the claims of a variant compare with."""
    motors = {
        "joint-hold": ("free-40-s",),
        "reactionless": ("free-40-s", "joint-hold"),
        "spatial-reactionless": ("spatial-free-40-s",),
    }
    return {"hard": ("soft",), "braked": ("hard",), **motors}.get(variant, ())


def impact_claims(name: str, variant: str, world: World, run: Run, others: Mapping[str, Run]) -> list[Claim]:
    """Claims of a variant."""
    found: list[Claim] = []
    if (name, variant) in IMPACTS:
        found += _grasp_claims((name, variant), world, run)
    elif variant.startswith("soft"):
        size = float(np.linalg.norm(latch_event(run)["impulse"]))
        found += [Claim("impulse of the grasp", "below", 1e-9, size, "N s", _REFERENCE)]
    if (name, variant) in MOTIONS:
        found += _motion_claims((name, variant), run)
    if variant == "hard":
        found += _contrast_claims(name, run, others["soft"])
    if variant == "braked":
        found += _brake_claims(name, run, others["hard"])
    if variant in ("joint-hold", "reactionless", "spatial-reactionless"):
        found += _motor_claims(variant, run, others)
    return [*found, *_momentum_claims(run)]


# ---- at the impact


def _grasp_claims(key: tuple[str, str], world: World, run: Run) -> Iterator[Claim]:
    expected = IMPACTS[key]
    linear, moment = _impulse_on_payload(run)
    arm, payload = _after_impact(world, run)
    layout = world.crafts[0].layout
    rates, tips = (arm[list(places)] for places in (layout.joint_velocities, layout.modal_velocities))

    def of(what: str, unit: str, references: Any, ours: Any, digit: float = 0.0) -> Iterator[Claim]:
        for k, (reference, value) in enumerate(zip(references, ours, strict=True)):
            tolerance = max(_RELATIVE * abs(reference), digit)
            yield Claim(what.split(";")[k], "about", reference, float(value), unit, _REFERENCE, tolerance)

    on_arm = -np.array([linear[0], linear[1], moment[2]])
    yield from of("impulse on the arm along x;impulse on the arm along y", "N s", expected.impulse[:2], on_arm[:2])
    yield from of("impulse on the arm about the contact point", "N m s", expected.impulse[2:], on_arm[2:])
    yield from of("energy lost in the grasp", "J", (-expected.energy,), (latch_event(run)["energy_lost"],))
    yield from of(";".join(f"rate of the {j} after it" for j in _JOINTS), "rad/s", expected.joint_rates, rates, _DIGIT)
    yield from of("tip rate of boom 1 after it;tip rate of boom 2 after it", "m/s", expected.tip_rates, tips, _DIGIT)
    names = "payload's velocity along x after it;payload's velocity along y after it"
    yield from of(names, "m/s", expected.payload[:2], payload[:2], _DIGIT)
    yield from of("payload's spin after it", "rad/s", expected.payload[2:], payload[5:], _DIGIT)


def latch_event(run: Run) -> dict[str, Any]:
    """Event in which the payload was grasped."""
    return next(event for event in run.events if event.get("kind") == "latched")


def _impulse_on_payload(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Impulse and its moment about the contact point, N axes, of a run that begins with the grasp."""
    event = latch_event(run)
    linear, about_origin = np.array(event["impulse"]), np.array(event["angular_impulse"])
    return linear, about_origin - np.cross(run["shuttle.hand.position"].values[0], linear)


def _after_impact(world: World, run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Velocities v of arm and payload right after the grasp: those before it plus the effect of the event's impulse."""
    from freefloat.dynamics import generalized_force, mass_matrix
    from freefloat.spatial.rotations import rotation_matrix

    linear, moment = _impulse_on_payload(run)
    found = []
    names = ((SHUTTLE, "hand", -1.0), (PAYLOAD, "grip", 1.0))
    for craft, (name, frame, sign) in zip(world.crafts, names, strict=True):
        q, v = (run[f"{name}.state.{kind}"].values[0] for kind in "qv")
        R = np.asarray(rotation_matrix(run[f"{name}.{frame}.attitude"].values[0]))
        wrench = sign * np.concatenate([R.T @ linear, R.T @ moment])
        gained = np.linalg.solve(np.asarray(mass_matrix(craft, q)), generalized_force(craft, q, frame, wrench))
        found.append(v + gained)
    return found[0], found[1]


# ---- in the seconds after


def _motion_claims(key: tuple[str, str], run: Run) -> Iterator[Claim]:
    expected, time = MOTIONS[key], run["time"].values
    angles = np.rad2deg(run["shuttle.joints.position"].values)
    for at, references in expected.angles_deg.items():
        moved = angles[int(np.argmin(np.abs(time - at)))] - angles[0]
        for joint, reference, ours in zip(_JOINTS, references, moved, strict=True):
            what = f"{joint} angle, change after {at:g} s"
            yield Claim(what, "about", reference, float(ours), "deg", _REFERENCE, _ANGLE_DEG)
    if expected.yaw_deg is not None:
        yaw = float(np.rad2deg(run["shuttle.base.roll_pitch_yaw"].values[-1, 2]))
        yield Claim("base rotation after 10 s", "about", expected.yaw_deg, yaw, "deg", _REFERENCE, 1e-8)
    for boom, reference, ours in zip((1, 2), expected.tips_mm, largest_tips_mm(run), strict=True):
        what = f"largest tip deflection of boom {boom}"
        yield Claim(what, "about", reference, ours, "mm", _REFERENCE, expected.tip_digit)


def largest_tips_mm(run: Run) -> tuple[float, float]:
    """Largest deflections of both tips in the run [mm], each from the parabola through three samples."""
    found = []
    for boom in (1, 2):
        size = np.linalg.norm(run[f"shuttle.boom.{boom}.tip.displacement"].values, axis=-1)
        k = int(np.clip(np.argmax(size), 1, len(size) - 2))
        low, top, high = size[k - 1 : k + 2]
        curved = 2.0 * top - low - high
        found.append(1e3 * float(top + ((high - low) ** 2 / (8.0 * curved) if curved > 0.0 else 0.0)))
    return found[0], found[1]


def _contrast_claims(name: str, run: Run, soft: Run) -> Iterator[Claim]:
    """Claims of the hard impact against the soft one, as the paper describes it in words."""
    words, factor = _SAID_OF[name]
    hard_tips, soft_tips = largest_tips_mm(run), largest_tips_mm(soft)
    for boom in (1, 2):
        ratio = hard_tips[boom - 1] / soft_tips[boom - 1]
        yield Claim(f"tip of boom {boom}, hard against soft: '{words}'", "above", factor, ratio, "1", _SAID)
    apart = np.rad2deg(np.abs(run["shuttle.joints.position"].values - soft["shuttle.joints.position"].values))
    what = f"joint angles, hard from soft after 10 s: '{words}'"
    yield Claim(what, "above", 1.0, float(apart[-1].max()), "deg", _SAID)


def _brake_claims(name: str, run: Run, hard: Run) -> Iterator[Claim]:
    tips = largest_tips_mm(run)
    if name in BRAKED_ENERGY:
        lost = latch_event(run)["energy_lost"]
        yield Claim("energy lost in the grasp", "within", -BRAKED_ENERGY[name], lost, "J", _REFERENCE, 1e-6)
    for boom, (reference, ours) in enumerate(zip(BRAKED_TIPS_MM[name], tips, strict=True), 1):
        what = f"largest tip deflection of boom {boom}"
        yield Claim(what, "about", reference, ours, "mm", _REFERENCE, 0.1, reason=_LINEAR)
    ratio = min(ours / free for ours, free in zip(tips, largest_tips_mm(hard), strict=True))
    yield Claim("tips, joints braked against free: 'large elastic displacements'", "above", 5.0, ratio, "1", _SAID)
    # The gap is closed to 1e-9 s: the payload drifts for a second.
    yield Claim("the latch closes by itself after", "about", 1.0, float(latch_event(run)["time"]), "s", _DRIFT, 1e-8)


# ---- motors after the impact


def _motor_claims(variant: str, run: Run, others: Mapping[str, Run]) -> Iterator[Claim]:
    """Claims of motors against free joints, and of one software against the other: our own results, not published."""
    free = next(other for name, other in others.items() if name.endswith("free-40-s"))
    left = _vibration_mm(run) / _vibration_mm(free)
    yield Claim("vibration of the tips at the end, against free joints", "below", 0.25, left, "1", OWN_BOUND)
    ours, calm = _largest_rotation_deg(run), _largest_rotation_deg(free)
    if variant == "joint-hold":
        rates = np.rad2deg(np.abs(run["shuttle.joints.rate"].values[-1]).max())
        yield Claim("fastest joint at the end", "below", 0.15, float(rates), "deg/s", OWN_BOUND)
        what = "base turns, against free joints: what stops the joints turns the base"
        yield Claim(what, "above", 10.0, ours / calm, "1", OWN_BOUND)
        return
    yield Claim("base turns, against free joints", "below", 1.0, ours / calm, "1", OWN_BOUND)
    if "joint-hold" in others:
        held = _largest_rotation_deg(others["joint-hold"])
        yield Claim("base turns, against joints held", "below", 0.01, ours / held, "1", OWN_BOUND)
    energy = run["world.energy.kinetic"].values
    yield Claim("kinetic energy left after 40 s", "below", 0.25, float(energy[-1] / energy[0]), "1", OWN_BOUND)


def _largest_rotation_deg(run: Run) -> float:
    """Largest rotation of the base since the start [deg]."""
    return float(attitude_disturbance_deg(run, "shuttle.").max())


def _vibration_mm(run: Run) -> float:
    """Standard deviation of the tips in the last five seconds, root sum of squares of both [mm]."""
    time = run["time"].values
    last = time >= time[-1] - 5.0
    tips = [run[f"shuttle.boom.{boom}.tip.displacement"].values[last] for boom in (1, 2)]
    return 1e3 * float(np.sqrt(sum(np.var(tip, axis=0).sum() for tip in tips)))


# ---- in every variant


def _momentum_claims(run: Run) -> Iterator[Claim]:
    """Claims that arm and payload together conserve momentum; the bounds grow with time because rounding adds up."""
    tens = max(1.0, float(run["time"].values[-1]) / 10.0)
    for kind, bound, unit in (("linear", 1e-7, "N s"), ("angular", 1e-6, "N m s")):
        values = run[f"world.momentum.{kind}"].values
        changed = float(np.abs(values - values[0]).max())
        yield Claim(f"{kind} momentum, largest change", "below", bound * tens, changed, unit, _NOTHING_OUTSIDE)

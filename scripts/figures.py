"""Draw the figures of README and docs anew: `python scripts/figures.py` writes docs/images/*.svg.

The figures are plain SVG, written here without a plotting package, so that a fresh clone can make them again.
"""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from map_figure import MapPanel, figure_of_maps, side_by_side, text

from freefloat.analysis import disturbance_map, singularity_map
from freefloat.control.lqr import simulate_linear
from freefloat.dynamics import FrameRows, frame_jacobian, inertial_frame_pose, row_impact
from freefloat.library import ets7, srms, srms_payload
from freefloat.report.singular_lines import singular_lines
from freefloat.scenarios import find
from freefloat.scenarios.station.linear_claims import start_of_recovery
from freefloat.scenarios.station.model import station_model
from freefloat.sim import simulate

IMAGES = Path(__file__).parents[1] / "docs" / "images"
COLOURS = ("#c0392b", "#1f6fb2", "#2e8b57", "#8e6bb0")
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 460, 300, 70, 40, 14, 46  # of one panel and its margins [px]


@dataclass(frozen=True)
class Curve:
    """One line: its name and its points; the name stands above its right end, or below."""

    name: str
    x: np.ndarray
    y: np.ndarray
    below: bool = False
    dashed: bool = False
    colour: int | None = None  # number of its colour, where it is not its place among the curves


@dataclass(frozen=True)
class Panel:
    """One pair of axes; `decades` draws powers of ten, of values that are logarithms already."""

    title: str
    ylabel: str
    curves: tuple[Curve, ...]
    limits: tuple[float, float]
    ticks: tuple[float, ...]
    decades: bool = False
    xlabel: str = "time [s]"
    every: float = 5.0  # distance of the ticks along x


def panel_svg(panel: Panel) -> list[str]:
    """A panel as lines of SVG."""
    x0, x1 = LEFT, WIDTH - RIGHT
    y0, y1 = HEIGHT - BOTTOM, TOP
    end = float(max(curve.x[-1] for curve in panel.curves))
    low, high = panel.limits

    def px(x: np.ndarray | float) -> np.ndarray:
        return x0 + np.asarray(x) / end * (x1 - x0)

    def py(y: np.ndarray | float) -> np.ndarray:
        return y0 + (np.clip(y, low, high) - low) / (high - low) * (y1 - y0)

    parts = [text((x0 + x1) / 2, TOP - 18, panel.title, "middle", bold=True)]
    for tick in panel.ticks:
        y = float(py(tick))
        label = f'10<tspan dy="-5" font-size="9">{tick:g}</tspan>' if panel.decades else f"{tick:g}"
        parts += [
            f'<line x1="{x0}" x2="{x1}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>',
            text(x0 - 7, y + 4, label, "end"),
        ]
    for tick in np.arange(0.0, end + 1e-9, panel.every):
        parts.append(text(float(px(tick)), y0 + 17, f"{tick:g}", "middle"))
    parts.append(f'<rect x="{x0}" y="{y1}" width="{x1 - x0}" height="{y0 - y1}" fill="none" stroke="#666"/>')
    parts += [text((x0 + x1) / 2, HEIGHT - 10, panel.xlabel, "middle"), text(10, TOP - 18, panel.ylabel, "start")]
    for k, curve in enumerate(panel.curves):
        colour = COLOURS[k if curve.colour is None else curve.colour]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(px(curve.x), py(curve.y), strict=True))
        dashes = ' stroke-dasharray="5 4"' if curve.dashed else ""
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.8"{dashes}/>')
        y = float(py(curve.y[-1])) + (14 if curve.below else -6)
        parts.append(text(x1 - 6, y, curve.name, "end", colour=colour))
    return parts


def figure_svg(*panels: Panel) -> str:
    """Panels side by side on white."""
    return side_by_side(list(map(panel_svg, panels)), WIDTH, HEIGHT)


def ets7_gjm() -> str:
    """Base rotation of the nominal run, and the hand's error in three variants of it."""
    variants = find("ets7-gjm").variants()
    runs = {name: simulate(variants[name].build()) for name in ("nominal", "sampled-4hz", "arm-20-percent")}
    t = runs["nominal"]["time"].values
    angles = np.rad2deg(runs["nominal"]["base.roll_pitch_yaw"].values)
    turning = tuple(
        Curve(name, t, angles[:, k], below=name == "yaw") for k, name in enumerate(("roll", "pitch", "yaw"))
    )
    labels = {
        "nominal": "exact model, continuous",
        "sampled-4hz": "commanded at 4 Hz",
        "arm-20-percent": "arm 20 % heavier in the software",
    }
    errors = []
    for name, run in runs.items():
        millimetres = 1e3 * np.linalg.norm(run["hand.position_error"].values, axis=-1)
        errors.append(
            Curve(labels[name], run["time"].values, np.log10(np.maximum(millimetres, 1e-13)), name == "sampled-4hz")
        )
    return figure_svg(
        Panel("base rotation", "[deg]", turning, (-0.7, 0.1), (-0.6, -0.4, -0.2, 0.0)),
        Panel("hand off its line", "[mm]", tuple(errors), (-13.0, 2.0), (-12, -9, -6, -3, 0), decades=True),
    )


def ets7_maps() -> str:
    """How much joint motion disturbs the base, and where the arm is singular, around the start of the flight."""
    craft, q = ets7(), np.deg2rad([0.0, 0.0, 10.0, -32.8, 0.0, 0.0])
    joints, degrees = ("arm.2", "arm.3"), np.linspace(-90.0, 90.0, 91)
    plane = {name: np.deg2rad(degrees) for name in joints}
    disturbance, singularity = disturbance_map(craft, q, plane), singularity_map(craft, q, plane, "hand")
    singular = singular_lines(singularity)
    floating, fixed = ([np.rad2deg(line) for line in lines] for lines in (singular.floating, singular.fixed))
    shared = {"joints": joints, "degrees": (degrees, degrees), "ring": (0.0, 10.0)}
    return figure_of_maps(
        MapPanel(
            "base rate per joint rate, worst direction [rad/rad]",
            values=disturbance["largest"].values,
            limits=(0.0, 0.09),
            ticks=(0.0, 0.02, 0.04, 0.06, 0.08),
            legend=("ring: start of experiment 1",),
            **shared,
        ),
        MapPanel(
            "smallest singular value, base floating",
            values=singularity["dynamic"].values,
            limits=(1e-3, 0.4),
            ticks=(1e-3, 1e-2, 1e-1, 0.4),
            lines=(("#ff5d4d", "", floating), ("white", "5 4", fixed)),
            legend=("singular: red, base floating; dashed white, base fixed",),
            decades=True,
            **shared,
        ),
    )


def srms_modes() -> str:
    """What an impact on flexible booms gives with more and more modes: rates at once, angles after a second."""
    counts, joints = np.arange(1, 7), ("shoulder", "elbow", "wrist")
    rates, angles = zip(*(_after_impact(int(n), joints) for n in counts), strict=True)
    axes = {"xlabel": "modes of each boom", "every": 1.0}

    def curves(values: np.ndarray, below: tuple[str, ...] = ()) -> tuple[Curve, ...]:
        return tuple(Curve(name, counts, values[:, k], name in below) for k, name in enumerate(joints))

    return figure_svg(
        Panel(
            "joint rates right after the impact",
            "[deg/s]",
            curves(np.array(rates), ("shoulder", "elbow")),
            (-20.0, 20.0),
            (-20, -10, 0, 10, 20),
            **axes,
        ),
        Panel(
            "joint angles one second later",
            "[deg]",
            curves(np.array(angles), ("elbow", "wrist")),
            (-4.0, 4.0),
            (-4, -2, 0, 2, 4),
            **axes,
        ),
    )


def _after_impact(modes: int, joints: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Joint rates after a hard grasp along the normal [deg/s], and how far the joints went in the next second [deg]."""
    arm, payload = srms(modes=modes, planar=True), srms_payload(planar=True)
    rest = arm.at_rest(joints_deg=(60.0, -90.0, 30.0))
    at = np.array(arm.layout.indices(joints))
    J = np.asarray(frame_jacobian(arm, rest.q, "hand"))[np.ix_([0, 1, 5], at)]
    v = np.zeros(arm.layout.nv)
    v[at] = np.linalg.solve(J, (-0.1, 0.0, 0.0))  # the hand moves along -x [m/s]
    centre = np.asarray(inertial_frame_pose(arm, rest, "hand").p) + np.array([1.0, 0.0, 0.0])  # [m]
    coming = dataclasses.replace(payload.at_rest(), p_NB=centre, v=np.array([-0.25, 0, 0, 0, 0, 0]))  # [m/s]
    states = (coming, dataclasses.replace(rest, v=v))
    found = row_impact((payload, arm), states, (FrameRows((0, "grip"), (1, "hand")),))
    start = dataclasses.replace(rest, v=np.asarray(found.speeds[1]))
    whole = arm.grasp(payload, name="payload", hand="hand", grip="grip")
    run = simulate(whole, state=start, duration=1.0, dt=1e-4, check=False)
    q = run["joints.position"].values
    return np.rad2deg(start.v[at]), np.rad2deg(q[-1] - q[0])


def srms_impact(name: str) -> str:
    """Joint angles, attitude of the base and tips of the booms after a soft impact (lines) and a hard one (dashed)."""
    variants = find(name).variants()
    runs = {kind: simulate(variants[kind].build()) for kind in ("soft", "hard")}
    joints, turns, tips = [], [], []
    for kind, run in runs.items():
        t, dashed = run["time"].values, kind == "hard"
        angles = np.rad2deg(run["shuttle.joints.position"].values)
        for k, joint in enumerate(("shoulder", "elbow", "wrist")):
            joints.append(Curve(joint * dashed, t[::50], (angles - angles[0])[::50, k], k == 1, dashed, k))
        yaw = 1e3 * np.rad2deg(run["shuttle.base.roll_pitch_yaw"].values[:, 2])
        turns.append(Curve(kind, t[::5], yaw[::5], not dashed, dashed, 0))
        early = t <= 0.4  # at 22 Hz ten seconds would be a band
        tip = 1e3 * run["shuttle.boom.1.tip.displacement"].values[early, 1]
        tips.append(Curve("", t[early], tip, dashed=dashed))
    return figure_svg(
        Panel("joint angles", "[deg]", tuple(joints), *_rounded(joints), every=2.0),
        Panel("rotation of the base", "[mdeg]", tuple(turns), *_rounded(turns), every=2.0),
        Panel("tip of the first boom, at the beginning", "[mm]", tuple(tips), *_rounded(tips), every=0.1),
    )


def srms_motors() -> str:
    """How far the base turns and how much the booms vibrate when motors bring the arm to rest."""
    variants, turns, swings = find("srms-normal").variants(), [], []
    labels = {"free-40-s": "free joints", "joint-hold": "joints held (PD)", "reactionless": "damped without reaction"}
    for variant, label in labels.items():
        run = simulate(variants[variant].build())
        t, below = run["time"].values, variant == "reactionless"
        turned = np.abs(np.rad2deg(run["shuttle.base.roll_pitch_yaw"].values[:, 2]))
        turns.append(Curve(label, t[::100], np.log10(np.maximum(turned, 1e-6))[::100], below))
        tip, each = 1e3 * run["shuttle.boom.2.tip.displacement"].values[:-1, 1], round(1.0 / (t[1] - t[0]))
        scatter = tip.reshape(-1, each).std(axis=1)  # of every second
        swings.append(Curve(label, np.arange(len(scatter)) + 0.5, np.log10(np.maximum(scatter, 1e-6)), below))
    axes = {"decades": True, "every": 10.0}
    return figure_svg(
        Panel("rotation of the base", "[deg]", tuple(turns), (-5.0, 1.0), (-5, -4, -3, -2, -1, 0, 1), **axes),
        Panel("vibration of the second boom", "[mm]", tuple(swings), (-3.0, 1.0), (-3, -2, -1, 0, 1), **axes),
    )


def station_sweep() -> str:
    """How far the station turns in a minute while its arm's base travels at 0.1 m/s, for heavier arms."""
    payloads = np.array([0.0, 25.0, 50.0, 100.0, 200.0, 400.0, 600.0, 800.0, 1000.0])  # [kg]
    axes, curves = ("yaw", "roll", "pitch"), {0.0: [], 500.0: []}
    for base_mass, turned in curves.items():
        for payload in payloads:
            station = station_model(
                reduction="craig-bampton", columns=(2, 2, 2), base_mass=base_mass, payload_mass=float(payload)
            )
            start = station.linear_state(rates=station.gentle_rates(0.1))
            motion = simulate_linear(station.structure.state_space.submodel(outputs=axes), start, 0.1, 60.0)
            turned.append(np.max(np.abs(np.rad2deg(motion.values)), axis=0))
    worst = {base: np.log10(np.max(turned, axis=1)) for base, turned in curves.items()}
    by_base = tuple(
        Curve(f"base {base:g} kg" if base else "no mass of the base", payloads, y, base == 0.0)
        for base, y in worst.items()
    )
    limit = Curve("0.05 deg", payloads, np.full(len(payloads), np.log10(0.05)), dashed=True, colour=3)
    by_axis = np.log10(np.array(curves[0.0]))
    single = tuple(Curve(name, payloads, by_axis[:, k], k > 0) for k, name in enumerate(("yaw", "roll, pitch", "")))
    shared = {"limits": (-4.0, 1.0), "ticks": (-4, -3, -2, -1, 0, 1), "decades": True}
    common = {**shared, "xlabel": "payload at the arm's tip [kg]", "every": 200.0}
    return figure_svg(
        Panel("largest rotation in a minute", "[deg]", (*by_base, limit), **common),
        Panel("about each axis, no mass of the base", "[deg]", single, **common),
    )


def station_recovery() -> str:
    """Attitude and the corner of an array while the station recovers: nonlinear, and its linear model (dashed)."""
    scenario = find("station-recovery").variants()["nominal"]
    run, station = simulate(scenario.build()), scenario.station()  # pyright: ignore[reportAttributeAccessIssue]
    t, angles = run["time"].values, np.rad2deg(run["orbit.rotation"].values)
    axes = ("yaw", "roll", "pitch")
    linear = simulate_linear(
        station.regulator.closed_loop.submodel(outputs=axes), start_of_recovery(station), 0.05, float(t[-1])
    )
    labels = ("yaw", "roll", "pitch" + 8 * "\u00a0")  # beside yaw, where both end
    turns = [Curve(labels[k], t[::40], angles[::40, k], k == 1, colour=k) for k in range(3)]
    turns += [
        Curve("", linear.times[::40], np.rad2deg(linear[axis])[::40], dashed=True, colour=k)
        for k, axis in enumerate(axes)
    ]
    early = t <= 60.0
    corner = 1e3 * run["array.1.corner.displacement"].values[early, 2]
    tip = 1e3 * run["base.right.tip.displacement"].values[early, 2]
    bends = [Curve("corner of array 1", t[early], corner), Curve("tip of the bus", t[early], tip, below=True)]
    return figure_svg(
        Panel("rotation from the attitude in orbit", "[deg]", tuple(turns), *_rounded(turns), every=100.0),
        Panel("deflections, at the beginning", "[mm]", tuple(bends), *_rounded(bends), every=10.0),
    )


def _rounded(curves: list[Curve]) -> tuple[tuple[float, float], tuple[float, ...]]:
    """Limits and ticks of an axis that holds all curves."""
    low, high = (float(f([f(curve.y) for curve in curves])) for f in (np.min, np.max))
    step = 10.0 ** np.floor(np.log10(high - low))
    step *= next(k for k in (0.2, 0.5, 1.0, 2.0) if (high - low) / (k * step) <= 8.0)
    first, last = int(np.floor(low / step)), int(np.ceil(high / step))
    return (first * step, last * step), tuple(float(f"{k * step:.6g}") for k in range(first, last + 1))


if __name__ == "__main__":
    for name in ("srms-tangential", "srms-normal"):
        (IMAGES / f"{name}.svg").write_text(srms_impact(name), encoding="utf-8")
    for draw in (srms_motors, srms_modes, station_sweep, station_recovery, ets7_gjm, ets7_maps):
        (IMAGES / f"{draw.__name__.replace('_', '-')}.svg").write_text(draw(), encoding="utf-8")

"""Numbers of docs/flexible-howto.md: `python scripts/flexible_convergence.py [modes | spin | servicer]`.

`modes` (the default) prints how many modes are enough and writes the plot: hub and two beams of NASA Goddard's
experiment against the roots of the transcendental equation; the massless hub, where the clamped
shapes fit worst, is the free-free beam of twice the length. `spin` prints the in-plane frequency of a spinning beam
with and without stiffening, `servicer` what ETS-VII's panels do while its arm moves in two ways.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

from freefloat.control import JointSpline, Quintic, ReactionlessTurn, Turn
from freefloat.dynamics import natural_frequencies
from freefloat.flex import beam
from freefloat.library import ets7
from freefloat.model import ModalBody, Spacecraft
from freefloat.sim import Run, simulate
from freefloat.spatial import Pose

IMAGE = Path(__file__).parents[1] / "docs" / "images" / "flexible-convergence.svg"
LENGTH, MASS, STIFFNESS = 0.635, 0.83, 0.46  # [m], [kg], EI [N m2]
COUNTS = (1, 2, 3, 4, 5, 6, 8, 10)  # modes of each beam
# Both motions of the real hub, and its symmetric motion for hubs that are as light as the beams, or lighter.
CASES = {
    "50 kg, symmetric": ("symmetric", 50.0),
    "50 kg, antisymmetric": ("antisymmetric", 50.0),
    "1 kg, symmetric": ("symmetric", 1.0),
    "no hub, symmetric": ("symmetric", 1e-9),
}
COLOURS = ("#1f6fb2", "#2e8b57", "#8e6bb0", "#c0392b")
ROOT_DISTANCE = 0.5  # of the beams' roots from the middle of the hub in the antisymmetric case [m]


def exact(motion: str, hub_mass: float) -> float:
    """First frequency of hub and two beams [rad/s]."""

    def balance(b: float) -> float:
        s, c, sh, ch = np.sin(b), np.cos(b), np.sinh(b), np.cosh(b)
        D0, D1, D2 = (s * ch + c * sh) / b, s * sh / b**2, (s * ch - c * sh) / b**3  # all times 1 + c ch
        if motion == "symmetric":
            return hub_mass * (1.0 + c * ch) + 2.0 * MASS * D0
        d, L = ROOT_DISTANCE, LENGTH
        return hub_mass / 6.0 * (1.0 + c * ch) + 2.0 * MASS * (d**2 * D0 + 2.0 * d * L * D1 + L**2 * D2)

    b = brentq(balance, 1.8751, 2.5, xtol=1e-15, rtol=1e-14)
    return b**2 * np.sqrt(STIFFNESS / (MASS * LENGTH**3))


def spacecraft(motion: str, hub_mass: float, modes: int) -> Spacecraft:
    """A cube of 1 m with two beams; for the symmetric motion their roots are at its middle."""
    craft = Spacecraft.from_base("hub", mass=hub_mass, inertia=(hub_mass / 6.0,) * 3)
    root = ROOT_DISTANCE if motion == "antisymmetric" else 0.0
    panel = beam(length=LENGTH, mass=MASS, bending_stiffness=STIFFNESS, modes={"y": modes})
    craft = craft.mount(panel, name="right", at=Pose(position=(root, 0.0, 0.0)))
    return craft.mount(panel, name="left", at=Pose.from_rpy_deg((0.0, 0.0, 180.0), (-root, 0.0, 0.0)))


def error(motion: str, hub_mass: float, modes: int) -> float:
    """How far the nearest frequency of the model is above the exact one, relative."""
    goal = exact(motion, hub_mass)
    found = natural_frequencies(spacecraft(motion, hub_mass, modes))
    return float(found[np.argmin(np.abs(found - goal))] / goal - 1.0)


def plot(errors: dict[str, list[float]]) -> None:
    """Errors against the number of modes, with the slope that theory gives."""
    try:
        import matplotlib as mpl
    except ImportError as missing:
        raise SystemExit("The plot needs matplotlib: pip install 'freefloat[export]'.") from missing
    mpl.use("svg")
    from matplotlib import pyplot as plt

    plt.rcParams |= {"svg.hashsalt": "freefloat", "svg.fonttype": "none", "font.size": 10}
    figure, axis = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    for (label, values), colour in zip(errors.items(), COLOURS, strict=True):
        axis.loglog(COUNTS, values, "o-", color=colour, markersize=4, label=label)
    slope = [0.5 * errors["no hub, symmetric"][0] * n**-5.0 for n in COUNTS]
    axis.loglog(COUNTS, slope, "--", color="#888", label="slope -5")
    axis.set(xlabel="modes of each beam", ylabel="relative error of the first frequency", xticks=COUNTS)
    axis.set_xticks(COUNTS, [str(n) for n in COUNTS])
    axis.minorticks_off()
    axis.grid(True, color="#ddd")
    axis.legend(fontsize=9)
    figure.savefig(IMAGE, metadata={"Date": None})


def modes() -> None:
    """Print the table and draw it."""
    errors = {label: [error(*case, n) for n in COUNTS] for label, case in CASES.items()}
    print(f"{'modes':<22}" + "".join(f"{n:>9}" for n in COUNTS))
    for label, values in errors.items():
        print(f"{label:<22}" + "".join(f"{v:9.1e}" for v in values))
    plot(errors)


def spin() -> None:
    """First in-plane frequency of a beam that spins about its root, with its own frequency at rest as the unit."""
    bodies = [beam(length=1.0, mass=1.0, bending_stiffness=1.0, modes={"y": 12}, stiffening=on) for on in (True, False)]
    rest = float(bodies[0].frequencies()[0])
    print("spin / frequency   with stiffening   without   error")
    for ratio in (0.05, 0.1, 0.2, 0.5, 0.9, 1.1):
        with_, without = (_spinning(body, ratio * rest) / rest**2 for body in bodies)
        error = f"{np.sqrt(without / with_) - 1.0:8.2%}" if without > 0.0 else "diverges"
        shown = f"{np.sqrt(without):.4f}" if without > 0.0 else "-"
        print(f"{ratio:16.2f}   {np.sqrt(with_):15.4f}   {shown:>7}   {error}")


def _spinning(body: ModalBody, rate: float) -> float:
    """Lowest squared frequency in the plane of the spin about z: centrifugal terms beside the stiffness."""
    softening = sum(body.short_mixed_moment[:, :, k, k] + body.pair_moment[:, :, k, k] for k in (0, 1))
    return float(eigh(body.stiffness - rate**2 * softening, body.modal_mass, eigvals_only=True)[0])


def servicer() -> None:
    """A reactionless turn of ETS-VII's hand and a joint spline between the same end points, with two 8 m panels."""
    craft, start = ets7(), (0.0, 0.0, 10.0, -32.8, 0.0, 0.0)  # [deg]
    panel = beam(length=8.0, mass=60.0, bending_stiffness=(8000.0, 2000.0), modes={"y": 1, "z": 1}, damping_ratio=0.005)
    for name, side in (("right", 1.0), ("left", -1.0)):
        at = Pose.from_rpy_deg((0.0, 0.0, 90.0 * side), (0.0, 1.5 * side, 0.0))
        craft = craft.mount(panel, name=name, at=at)
    print("motion         time   attitude [deg]   base moves [mm]   tip, moving [mm]   tip, after [mm]")
    for time in (40.0, 80.0):
        turn = Turn(axis=(0.0, 1.0, 0.0), profile=Quintic(length=np.deg2rad(40.0), duration=time))
        quiet = ReactionlessTurn(craft=craft, frame="hand", path=turn)
        ran = simulate(craft, quiet, joints_deg=start, duration=time + 20.0, dt=0.05)
        spline = JointSpline.through(craft, np.stack([start, np.rad2deg(ran["joints.position"].values[-1])]), [time])
        for name, run in (("reactionless", ran), ("spline", _moved(craft, spline, start, time))):
            attitude = np.rad2deg(2.0 * np.linalg.norm(run["base.attitude"].values[:, 1:], axis=1)).max()
            base = 1e3 * np.linalg.norm(run["base.position"].values[-1])
            tip = 1e3 * np.abs(run["right.tip.displacement"].sel(xyz="z"))
            during, after = float(tip.max()), float(tip.sel(time=slice(time, None)).max())
            print(f"{name:<14} {time:2.0f} s   {attitude:14.2e}   {base:15.2f}   {during:16.4f}   {after:15.4f}")


def _moved(craft: Spacecraft, software: JointSpline, start: tuple[float, ...], time: float) -> Run:
    return simulate(craft, software, joints_deg=start, duration=time + 20.0, dt=0.05)


if __name__ == "__main__":
    {"modes": modes, "spin": spin, "servicer": servicer}[sys.argv[1] if len(sys.argv) > 1 else "modes"]()

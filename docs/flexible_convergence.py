"""How many modes are enough: `python docs/flexible_convergence.py` prints the table and writes its plot.

Hub and two beams of NASA Goddard's experiment, for four hub masses, against the roots of the transcendental equation
(spec 000, section 5). The massless hub, where the clamped shapes fit worst, is the free-free beam of twice the length.
"""

from pathlib import Path

import numpy as np
from scipy.optimize import brentq

from freefloat.dynamics import natural_frequencies
from freefloat.flex import beam
from freefloat.model import Spacecraft
from freefloat.spatial import Pose

IMAGE = Path(__file__).parent / "images" / "flexible-convergence.svg"
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
    craft = craft.attach(panel, name="right", at=Pose(position=(root, 0.0, 0.0)))
    return craft.attach(panel, name="left", at=Pose.from_rpy_deg((0.0, 0.0, 180.0), (-root, 0.0, 0.0)))


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


def main() -> None:
    """Print the table and draw it."""
    errors = {label: [error(*case, n) for n in COUNTS] for label, case in CASES.items()}
    print(f"{'modes':<22}" + "".join(f"{n:>9}" for n in COUNTS))  # noqa: T201
    for label, values in errors.items():
        print(f"{label:<22}" + "".join(f"{v:9.1e}" for v in values))  # noqa: T201
    plot(errors)


if __name__ == "__main__":
    main()

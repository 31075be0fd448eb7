"""Experiment 1 of ETS-VII from many start poses: the table of the package, the picture and the numbers of docs/ets7.md.

python docs/start_poses.py           # runs everything again
python docs/start_poses.py --draw    # picture and numbers from the table that is there
"""

import sys
import textwrap

from scatter_figure import DOCS, TABLES, draw, rewrite, watched

from freefloat.scenarios.ets7.start_pose_scatter import SCATTERS, TABLE
from freefloat.scenarios.ets7.start_poses import DAMPED, Scan, start_poses
from freefloat.scenarios.tables import save
from freefloat.sim.description import Mark

SCRIPT = "docs/start_poses.py"
COARSE = Scan(dt=2.0, singular_below=1e-6, stray_mm=20.0)  # the step of the reference; rates are hardly ever damped


def coarse() -> dict[str, float]:
    """The pose that pitches the base most when the step is coarse and nothing is damped."""
    data = start_poses(COARSE, progress=watched("coarse steps"))
    row = int(data["pitch"].values.argmin())
    return {
        "coarse.reached": data.sizes["pose"],
        "coarse.pitch": round(float(data["pitch"][row]), 3),
        "coarse.stray": round(float(data["stray"][row]), 1),
        "coarse.next": round(float(sorted(data["pitch"].values)[1]), 3),
    }


def told(data) -> str:
    """The paragraph of docs/ets7.md."""
    facts, damped = data.attrs, int((data["way"] == DAMPED).sum())
    return textwrap.fill(
        f"{SCATTERS[0].words()} {damped} of the {data.sizes['row']} pass so near a singularity that the law damps its "
        f"rates. From the other {facts['out_of_reach']:.0f} poses the hand strays from its line by more than "
        f"{facts['stray_mm']:g} mm: the line leaves the workspace or meets a singularity. The reference implementation "
        f"reports -2.9 to +0.6 deg for 352 poses in steps of {COARSE.dt:g} s, its lowest value near a singularity. "
        "Which poses these were is not known, so the two ranges can be compared only roughly. On our grid a step of "
        f"{COARSE.dt:g} s without damping makes one such value too: {facts['coarse.pitch']:.1f} deg, with the hand "
        f"{facts['coarse.stray']:.0f} mm off its line; the next is {facts['coarse.next']:.2f} deg.",
        width=120,
    )


if __name__ == "__main__":
    if "--draw" not in sys.argv:
        result = start_poses(progress=watched("start poses"))
        result.attrs |= coarse()
        save(result, TABLES / TABLE, f"python {SCRIPT}")
    table = SCATTERS[0].data()
    flight = Mark("experiment 1", -22.8, -0.60145)  # [deg]
    draw(SCATTERS, [[flight]], "", DOCS / "images" / "ets7_start_poses.png")
    rewrite(DOCS / "ets7.md", SCRIPT, told(table))
    print(told(table))  # noqa: T201

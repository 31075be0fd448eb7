"""Both capture cases for 448 random geometries: the table of the package, the picture and the numbers of docs/ets7.md.

python scripts/capture_scatter.py           # runs everything again
python scripts/capture_scatter.py --draw    # picture and numbers from the table that is there
"""

import sys
import textwrap

from scatter_figure import DOCS, TABLES, draw, rewrite, watched

from freefloat.campaign.studies.capture_geometries import scatter, scenario_outcomes
from freefloat.scenarios.ets7.capture_scatter import SCATTERS, TABLE, contrast_counts
from freefloat.scenarios.tables import save_table
from freefloat.sim.record.description import Mark

SCRIPT = "scripts/capture_scatter.py"
COARSE_DT = 0.5  # the step of the search [s]


def coarse() -> dict[str, float]:
    """The counts of the same geometries with the step of the search."""
    data = scatter(dt=COARSE_DT, progress=watched("coarse steps"))
    return {f"coarse.{what}": round(number, 3) for what, number in contrast_counts(data).items()}


def told(data) -> str:
    """The paragraph of docs/ets7.md."""
    count, before = contrast_counts(data), {name[7:]: x for name, x in data.attrs.items() if name.startswith("coarse.")}
    cases, good = int(count["geometries"]), int(count["case 1 captures below 0.5 deg"])
    words = " ".join(scatter.words() for scatter in SCATTERS)
    return textwrap.fill(
        f"{words} In {cases - good} of the {cases} case 1 itself fails or disturbs the attitude more than 0.5 deg: six "
        "joints leave only three motions without reaction, and they do not lead everywhere. In "
        f"{data.attrs['out_of_reach']:.0f} the arm cannot reach the end of the spline and stops as near as it can. "
        f"These are steps of {data.attrs['dt']:g} s. With {COARSE_DT:g} s, the step of the search, the counts are "
        f"{before['case 1 captures below 0.5 deg']:.0f}, {before['of these, case 2 slower or never']:.0f}, "
        f"{before['of these, case 2 more than twice as long or never']:.0f} "
        f"({before['of these, case 2 never']:.0f} never), "
        f"{before['of these, case 2 disturbs the attitude more']:.0f} and {before['median attitude ratio']:.2f}.",
        width=120,
    )


def marks(data) -> list[list[Mark]]:
    """The geometry of the scenario."""
    of = [[data.attrs[f"scenario.case{k}.{quantity}"] for k in (1, 2)] for quantity in ("captured", "attitude")]
    return [[Mark("the scenario's geometry", *place)] for place in of]


if __name__ == "__main__":
    if "--draw" not in sys.argv:
        result = scatter(progress=watched("random geometries"))
        result.attrs |= coarse() | scenario_outcomes(result.attrs["wheel_torque"])
        save_table(result, TABLES / TABLE, f"python {SCRIPT}")
    table = SCATTERS[0].data()
    heading = f"{table.sizes['row']} random geometries: the contrast depends on the geometry"
    draw(SCATTERS, marks(table), heading, DOCS / "images" / "ets7_capture_scatter.png")
    rewrite(DOCS / "ets7.md", SCRIPT, told(table))
    for what, number in contrast_counts(table).items():
        print(f"{what}: {number:g}")

"""Both capture cases for 256 random geometries: the table of the package, the picture and the numbers of docs/ets7.md.

python docs/capture_scatter.py           # runs everything again
python docs/capture_scatter.py --draw    # picture and numbers from the table that is there
"""

import sys
import textwrap

from scatter_figure import DOCS, TABLES, draw, rewrite, watched

from freefloat.scenarios.ets7.capture_batches import contrast, of_the_scenario, scatter
from freefloat.scenarios.ets7.capture_scatter import SCATTERS, TABLE
from freefloat.scenarios.tables import save
from freefloat.sim.description import Mark

SCRIPT = "docs/capture_scatter.py"


def told(data) -> str:
    """The paragraph of docs/ets7.md."""
    count = {name: int(number) for name, number in contrast(data).items() if number == number // 1}
    cases, good = count["geometries"], count["case 1 captures below 0.5 deg"]
    words = " ".join(scatter.words() for scatter in SCATTERS)
    return textwrap.fill(
        f"{words} {data.attrs['out_of_reach']:.0f} more were drawn and dropped because the arm cannot reach the end of "
        f"the spline. In {cases - good} of the {cases} case 1 itself fails or disturbs the attitude more than 0.5 deg: "
        "six joints leave only three motions without reaction, and they do not lead everywhere.",
        width=120,
    )


def marks(data) -> list[list[Mark]]:
    """The geometry of the scenario."""
    of = [[data.attrs[f"scenario.case{k}.{quantity}"] for k in (1, 2)] for quantity in ("captured", "attitude")]
    return [[Mark("the scenario's geometry", *place)] for place in of]


if __name__ == "__main__":
    if "--draw" not in sys.argv:
        torque, duration = 0.1, 150.0  # [N m], [s]
        result = scatter(256, seed=1, wheel_torque=torque, duration=duration, progress=watched("random geometries"))
        result.attrs |= of_the_scenario(torque, duration)
        save(result, TABLES / TABLE, f"python {SCRIPT}")
    table = SCATTERS[0].data()
    heading = f"{table.sizes['row']} random geometries: the contrast depends on the geometry"
    draw(SCATTERS, marks(table), heading, DOCS / "images" / "ets7_capture_scatter.png")
    rewrite(DOCS / "ets7.md", SCRIPT, told(table))
    for what, number in contrast(table).items():
        print(f"{what}: {number:g}")  # noqa: T201

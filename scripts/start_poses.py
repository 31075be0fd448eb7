"""Experiment 1 of ETS-VII from many start poses: the table of the package, the picture and the numbers of docs/ets7.md.

python scripts/start_poses.py           # runs everything again
python scripts/start_poses.py --draw    # picture and numbers from the table that is there
"""

import sys
import textwrap

import numpy as np
from scatter_figure import DOCS, TABLES, draw, rewrite, watched

from freefloat.campaign.studies.start_poses import hand_positions, lever, start_poses
from freefloat.scenarios.ets7.start_pose_scatter import SCATTERS, TABLE
from freefloat.scenarios.tables import save_table
from freefloat.sim.record.description import Mark

SCRIPT = "scripts/start_poses.py"


def told(data) -> str:
    """The paragraph of docs/ets7.md."""
    stray = 1e3 * data["stray"].values.max()
    return textwrap.fill(f"{SCATTERS[0].words()} The hand misses its line by at most {stray:.2g} µm.", width=120)


if __name__ == "__main__":
    if "--draw" not in sys.argv:
        result = start_poses(progress=watched("start poses"))
        save_table(result, TABLES / TABLE, f"python {SCRIPT}")
    table = SCATTERS[0].data()
    joints = np.array([[0.0, 0.0, 10.0, -32.8, 0.0, 0.0]])  # [deg]
    flight = Mark("experiment 1", float(lever(hand_positions(joints), -22.8)[0]), -0.60145)  # [m], [deg]
    draw(SCATTERS, [[flight]], "", DOCS / "images" / "ets7_start_poses.png")
    rewrite(DOCS / "ets7.md", SCRIPT, told(table))
    print(told(table))

"""Makes the scatter of docs/ets7.md: both capture cases for 256 random geometries, as data and as a picture.

python docs/capture_scatter.py
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np

from freefloat.scenarios.capture_scatter import contrast, scatter

HERE = Path(__file__).parent
BEYOND = 160.0  # where captures that never came are drawn [s]


def draw(data, path: Path) -> None:
    """Capture times and attitudes of case 2 against case 1; the paper's region is shaded."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6))
    first, second = (np.minimum(data[f"case{k}.captured"].values, BEYOND) for k in (1, 2))
    good = np.isfinite(data["case1.captured"].values) & (data["case1.attitude"].values < 0.5)
    for axis, x, y in (
        (left, first, second),
        (right, data["case1.attitude"].values, data["case2.attitude"].values),
    ):
        axis.scatter(x[~good], y[~good], s=10, c="0.7", label="case 1 does not capture below 0.5 deg")
        axis.scatter(x[good], y[good], s=14, c="C0", label="case 1 captures below 0.5 deg")
        axis.axline((0, 0), slope=1.0, color="0.5", lw=0.8)
    left.axline((0, 0), slope=2.0, color="C3", lw=0.8, ls="--")
    left.set(xlabel="capture, case 1 [s]", ylabel="capture, case 2 [s] (160: never)", xlim=(0, 165), ylim=(0, 165))
    right.set(
        xlabel="largest attitude, case 1 [deg]", ylabel="largest attitude, case 2 [deg]", xscale="log", yscale="log"
    )
    right.set(xscale="log", yscale="log", xlim=(1e-2, 10), ylim=(1e-2, 10))
    left.legend(fontsize=8, loc="lower right")
    figure.suptitle(f"{data.sizes['geometry']} random geometries: the contrast depends on the geometry")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    result = scatter(cases=256, seed=1, wheel_torque=0.1, duration=150.0)
    result.to_netcdf(HERE / "data" / "ets7_capture_scatter.nc", engine="h5netcdf")
    draw(result, HERE / "images" / "ets7_capture_scatter.png")
    for what, number in contrast(result).items():
        print(f"{what}: {number:g}")  # noqa: T201

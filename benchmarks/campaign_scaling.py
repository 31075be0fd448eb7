"""How a campaign grows with its runs: seconds and peak memory of 100 to 1 000 000 runs, each count in its own process.

ETS-VII floats freely for 10 s with other masses and a dispersed start, kept in a folder. `--most` ends earlier,
`--json` for machines, `--plot` draws docs/images/campaign-scaling.svg.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from campaign import START_DEG, timed
from comparison import Row, row

import freefloat as ff
from freefloat.campaign import Campaign, Dispersion, Metric, Normal, run_campaign

IMAGE = Path(__file__).parents[1] / "docs" / "images" / "campaign-scaling.svg"


def light(runs: int) -> Campaign:
    """ETS-VII floats freely for 10 s."""
    craft = ff.library.ets7()
    start = craft.at_rest(joints_deg=START_DEG)
    experiment = ff.Experiment.of(craft, state=start, duration=10.0, dt=0.1, record_dt=1.0)
    dispersions = (
        Dispersion("base.mass", Normal(1.0, 0.05), "scale"),
        Dispersion("base.inertia", Normal(1.0, 0.05), "scale"),
        Dispersion("start.rate", Normal(0.0, 0.01), "add"),
        Dispersion("start.joint_rates", Normal(0.0, 0.02), "add"),
    )
    metrics = Metric("turn", "degrees(angle(base.attitude))", "max"), Metric("hand", "norm(hand.velocity)", "max")
    return Campaign(experiment, runs, dispersions, metrics, block=4096)


def scale(runs: int) -> Row:
    """One count, in this process; compiling is not counted."""
    run_campaign(light(8))
    with tempfile.TemporaryDirectory() as folder:
        campaign = light(runs)
        campaign.preparation.program.compiled_step()
        seconds = timed(lambda: run_campaign(campaign, Path(folder, "kept")))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0  # [MiB]
    return row(f"{runs} runs", "wall time", seconds) | {"runs": runs, "memory_MiB": peak}


def plot(found: list[Row]) -> None:
    """Seconds and memory against the number of runs, both axes logarithmic."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise SystemExit("The plot needs matplotlib: pip install 'freefloat[export]'.") from error
    mpl.use("svg")
    from matplotlib import pyplot as plt

    plt.rcParams |= {"svg.hashsalt": "freefloat", "svg.fonttype": "none", "font.size": 9}
    figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.0), layout="constrained")
    runs = [line["runs"] for line in found]
    for axis, measure, title in ((axes[0], "ours", "wall time [s]"), (axes[1], "memory_MiB", "peak memory [MiB]")):
        axis.loglog(runs, [line[measure] for line in found], "o-", color="#1f6fb2", markersize=4)
        axis.set(title=title, xlabel="runs")
        axis.grid(True, which="major", color="#ccc")
    axes[1].set_ylim(10.0, 4096.0)
    axes[1].axhline(2048.0, color="#c0392b", linestyle="--")
    axes[1].annotate("2 GiB", (runs[0], 2200.0), color="#c0392b")
    figure.savefig(IMAGE, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=1_000_000, help="runs at the end")
    parser.add_argument("--only", type=int, help=argparse.SUPPRESS)
    for flag in ("--json", "--quick", "--plot"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    if options.only:
        print(json.dumps(scale(options.only)))
        return
    counts = [100] if options.quick else [10**k for k in range(2, 8) if 10**k <= options.most]
    found = []
    for count in counts:
        words = [sys.executable, __file__, "--only", str(count)]
        found.append(json.loads(subprocess.run(words, capture_output=True, check=True).stdout))
        if not options.json:
            print(f"{count:>8} runs {found[-1]['ours']:9.3g} s {found[-1]['memory_MiB']:7.0f} MiB", flush=True)
    if options.json:
        print(json.dumps(found, indent=2))
    if options.plot:
        plot(found)


if __name__ == "__main__":
    main()

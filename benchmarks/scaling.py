"""How the engine grows with the spacecraft: operations, time and compile time of a forward dynamics against its size.

Cases: `chain N`, a free base with one arm of N joints (articulated-body recursion), and `arm + N modes`, a 6-joint arm
and a flexible panel of N modes without a structural zero (mass matrix and its factor). Measures: `operations` of the
compiled code, `forward` one forward dynamics in native code without SIMD [s], `compile` tracing and compiling from
nothing [s]. `--json` for machines, `--quick` for the smallest of each, `--plot` draws docs/images/engine-scaling.svg.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import jax
from models import chain, with_modes
from plant import sample
from timing import best

from freefloat import engine
from freefloat.dynamics import forward_dynamics
from freefloat.model import Spacecraft

CHAINS = (6, 12, 30, 60, 120)
MODES = (0, 6, 12, 24)
BATCH = 256
IMAGE = Path(__file__).parents[1] / "docs" / "images" / "engine-scaling.svg"


@dataclass(frozen=True)
class Size:
    """One spacecraft and what it costs."""

    case: str  # chain or modes
    size: int  # joints of the chain, or modes of the panel
    speeds: int  # generalised speeds, base included
    operations: int
    forward: float  # [s]
    compile: float  # [s]


def measured(case: str, size: int, craft: Spacecraft) -> Size:
    """Compile the forward dynamics from nothing and time it."""
    q, v, force = sample(craft)
    function = lambda q, v, f: forward_dynamics(craft, q, v, f)  # noqa: E731
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FREEFLOAT_CACHE"] = cache
        jax.clear_caches()
        start = time.process_time()
        compiled = engine.compile(function, q, v, force, width=1)
        compiling = time.process_time() - start
        many = sample(craft, BATCH)
        forward = best(lambda: compiled.batch(*many, threads=1), BATCH)
    return Size(case, size, craft.layout.nv, compiled.operations["total"], forward, compiling)


def sizes(quick: bool) -> Iterator[Size]:
    """Every case, small to large."""
    families: tuple[tuple[str, Callable[[int], Spacecraft], tuple[int, ...]], ...] = (
        ("chain", chain, CHAINS),
        ("modes", with_modes, MODES),
    )
    for case, build, counts in families:
        for size in counts[:1] if quick else counts:
            yield measured(case, size, build(size))


def rows(size: Size) -> Iterator[dict[str, object]]:
    """The convention of the other benchmarks: no peer here."""
    for measure in ("operations", "forward", "compile"):
        yield {
            "case": f"{size.case} {size.size}",
            "measure": measure,
            "ours": asdict(size)[measure],
            "peer_name": None,
            "peer": None,
            "ratio": None,
        }


def plot(found: list[Size]) -> None:
    """Three panels against the number of generalised speeds, both axes logarithmic."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise SystemExit("The plot needs matplotlib: pip install 'freefloat[export]'.") from error
    mpl.use("svg")
    from matplotlib import pyplot as plt

    plt.rcParams |= {"svg.hashsalt": "freefloat", "svg.fonttype": "none", "font.size": 9}
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.2), layout="constrained")
    panels = (("operations", 1.0, ""), ("forward", 1e6, "[us]"), ("compile", 1.0, "[s]"))
    labels = {"chain": "chain of 6 to 120 joints", "modes": "6-joint arm, panel of 0 to 24 modes"}
    for axis, (measure, scale, unit) in zip(axes, panels, strict=True):
        for case, colour in (("chain", "#1f6fb2"), ("modes", "#c0392b")):
            mine = [s for s in found if s.case == case]
            x, y = [s.speeds for s in mine], [scale * getattr(s, measure) for s in mine]
            axis.loglog(x, y, "o-", color=colour, markersize=4, label=labels[case])
        axis.set(title=f"{measure} {unit}".strip(), xlabel="generalised speeds")
        axis.set_xticks([12, 18, 36, 66, 126], ["12", "18", "36", "66", "126"])
        axis.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
        axis.grid(True, which="major", color="#ccc")
        axis.grid(True, which="minor", axis="y", color="#eee")
    axes[0].legend(fontsize=8)
    figure.savefig(IMAGE, metadata={"Date": None})


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="the smallest chain and the smallest panel")
    parser.add_argument("--plot", action="store_true")
    options = parser.parse_args()
    if not options.json:
        print(f"{'case':<12} {'speeds':>7} {'operations':>11} {'forward':>12} {'compile':>10}", flush=True)
    found = []
    for size in sizes(options.quick):
        found.append(size)
        if not options.json:
            name, us = f"{size.case} {size.size}", 1e6 * size.forward
            print(f"{name:<12} {size.speeds:>7} {size.operations:>11} {us:>9.2f} us {size.compile:>8.2f} s", flush=True)
    if options.json:
        print(json.dumps([row for size in found for row in rows(size)], indent=2))
    if options.plot:
        plot(found)


if __name__ == "__main__":
    main()

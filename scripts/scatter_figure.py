"""Scatters of scenarios as pictures and sentences of these pages; used by the scripts that make their tables."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np

import freefloat.scenarios
from freefloat.report.scatters import beyond_sentence, plot_axis
from freefloat.scenarios.scatters import Scatter
from freefloat.sim.record.description import Mark

DOCS = Path(__file__).parents[1] / "docs"
TABLES = Path(freefloat.scenarios.__file__).parent / "ets7" / "data"
COLOURS = ("#2563a8", "#c2410c", "#2e7d4f")


def watched(title: str) -> Callable[[float, float], None]:
    """Progress on standard error: one line that changes in a terminal, a line every tenth elsewhere."""
    started, shown = time.monotonic(), [-1]

    def report(done: float, total: float) -> None:
        tenth = int(10 * done / total)
        line = f"{title}: {100 * done / total:.0f} %, {time.monotonic() - started:.0f} s"
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{line}" + ("\n" if done >= total else ""))
        elif tenth > shown[0]:
            sys.stderr.write(f"{line}\n")
        shown[0] = tenth
        sys.stderr.flush()

    return report


def draw(scatters: tuple[Scatter, ...], marks: list[list[Mark]], title: str, path: Path) -> None:
    """Scatters side by side, each with its marks."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(scatters), figsize=(5.6 * len(scatters), 5.4), squeeze=False)
    for axis, scatter, own in zip(axes[0], scatters, marks, strict=True):
        _draw(axis, scatter, own)
    if title:
        figure.suptitle(title)
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})


def _draw(axis, scatter: Scatter, own: list[Mark]) -> None:
    plot = scatter.plot()
    x, y, words = plot_axis(plot.x), plot_axis(plot.y), np.array(plot.groups)
    names = sorted(set(words.tolist()), key=lambda word: -(words == word).sum())
    for k, name in enumerate(names):
        mine = words == name
        label = f"{name} ({mine.sum()})"
        axis.scatter(x.places[mine], y.places[mine], s=13, c=COLOURS[k], alpha=0.9 if k else 0.4, lw=0, label=label)
    for guide, style in zip(scatter.guides, ("-", "--", ":"), strict=False):
        ends = [max(x.limits[0], 1e-9), x.limits[1]]
        axis.plot(ends, [guide.slope * end for end in ends], style, c="0.5", lw=0.9, label=guide.label)
    for mark in own:
        axis.plot(mark.x, mark.y, "*", c="k", mec="w", ms=15, clip_on=False, ls="none", label=mark.label)
    axis.set(xscale="log" if x.axis.logarithmic else "linear", yscale="log" if y.axis.logarithmic else "linear")
    for s, ticks in ((x, axis.set_xticks), (y, axis.set_yticks)):
        if s.axis.never is not None:
            usual = list(range(0, int(s.axis.never), 40))
            ticks([*usual, s.axis.never], [*map(str, usual), "never"])
    axis.set(xlim=x.limits, ylim=y.limits, xlabel=x.label, ylabel=y.label, title=scatter.title)
    axis.grid(color="0.92", lw=0.6)
    axis.set_axisbelow(True)
    axis.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False)
    axis.text(0.0, -0.42, beyond_sentence(x, y), transform=axis.transAxes, fontsize=8, color="0.4")


def rewrite(page: Path, script: str, text: str) -> None:
    """Put what a script counted between its two marks on a page."""
    start, end = f"<!-- counted by {script} -->", "<!-- end of count -->"
    before, rest = page.read_text(encoding="utf-8").split(start)
    _, after = rest.split(end, 1)
    page.write_text(f"{before}{start}\n\n{text}\n\n{end}{after}", encoding="utf-8")

"""Tables of many runs as pictures and paragraphs of docs/ets7.md; used by the scripts that make the tables."""

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import xarray

import freefloat.scenarios
from freefloat.report.scatters import beyond_sentence, plot_axis
from freefloat.scenarios.scatters import Scatter
from freefloat.scenarios.tables import save_table
from freefloat.sim.record.description import Mark
from freefloat.values.labelled import LabelledArrays

DOCS = Path(__file__).parents[1] / "docs"
TABLES = Path(freefloat.scenarios.__file__).parent / "ets7" / "data"
COLOURS = ("#2563a8", "#c2410c", "#2e7d4f")


def publish(
    script: str,
    make: Callable[[], xarray.Dataset],
    scatters: tuple[Scatter, ...],
    marks: Callable[[LabelledArrays], list[list[Mark]]],
    paragraph: Callable[[LabelledArrays], str],
    title: str = "",
) -> None:
    """Make the table of the package, unless called with --draw; from it the picture and the paragraph of the page."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    if "--draw" not in sys.argv:
        save_table(make(), TABLES / scatters[0].table, f"python {script}")
    data = scatters[0].data()
    figure, axes = plt.subplots(1, len(scatters), figsize=(5.6 * len(scatters), 5.4), squeeze=False)
    for axis, scatter, own in zip(axes[0], scatters, marks(data), strict=True):
        _draw(axis, scatter, own)
    if title:
        figure.suptitle(title.format(data.sizes["row"]))
    figure.tight_layout()
    figure.savefig(DOCS / "images" / f"ets7_{Path(script).stem}.png", dpi=110, metadata={"Software": None})
    text = textwrap.fill(paragraph(data), width=120)
    _rewrite(DOCS / "ets7.md", script, text)
    print(text)


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


def _rewrite(page: Path, script: str, text: str) -> None:
    """Put what a script counted between its two marks on a page."""
    start, end = f"<!-- counted by {script} -->", "<!-- end of count -->"
    before, rest = page.read_text(encoding="utf-8").split(start)
    _, after = rest.split(end, 1)
    page.write_text(f"{before}{start}\n\n{text}\n\n{end}{after}", encoding="utf-8")

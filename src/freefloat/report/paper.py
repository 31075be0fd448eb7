"""Figures for papers in one style, as wide as a column, in PNG, SVG or PDF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freefloat.report.colours import LINE_COLOURS
from freefloat.report.figures import PlotCurve, curve, is_curve, opening_figures
from freefloat.sim.record.description import Figure

if TYPE_CHECKING:
    from freefloat.sim import Run

KINDS = ("png", "svg", "pdf")
_STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.0,
    "axes.labelsize": 8.0,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.linewidth": 0.4,
    "grid.color": "#d9dde2",
    "axes.axisbelow": True,
    "lines.linewidth": 1.1,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "savefig.dpi": 300,
    "svg.hashsalt": "freefloat",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}
# Metadata without a date, so that the same run gives the same bytes.
_WITHOUT_DATE: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
_DASHES = ("-", "--", ":", "-.")
_WIDTH, _HEIGHT = 3.5, 2.1  # of a journal's column [inch]


def figures(
    runs: Sequence[Run], folder: Path, kind: str = "pdf", channels: Sequence[str] = (), names: Sequence[str] = ()
) -> list[Path]:
    """Draw channels, or the figures that belong to the scenario, one file each; several runs lie over each other."""
    if kind not in KINDS:
        raise ValueError(f"Figures can be {', '.join(KINDS)}, not '{kind}'.")
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise ValueError("Figures need Matplotlib. Install it: pip install 'freefloat[export]'.") from None
    wanted = [_figure(runs[0], name) for name in channels] or opening_figures(runs[0])
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with mpl.rc_context(_STYLE):
        for figure in wanted:
            curves = [curve(run, figure) for run in runs if is_curve(run, figure.channel)]
            path = folder / f"{_file_name(figure.channel)}.{kind}"
            _draw(curves, names, path)
            written.append(path)
    return written


def _figure(run: Run, channel: str) -> Figure:
    if not is_curve(run, channel):
        raise ValueError(f"The run has no channel '{channel}' to draw. Channels: {', '.join(run.channels)}.")
    return next((figure for figure in opening_figures(run) if figure.channel == channel), Figure(channel))


def _file_name(channel: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in channel)


def _draw(curves: Sequence[PlotCurve], names: Sequence[str], path: Path) -> None:
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(_WIDTH, _HEIGHT), layout="constrained")
    axes = canvas.add_subplot()
    for number, drawn in enumerate(curves):
        for j, component in enumerate(drawn.components):
            name = names[number] if len(names) > number else ""
            label = _plain(" ".join(filter(None, (name, component))))
            (line,) = axes.plot(drawn.time, drawn.values[:, j], _DASHES[number % len(_DASHES)], label=label or None)
            line.set_color(LINE_COLOURS[j % len(LINE_COLOURS)])
    first = curves[0]
    frame = f", axes {first.frame}" if first.frame else ""
    unit = f" [{first.unit}]" if first.unit else ""
    axes.set_xlabel("time [s]")
    axes.set_ylabel(_plain(f"{first.label}{unit}"), wrap=True)
    axes.set_title(_plain(f"{first.name}{frame}"), fontsize=7, color="#59636e", loc="left")
    axes.margins(x=0.0)
    if len(first.components) > 1 or len(curves) > 1:
        axes.legend(ncols=3, loc="best", handlelength=1.4, columnspacing=1.0)
    canvas.savefig(path, metadata=_WITHOUT_DATE.get(path.suffix))


def _plain(text: str) -> str:
    """Text with escaped dollar signs, which would start a formula in Matplotlib."""
    return text.replace("$", r"\$")

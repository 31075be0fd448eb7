"""Figures for papers in one style, as wide as a column, in PNG, SVG or PDF."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freefloat.report.colours import LINE_COLOURS
from freefloat.report.figures import PlotCurve, curve, is_curve, opening_figures, plottable
from freefloat.sim.record.description import Figure
from freefloat.values.suggestions import did_you_mean

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
_SCREEN_WIDTH, _SCREEN_HEIGHT, _SCREEN_DPI = 6.5, 2.4, 110  # of a plot in a notebook [inch], [inch], [1/inch]


def figures(
    runs: Sequence[Run], folder: Path, kind: str = "pdf", channels: Sequence[str] = (), names: Sequence[str] = ()
) -> list[Path]:
    """Draw channels, or the figures that belong to the scenario, one file each; several runs lie over each other."""
    if kind not in KINDS:
        raise ValueError(f"Figures can be {', '.join(KINDS)}, not '{kind}'.")
    mpl = _matplotlib()
    wanted = [_figure(runs[0], name) for name in channels] or opening_figures(runs[0])
    folder.mkdir(parents=True, exist_ok=True)
    from matplotlib.figure import Figure as Canvas

    written = []
    with mpl.rc_context(_STYLE):
        for figure in wanted:
            curves = [curve(run, figure) for run in runs if is_curve(run, figure.channel)]
            path = folder / f"{_file_name(figure.channel)}.{kind}"
            canvas = Canvas(figsize=(_WIDTH, _HEIGHT), layout="constrained")
            _draw(canvas.add_subplot(), curves, names)
            canvas.savefig(path, metadata=_WITHOUT_DATE.get(path.suffix))
            written.append(path)
    return written


@dataclass(frozen=True, eq=False, repr=False)
class ChannelPlot:
    """Channels of a run over time, which a notebook shows; `figure` is Matplotlib's."""

    figure: Any
    channels: tuple[str, ...]

    def save(self, path: str | Path) -> Path:
        """Write the plot as PNG, SVG or PDF, by the ending of the path."""
        path = Path(path)
        if path.suffix.removeprefix(".") not in KINDS:
            raise ValueError(
                f"A plot can be {', '.join(KINDS)}, not '{path.name}'. Give the path one of these endings."
            )
        with _matplotlib().rc_context(_STYLE):
            self.figure.savefig(path, metadata=_WITHOUT_DATE.get(path.suffix))
        return path

    def __repr__(self) -> str:
        return f"<Plot of {', '.join(self.channels)}: save it by .save('plot.png')>"

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """The picture for notebooks, and its size on the page [px]."""
        buffer = io.BytesIO()
        with _matplotlib().rc_context(_STYLE):
            self.figure.savefig(buffer, format="png", dpi=2 * _SCREEN_DPI)
        wide, high = self.figure.get_size_inches()
        return buffer.getvalue(), {"width": round(wide * _SCREEN_DPI), "height": round(high * _SCREEN_DPI)}


def plot_channels(run: Run, channels: Sequence[str] = ()) -> ChannelPlot:
    """Plot channels over time, one below the other; the usual ones of the run where none is named."""
    wanted = [_figure(run, name) for name in channels] or opening_figures(run)
    if not wanted:
        raise ValueError("The run has no channel that is a curve over time.")
    mpl = _matplotlib()
    from matplotlib.figure import Figure as Canvas

    with mpl.rc_context(_STYLE):
        canvas = Canvas(figsize=(_SCREEN_WIDTH, _SCREEN_HEIGHT * len(wanted)), layout="constrained")
        rows = canvas.subplots(len(wanted), sharex=True, squeeze=False)[:, 0]
        for axes, figure in zip(rows, wanted, strict=True):
            _draw(axes, [curve(run, figure)], ())
            axes.label_outer()
    return ChannelPlot(canvas, tuple(figure.channel for figure in wanted))


def _matplotlib() -> Any:
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise ValueError("Figures need Matplotlib. Install it: pip install 'freefloat[export]'.") from None
    return mpl


def _figure(run: Run, channel: str) -> Figure:
    if not is_curve(run, channel):
        known = plottable(run)
        raise ValueError(
            f"The run has no channel '{channel}' to draw.{did_you_mean(channel, known)} Channels: {', '.join(known)}."
        )
    return next((figure for figure in opening_figures(run) if figure.channel == channel), Figure(channel))


def _file_name(channel: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in channel)


def _draw(axes: Any, curves: Sequence[PlotCurve], names: Sequence[str]) -> None:
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
    left_out = next((f"; {drawn.left_out}" for drawn in curves if drawn.left_out), "")
    axes.set_title(_plain(f"{first.name}{frame}{left_out}"), fontsize=7, color="#59636e", loc="left")
    axes.margins(x=0.0)
    if len(first.components) > 1 or len(curves) > 1:
        axes.legend(ncols=3, loc="best", handlelength=1.4, columnspacing=1.0)


def _plain(text: str) -> str:
    """Text with escaped dollar signs, which would start a formula in Matplotlib."""
    return text.replace("$", r"\$")

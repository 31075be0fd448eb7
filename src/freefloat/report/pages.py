"""The page of a run: one HTML file that opens from disk, needs no network and runs only its own code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.report import accuracy_section, scatters, sections
from freefloat.report.contents import BUDGET, contents
from freefloat.report.documents import document, write_document
from freefloat.report.markup import Markup, element, join_markup, text
from freefloat.report.sections import Sheet

if TYPE_CHECKING:
    from freefloat.sim import Run

_SCRIPTS = (
    *("payload.js", "theme.js", "axes.js", "linear.js", "camera.js", "painter.js", "scene.js"),
    *("plots.js", "scatters.js", "page.js"),
)


def page(run: Run | str | Path, path: str | Path) -> Path:
    """Write the page of a run, or of a run file."""
    return write_document(_html([Sheet("", _load_run(run))]), Path(path))


def compare(runs: Sequence[Run | str | Path], path: str | Path, names: Sequence[str] | None = None) -> Path:
    """Write one page on which several runs lie over each other."""
    if len(runs) < 2:
        raise ValueError(f"Comparing needs at least two runs, got {len(runs)}.")
    names = names or _names(runs)
    sheets = [Sheet(name, _load_run(run)) for name, run in zip(names, runs, strict=True)]
    return write_document(_html(sheets), Path(path))


def run_page_html(run: Run, budget: int = BUDGET) -> str:
    """HTML of the page of a run; `budget`: bytes of its curves before compression."""
    return _html([Sheet("", run)], budget)


def _load_run(run: Run | str | Path) -> Run:
    from freefloat.sim import Run

    return run if isinstance(run, Run) else Run.load(run)


def _names(runs: Sequence[Run | str | Path]) -> list[str]:
    """Different names for the runs, from the folders or names of their files."""
    names = []
    for number, run in enumerate(runs, start=1):
        name = f"run {number}"
        if isinstance(run, (str, Path)):
            name = Path(run).parent.name if Path(run).stem == "run" else Path(run).stem
        names.append(name if name and name not in names else f"{name} ({number})")
    return names


def _html(sheets: list[Sheet], budget: int = BUDGET) -> str:
    """HTML of the page; files of unknown origin may contain data that cannot be drawn, which raises a ValueError."""
    try:
        return _page_html(sheets, budget)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        names = ", ".join(sheet.name or sections.title(sheet.run) for sheet in sheets)
        raise ValueError(f"{names}: the run cannot be shown ({type(error).__name__}: {error}).") from error


def _page_html(sheets: list[Sheet], budget: int) -> str:
    several = len(sheets) > 1
    heading = "Comparison: " + ", ".join(sheet.name for sheet in sheets) if several else sections.title(sheets[0].run)
    places = {
        "title": text(heading),
        "header": _header(sheets, heading),
        "guessed": sections.guessed_shapes(sheets),
        "scatters": scatters.section(sheets),
        "facts": sections.facts(sheets),
        "claims": sections.claims(sheets),
        "conserved": sections.audit_table(sheets),
        "ledger": sections.energy_momentum_table(sheets),
        "accuracy": accuracy_section.accuracy(sheets),
        "events": sections.events(sheets),
        "settings": sections.settings(sheets),
        "versions": sections.versions(sheets),
        "contents": contents(sheets, budget),
    }
    return document("page.html", _SCRIPTS, places)


def _header(sheets: list[Sheet], heading: str) -> Markup:
    parts = [element("h1", heading), *dict.fromkeys(sections.about(sheet.run) for sheet in sheets)]
    for sheet in sheets:
        name = element("strong", sheet.name) if len(sheets) > 1 else Markup("")
        parts.append(
            element("div", name, sections.lead_paragraph(sheet.run), sections.badges(sheet.run), class_="summary")
        )
    return join_markup(parts)

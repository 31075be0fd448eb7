"""The page of a run: one HTML file that opens from disk, needs no network and runs no code but its own."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import os
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.report import sections
from freefloat.report.contents import contents
from freefloat.report.markup import Markup, element, joined, text
from freefloat.report.payload import squeezed
from freefloat.report.sections import Sheet

if TYPE_CHECKING:
    from freefloat.sim import Run

_SCRIPTS = ("payload.js", "linear.js", "camera.js", "painter.js", "scene.js", "plots.js", "page.js")


def page(run: Run | str | Path, path: str | Path) -> Path:
    """Write the page of a run, or of a run file."""
    return _write([Sheet("", _loaded(run))], Path(path))


def compare(runs: Sequence[Run | str | Path], path: str | Path, names: Sequence[str] | None = None) -> Path:
    """Write one page on which several runs lie over each other."""
    if len(runs) < 2:
        raise ValueError(f"Comparing needs at least two runs, got {len(runs)}.")
    names = names or _names(runs)
    return _write([Sheet(name, _loaded(run)) for name, run in zip(names, runs, strict=True)], Path(path))


def _loaded(run: Run | str | Path) -> Run:
    from freefloat.sim import Run

    return run if isinstance(run, Run) else Run.load(run)


def _names(runs: Sequence[Run | str | Path]) -> list[str]:
    """A file's folder names it, or the file itself; never two alike."""
    names = []
    for number, run in enumerate(runs, start=1):
        name = f"run {number}"
        if isinstance(run, (str, Path)):
            name = Path(run).parent.name if Path(run).stem == "run" else Path(run).stem
        names.append(name if name and name not in names else f"{name} ({number})")
    return names


def _write(sheets: list[Sheet], path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(_html(sheets), encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def _html(sheets: list[Sheet]) -> str:
    """The template with its places filled; every script is named in the security policy by its hash."""
    script = "\n".join(_asset(name) for name in _SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    several = len(sheets) > 1
    heading = "Comparison: " + ", ".join(sheet.name for sheet in sheets) if several else sections.title(sheets[0].run)
    places = {
        "policy": f"default-src 'none'; script-src 'sha256-{digest}' blob:; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'",
        "title": text(heading),
        "style": _asset("page.css"),
        "header": _header(sheets, heading),
        "claims": sections.claims(sheets),
        "conserved": sections.conserved(sheets),
        "ledger": sections.ledger(sheets),
        "events": sections.events(sheets),
        "settings": sections.settings(sheets),
        "versions": sections.versions(sheets),
        "plotting": squeezed(_bokeh()),
        "contents": contents(sheets),
        "script": script,
    }
    pieces = _asset("page.html").split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, rest = piece.split("}}", 1)
        filled += [places[name.strip()], rest]
    return "".join(filled)


def _header(sheets: list[Sheet], heading: str) -> Markup:
    made = [element("h1", heading), *dict.fromkeys(sections.about(sheet.run) for sheet in sheets)]
    for sheet in sheets:
        name = element("strong", sheet.name) if len(sheets) > 1 else Markup("")
        made.append(element("div", name, sections.lead(sheet.run), sections.chips(sheet.run), class_="summary"))
    return joined(made)


@cache
def _asset(name: str) -> str:
    return resources.files("freefloat.report").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _bokeh() -> bytes:
    """BokehJS and its plotting interface, as the installed package carries them; Bokeh itself is not imported."""
    found = importlib.util.find_spec("bokeh")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("The page needs Bokeh for its plots. Install it: pip install bokeh.")
    folder = Path(found.origin).parent / "server" / "static" / "js"
    return b"\n".join((folder / name).read_bytes() for name in ("bokeh.min.js", "bokeh-api.min.js"))

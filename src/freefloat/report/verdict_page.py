"""The page of a verdict, for a review board: go or no-go in words, every criterion, curves, and the signature."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.report import sections
from freefloat.report.contents import contents
from freefloat.report.documents import document, write_document
from freefloat.report.markup import Markup, element, join_markup, table, text
from freefloat.report.sections import Sheet
from freefloat.values.verdicts import GO, NO_GO, Criterion, Signature, Verdict

if TYPE_CHECKING:
    from freefloat.sim import Run

_SCRIPTS = ("payload.js", "theme.js", "axes.js", "plots.js", "verdict_page.js")
# Word, shape and colour: each of them is enough to recognise the decision.
_SIGNS = {GO: ("●", "good"), NO_GO: ("✗", "bad")}
_OPEN = ("○", "caution")


def verdict_page(verdict: Verdict, run: Run, curves: tuple[Run, Run | None], path: str | Path) -> Path:
    """Write the page of a verdict on a run; `curves` are the curves of the rehearsal and of the simulation."""
    cell, simulated = curves
    sheets = [Sheet("cell", cell), *([Sheet("simulation", simulated)] if simulated is not None else [])]
    own = [Sheet("", run)]
    return _write_page(verdict, sections.about(run), sections.facts(own), sections.settings(own), sheets, path)


def refusal_page(verdict: Verdict, path: str | Path) -> Path:
    """Write the page of a rehearsal that could not begin and has no curves."""
    nothing = element("p", "Nothing was rehearsed, so there is nothing to show.", class_="note")
    return _write_page(verdict, Markup(""), nothing, nothing, [], path)


def _write_page(
    verdict: Verdict, about: Markup, facts: Markup, settings: Markup, sheets: list[Sheet], path: str | Path
) -> Path:
    places = {
        "title": text(f"{_word(verdict)}: {verdict.title}"),
        "header": join_markup([*_header(verdict), about]),
        "criteria": criteria_table(verdict),
        "facts": facts,
        "settings": settings,
        "signature": _signature(verdict.signature),
        "contents": contents(sheets),
    }
    return write_document(document("verdict.html", _SCRIPTS, places), Path(path))


def _word(verdict: Verdict) -> str:
    return "GO" if verdict.go else "NO-GO"


def _header(verdict: Verdict) -> list[Markup]:
    sign, colour = _SIGNS[GO if verdict.go else NO_GO]
    stamp = element("p", f"{sign} {_word(verdict)}", class_=f"stamp {colour}", id="verdict")
    parts = [element("h1", f"Go or no-go: {verdict.title}"), stamp, element("p", verdict.headline, class_="lead")]
    reasons = [element("li", element("strong", f"{stop.name}: "), stop.reason) for stop in verdict.against]
    return [*parts, element("ol", *reasons, class_="reasons")] if reasons else parts


def criteria_table(verdict: Verdict) -> Markup:
    """Tables of the criteria: of cell and mission, failed first; of the simulation alone; not judged; and limits."""
    headings = ("verdict", "criterion", "limit, and who set it", "found (± two deviations)", "margin", "what was found")
    shown, apart, idle = (
        [c for c in verdict.by_margin if _place(c) == place] for place in ("judged", "simulation", "idle")
    )
    parts = [element("div", table(headings, map(_row, shown), numbers=(2, 3, 4)), class_="judged")]
    if apart:
        parts.append(element("h3", "These test the simulated part alone, whatever the cell does; not counted above"))
        parts.append(element("div", table(headings, map(_row, apart), numbers=(2, 3, 4)), class_="judged"))
    if idle:
        rows = [[_decision(c), element("strong", c.name), c.reason] for c in idle]
        parts.append(table(("verdict", "not judged, and not needed for a go", "why"), rows))
    if verdict.unchosen_limits:
        words = "Limits that nobody chose, defaults of the software: " + ", ".join(verdict.unchosen_limits) + "."
        parts.append(element("p", words, class_="note", id="unchosen"))
    return join_markup(parts)


def _place(criterion: Criterion) -> str:
    """The table in which a criterion is: what stands against a go is always in the first."""
    if _is_idle(criterion):
        return "idle"
    return "simulation" if criterion.simulation_only and not criterion.stops else "judged"


def _is_idle(criterion: Criterion) -> bool:
    return criterion.value is None and not criterion.required


def _row(criterion: Criterion) -> list[object]:
    return [
        _decision(criterion),
        join_markup([element("strong", criterion.name), element("small", criterion.meaning)]),
        join_markup([text(criterion.statement), element("small", criterion.limit_from)]),
        criterion.value_text,
        _margin(criterion),
        criterion.reason,
    ]


def _decision(criterion: Criterion) -> Markup:
    sign, colour = _SIGNS.get(criterion.decision, _OPEN)
    needed = " but required" if criterion.value is None and criterion.required else ""
    return element("span", f"{sign} {criterion.decision}{needed}", class_="bad" if criterion.stops else colour)


def _margin(criterion: Criterion) -> Markup:
    """Margin to the limit as a number and a bar; a full bar is the whole limit."""
    if criterion.margin_share is None or criterion.relation in ("at least", "above"):
        return text(criterion.margin_text)
    filled = max(0.0, min(1.0, criterion.margin_share))
    bar = element("progress", value=f"{filled:.3f}", max="1", aria_label="left of the limit")
    return join_markup([text(criterion.margin_text), element("small", bar)])


def _signature(signature: Signature) -> Markup:
    """Versions, hashes and the command, to be copied."""
    rows = [[name, element("code", value)] for name, value in signature.hashes.items()]
    made_with = [[name, value] for name, value in signature.versions.items()]
    command = signature.command or "made by a program of its own"
    again = "freefloat verdict FOLDER judges it again from its files and names what has changed; no facility is needed."
    rehearsed = element("p", "Rehearsed by ", element("code", command, id="command"))
    tables = table(("SHA-256 of", "hash"), rows), table(("made with", "version"), made_with)
    return join_markup([rehearsed, element("p", again, class_="note"), element("div", *tables, class_="pair")])

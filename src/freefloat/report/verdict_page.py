"""The page of a verdict, for a review board: go or no-go in words, every criterion, curves, and the signature."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.report import sections
from freefloat.report.contents import contents
from freefloat.report.documents import document, put
from freefloat.report.markup import Markup, element, joined, table, text
from freefloat.report.sections import Sheet
from freefloat.values.verdicts import GO, NO_GO, Criterion, Signature, Verdict

if TYPE_CHECKING:
    from freefloat.sim import Run

_SCRIPTS = ("payload.js", "theme.js", "axes.js", "plots.js", "verdict_page.js")
# Word, shape and colour: any one of them is enough.
_SIGNS = {GO: ("●", "good"), NO_GO: ("✗", "bad")}
_OPEN = ("○", "caution")


def verdict_page(verdict: Verdict, run: Run, curves: tuple[Run, Run | None], path: str | Path) -> Path:
    """Write the page of a verdict on a run; `curves` are what it draws of the rehearsal and of the simulation."""
    cell, simulated = curves
    sheets = [Sheet("cell", cell), *([Sheet("simulation", simulated)] if simulated is not None else [])]
    own = [Sheet("", run)]
    places = {
        "title": text(f"{_word(verdict)}: {verdict.title}"),
        "header": _header(verdict, run),
        "criteria": criteria_table(verdict),
        "facts": sections.facts(own),
        "settings": sections.settings(own),
        "signature": _signature(verdict.signature),
        "contents": contents(sheets),
    }
    return put(document("verdict.html", _SCRIPTS, places), Path(path))


def refusal_page(verdict: Verdict, path: str | Path) -> Path:
    """Write the page of a rehearsal that could not begin: there is nothing to draw."""
    nothing = element("p", "Nothing was rehearsed, so there is nothing to show.", class_="note")
    places = {
        "title": text(f"{_word(verdict)}: {verdict.title}"),
        "header": _header(verdict, None),
        "criteria": criteria_table(verdict),
        "facts": nothing,
        "settings": nothing,
        "signature": _signature(verdict.signature),
        "contents": contents([]),
    }
    return put(document("verdict.html", _SCRIPTS, places), Path(path))


def _word(verdict: Verdict) -> str:
    return "GO" if verdict.go else "NO-GO"


def _header(verdict: Verdict, run: Run | None) -> Markup:
    sign, colour = _SIGNS[GO if verdict.go else NO_GO]
    stamp = element("p", f"{sign} {_word(verdict)}", class_=f"stamp {colour}", id="verdict")
    parts = [element("h1", f"Go or no-go: {verdict.title}"), stamp, element("p", verdict.headline, class_="lead")]
    if verdict.against:
        parts.append(
            element(
                "ol",
                *(element("li", element("strong", f"{one.name}: "), one.reason) for one in verdict.against),
                class_="reasons",
            )
        )
    return joined([*parts, sections.about(run) if run is not None else Markup("")])


def criteria_table(verdict: Verdict) -> Markup:
    """Every criterion: what stops it, then by margin; those that nobody needs to judge in a table of their own."""
    headings = ("verdict", "criterion", "limit", "found", "margin", "what was found, and what to do")
    judged, idle = ([one for one in verdict.by_margin if _is_idle(one) is idle] for idle in (False, True))
    parts = [element("div", table(headings, map(_row, judged), numbers=(2, 3, 4)), class_="judged")]
    if idle:
        rows = [[_decision(one), element("strong", one.name), one.reason] for one in idle]
        parts.append(table(("verdict", "not judged, and not needed for a go", "why"), rows))
    return joined(parts)


def _is_idle(one: Criterion) -> bool:
    return one.value is None and not one.required


def _row(one: Criterion) -> list[object]:
    return [
        _decision(one),
        joined([element("strong", one.name), element("small", one.meaning)]),
        joined([text(one.statement), element("small", one.limit_from)]),
        one.found,
        _margin(one),
        one.reason,
    ]


def _decision(one: Criterion) -> Markup:
    sign, colour = _SIGNS.get(one.decision, _OPEN)
    needed = " but required" if one.value is None and one.required else ""
    return element("span", f"{sign} {one.decision}{needed}", class_="bad" if one.stops else colour)


def _margin(one: Criterion) -> Markup:
    """What is left as a number and a bar; a full bar is the whole limit."""
    if one.margin is None:
        return text("–")
    filled = max(0.0, min(1.0, one.margin))
    bar = element("progress", value=f"{filled:.3f}", max="1", aria_label="left of the limit")
    return joined([text(f"{100.0 * one.margin:.4g} %"), element("small", bar)])


def _signature(signature: Signature) -> Markup:
    """Versions, hashes and the command, as they can be copied."""
    rows = [[name, element("code", value)] for name, value in signature.hashes.items()]
    made_with = [[name, value] for name, value in signature.versions.items()]
    command = signature.command or "made by a program of its own"
    again = "freefloat verdict FOLDER judges it again from its files and names what has changed; no facility is needed."
    return joined(
        [
            element("p", "Rehearsed by ", element("code", command, id="command")),
            element("p", again, class_="note"),
            element(
                "div", table(("SHA-256 of", "hash"), rows), table(("made with", "version"), made_with), class_="pair"
            ),
        ]
    )

"""Small pieces of the studio's panel as HTML: lights, deadlines, results. Everything in them is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from freefloat.report.markup import Markup, element, join_markup, table, verdict
from freefloat.report.sections import Sheet, audit_table, claims, lead_paragraph

if TYPE_CHECKING:
    from freefloat.sim import Run

_LIGHTS = {"good": "#1d7a45", "waiting": "#c98a00", "bad": "#b42318", "off": "#9aa5b1"}
_STYLE = Markup(
    "<style>.ff table{border-collapse:collapse;width:100%;font-size:0.8em}.ff td,.ff th{padding:3px 6px 3px 0;"
    "text-align:left;border-bottom:1px solid #8884}.ff .good{color:#2f9e60}.ff .bad{color:#d64534}"
    ".ff .number{text-align:right}.ff p{font-size:0.85em;margin:0.3em 0}</style>"
)


def panel(*parts: Markup) -> str:
    """HTML of a block of the panel."""
    return str(element("div", _STYLE, *parts, class_="ff", style="padding:0 0.7em 0.5em"))


def result(run: Run) -> str:
    """HTML of the claims and the audit of a run."""
    sheets = [Sheet("", run)]
    return panel(lead_paragraph(run), claims(sheets), audit_table(sheets))


def lights(states: Mapping[str, str]) -> str:
    """HTML of one coloured dot with its name for each state."""
    dots = [
        element(
            "span",
            element("span", "●", style=f"color:{_LIGHTS.get(state, _LIGHTS['off'])};font-size:1.3em"),
            f" {name}",
            title=state,
            style="margin-right:1em",
        )
        for name, state in states.items()
    ]
    return panel(join_markup(dots))


def deadlines(late: Sequence[float]) -> str:
    """HTML of a histogram of the delays of frames [s], in decades of milliseconds, and the worst delay."""
    if not late:
        return panel(element("p", "No frame yet."))
    edges = (0.0, 1e-3, 1e-2, 1e-1, np.inf)  # [s]
    names = ("< 1 ms", "1–10 ms", "10–100 ms", "> 100 ms")
    counts = np.histogram(np.asarray(late), bins=edges)[0]
    top = max(int(counts.max()), 1)
    rows = [
        [
            name,
            element(
                "div", "", style=f"height:0.7em;width:{100 * int(count) / top:.0f}%;background:#2563a8;min-width:1px"
            ),
            int(count),
        ]
        for name, count in zip(names, counts, strict=True)
    ]
    return panel(
        table(["late by", "", "frames"], rows, numbers=(2,)),
        element("p", f"worst {1e3 * max(late):.1f} ms of {len(late)} frames"),
    )


def sentence(words: str, good: bool = True) -> str:
    """HTML of one sentence, highlighted if it reports an error."""
    return panel(element("p", words) if good else element("p", verdict(False, "", words)))

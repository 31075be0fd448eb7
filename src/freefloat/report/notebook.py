"""A run in a notebook: its page within the output of a cell, without a network; text where the page is too large."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from freefloat.report.contents import BUDGET
from freefloat.report.pages import run_page_html

if TYPE_CHECKING:
    from freefloat.sim import Run

MOST_BYTES = 1_500_000  # of one output: a notebook with ten runs should still open
_BUDGETS = (BUDGET, BUDGET // 4, BUDGET // 12)  # bytes of curves before compression, tried in this order
_HEIGHT = 720  # [px]


def run_html(run: Run) -> str:
    """HTML of a run for the output of a cell: its page in a frame that may run only its own code."""
    for budget in _BUDGETS:
        page = html.escape(run_page_html(run, budget))
        frame = (
            f'<iframe title="{html.escape(repr(run))}" srcdoc="{page}" sandbox="allow-scripts" '
            f'style="width:100%;height:{_HEIGHT}px;border:1px solid #d0d7de;border-radius:6px"></iframe>'
        )
        if len(frame.encode()) < MOST_BYTES:
            return frame
    return (
        f"<pre>{html.escape(repr(run))}\nIts page is too large for a notebook. "
        "ff.page(run, &quot;run.html&quot;) writes it to a file.</pre>"
    )

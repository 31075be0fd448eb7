"""A progress bar with the remaining time, on standard error, for work longer than two seconds.

While code is compiled a line replaces the bar; if standard error is no terminal, lines are logged.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freefloat.values.progress import Progress

_PATIENCE = 2.0  # [s] before a bar is shown


@contextlib.contextmanager
def progress_bar(title: str, quiet: bool) -> Iterator[Progress | None]:
    """Show a progress bar within the block; yields its report function, or None if standard error is no terminal."""
    from freefloat.sim.compiling_line import is_terminal

    if quiet or not is_terminal(sys.stderr):
        with report_compilation(quiet):
            yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    from freefloat.cli.bars import bar_of

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    started = time.monotonic()
    with bar_of(*columns) as bar:
        task = bar.add_task(title, total=1.0, visible=False)

        def report(done: float, total: float) -> None:
            bar.update(task, completed=done / total, visible=time.monotonic() - started > _PATIENCE)

        yield report


def report_compilation(quiet: bool) -> AbstractContextManager[Any]:
    """Report on standard error which code is compiled, where there is no bar; `quiet` turns such reports off."""
    from freefloat.engine import on_making
    from freefloat.sim.compiling_line import LogDisplay, TerminalDisplay, is_terminal, show_compilation

    stream = sys.stderr  # None where standard error is closed
    if quiet or stream is None:
        return on_making(lambda event: None)
    return show_compilation(TerminalDisplay(stream) if is_terminal(stream) else LogDisplay(stream))

"""A progress bar with the time that remains, on standard error, for work longer than two seconds.

While code is made a line says so instead; where standard error is no terminal, lines of a log do.
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
    """A function to report progress to, or None when nobody would see it."""
    from freefloat.sim.compiling_line import is_terminal

    if quiet or not is_terminal(sys.stderr):
        with code_sign(quiet):
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


def code_sign(quiet: bool) -> AbstractContextManager[Any]:
    """Says on standard error, where there is no bar, which code is being made; quiet: keeps others from saying it."""
    from freefloat.engine import on_making
    from freefloat.sim.compiling_line import LogSign, TerminalSign, is_terminal, showing

    stream = sys.stderr  # None where standard error is closed
    if quiet or stream is None:
        return on_making(lambda event: None)
    return showing(TerminalSign(stream) if is_terminal(stream) else LogSign(stream))

"""A progress bar with the time that remains, on standard error, for work longer than two seconds."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freefloat.sim.simulate import Progress

_PATIENCE = 2.0  # [s] before a bar is shown


@contextlib.contextmanager
def progress_bar(title: str, quiet: bool) -> Iterator[Progress | None]:
    """A function to report progress to, or None when nobody would see it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    started = time.monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0, visible=False)

        def report(done: float, total: float) -> None:
            bar.update(task, completed=done / total, visible=time.monotonic() - started > _PATIENCE)

        yield report

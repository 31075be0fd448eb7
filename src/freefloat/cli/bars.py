"""Progress bars that are replaced by a line of text while code is compiled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.progress import Progress, ProgressColumn
from rich.text import Text

from freefloat.engine import on_making
from freefloat.sim.compiling_line import CompilationLine


class Bar(Progress):
    """A progress bar on standard error that disappears at its end; one thread draws the bar and the line."""

    def __init__(self, *columns: ProgressColumn, line: CompilationLine) -> None:
        self.line, self.terminal = line, Console(stderr=True)
        super().__init__(*columns, console=self.terminal, transient=True)

    def get_renderables(self) -> Iterable[RenderableType]:
        """The line while code is compiled, otherwise the bar."""
        text = self.line.text(width=self.terminal.width)
        if text:
            yield Text(text, no_wrap=True, overflow="ellipsis")
        else:
            yield from super().get_renderables()


@contextmanager
def bar_of(*columns: ProgressColumn) -> Iterator[Bar]:
    """Show a progress bar within the block."""
    line = CompilationLine()
    with on_making(line.take_report), Bar(*columns, line=line) as bar:
        yield bar

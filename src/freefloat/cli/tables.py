"""Tables on the terminal."""

from typing import Any

from rich.console import Console
from rich.table import Table

from freefloat.values.claims import Claim


def claims_table(rows: list[dict[str, Any]]) -> Table:
    """Table of the reference numbers with their sources, ours beside them, and the verdict."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, side in (
        ("variant", "left"),
        ("claim", "left"),
        ("reference", "right"),
        ("says", "left"),
        ("ours", "right"),
        ("", "left"),
    ):
        table.add_column(heading, justify=side, no_wrap=heading != "claim")  # pyright: ignore[reportArgumentType]
    for row in rows:
        claim = Claim.from_dict(row)
        verdict = {True: "[green]holds[/]", False: "[red]FAILS[/]", None: "[yellow]not reproduced[/]"}[claim.holds]
        ours = claim.with_unit(f"{claim.value:.6g}")
        table.add_row(row["variant"], claim.name, claim.statement, claim.source.kind, ours, verdict)
    return table


def print_table(table: Table) -> None:
    """Print a table; if standard output is no terminal it is wide enough that nothing is cut."""
    console = Console()
    (console if console.is_terminal else Console(width=132)).print(table)

"""`freefloat verdict`."""

from __future__ import annotations

import json
from pathlib import Path

import typer
from rich.table import Table

from freefloat.cli.tables import print_table
from freefloat.report.folder import files_in
from freefloat.values.verdicts import NOT_JUDGED, Criterion, Verdict

_NOT_REPEATED = 3  # exit status


def verdict(folder: Path, *, as_json: bool) -> int:
    """Judge a rehearsal again from its folder; returns 0 for a go, 1 for a no-go, 3 if it is not as signed."""
    from freefloat.cli.rehearse import rehearsed_scenario
    from freefloat.cli.run import resolve
    from freefloat.scenarios.verdicts import judge_folder, read_verdict

    read_verdict(folder)
    file = files_in(folder)["scenario"]
    scenario, _ = resolve(str(file), [], None)
    again = judge_folder(rehearsed_scenario(scenario, str(file)), folder)
    if as_json:
        differences = {name: list(getattr(again, name)) for name in ("changed", "made_otherwise", "otherwise")}
        typer.echo(json.dumps({**again.now.as_dict(), "same": again.same, **differences}, indent=2))
    else:
        print_verdict(again.now, as_json=False)
        for name in again.changed:
            typer.echo(f"Not as signed: {name} has changed.")
        for name in again.otherwise:
            typer.echo(f"Not as signed: '{name}' comes out differently.")
        if again.made_otherwise:
            typer.echo(f"Judged by other programs than then: {', '.join(again.made_otherwise)}.")
        typer.echo("The same verdict as signed." if again.same else "This is NOT the verdict that was signed.")
    if not again.same:
        return _NOT_REPEATED
    return 0 if again.now.go else 1


def print_verdict(verdict: Verdict, *, as_json: bool) -> None:
    """Print every criterion in a line, then go or no-go with the first reasons."""
    if as_json:
        typer.echo(json.dumps(verdict.as_dict(), indent=2))
        return
    typer.echo("")
    print_table(_table(verdict))
    for criterion in verdict.criteria:
        if criterion.decision == NOT_JUDGED:
            typer.echo(f"  not judged: {criterion.name}: {criterion.reason}")
    if verdict.unchosen_limits:
        typer.echo(f"  limits that nobody chose (defaults): {', '.join(verdict.unchosen_limits)}")
    typer.echo(f"\n{verdict.headline}")
    for reason in verdict.reasons():
        typer.echo(f"  {reason}")


def _table(verdict: Verdict) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("verdict", "criterion", "limit", "found (± 2 deviations)", "margin", "limit set by"):
        table.add_column(heading, justify="left" if heading in ("verdict", "criterion", "limit set by") else "right")
    for criterion in verdict.by_margin:
        if criterion.decision != NOT_JUDGED:
            table.add_row(*_row(criterion))
    return table


def _row(criterion: Criterion) -> tuple[str, ...]:
    decision = f"{criterion.decision} (simulation)" if criterion.simulation_only else criterion.decision
    found = criterion.statement, criterion.value_text, criterion.margin_text
    return decision, criterion.name, *found, criterion.limit_from

"""`freefloat claims`."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import typer

from freefloat.cli.progress import progress_bar
from freefloat.cli.tables import claims_table, print_table
from freefloat.scenarios import SCENARIOS, find
from freefloat.scenarios.runner import judge_run, simulate_variant
from freefloat.sim import Run, RunFailed
from freefloat.sim.rollout import Engine
from freefloat.values.claims import tally


def check(names: list[str], engine: Engine, *, as_json: bool, quiet: bool) -> int:
    """Run every variant of the named scenarios; returns 1 if a claim does not hold or a run fails."""

    @cache
    def simulate(name: str, variant: str) -> Run:
        """Run of a variant, computed once even if others are compared with it."""
        with progress_bar(f"{name} {variant}", quiet or as_json) as progress:
            return simulate_variant(find(name).variants()[variant], variant, progress, engine, accuracy=False)

    rows: list[dict[str, Any]] = []
    failures: list[str] = []
    try:
        for name in [find(n).key() for n in names] or list(SCENARIOS):
            for variant, scenario in find(name).variants().items():
                try:
                    rows += judge_run(scenario, simulate(name, variant), simulate).claims
                except RunFailed as failure:
                    failures.append(f"{name} ({variant}): {failure}")
                    if failure.interrupted:
                        raise KeyboardInterrupt from None
    except KeyboardInterrupt:
        failures.append("Interrupted: what was checked until then stands above.")
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
    else:
        _print(rows)
    for failure in failures:
        typer.echo(f"Error: {failure}", err=True)
    return 0 if not failures and all(row["holds"] is not False for row in rows) else 1


def _print(rows: list[dict[str, Any]]) -> None:
    for name in dict.fromkeys(row["scenario"] for row in rows):
        typer.echo(name)
        own = [row for row in rows if row["scenario"] == name]
        print_table(claims_table(own))
        for remark in dict.fromkeys(f"{row['claim']}: {row['reason']}" for row in own if row["reason"]):
            typer.echo(remark)
    typer.echo(f"\n{tally(rows)}.")

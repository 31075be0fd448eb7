"""`freefloat list`: all scenarios, or one with everything that can be set in it."""

import json
from typing import Any

import typer
from rich.table import Table

from freefloat.cli.tables import print_table
from freefloat.scenarios import SCENARIOS, Scenario, find
from freefloat.scenarios.settings import Setting, optional_records, settings_of


def show(name: str | None, as_json: bool) -> None:
    """Print every scenario with its variants, or one with its settings too."""
    if name is not None:
        _show_one(find(name), as_json)
        return
    rows = [_described(s) for s in SCENARIOS.values()]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        typer.echo(f"{row['name']:<24} {row['title']}")
        typer.echo(f"{'':<24} variants: {', '.join(row['variants'])}")
    typer.echo("\nfreefloat list NAME shows what can be set in one of them.")


def _show_one(scenario: type[Scenario], as_json: bool) -> None:
    settings = settings_of(scenario())
    if as_json:
        rows = [{"path": s.path, "value": s.value, "unit": s.unit, "range": s.range} for s in settings]
        typer.echo(json.dumps(_described(scenario) | {"settings": rows}, indent=2, default=str))
        return
    typer.echo(f"{scenario.title}\n{scenario.source}\nvariants: {', '.join(scenario.variants())}\n")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("setting", "value", "unit", "range"):
        table.add_column(heading, no_wrap=heading == "setting")
    inner = optional_records(scenario())
    for s in settings:
        _add(table, s)
        for own in inner.get(s.path, ()):
            _add(table, own, once_set=True)
    print_table(table)
    typer.echo(f"\nfreefloat run {scenario.name} --set {settings[0].path}=... --out DIR")


def _add(table: Table, s: Setting, *, once_set: bool = False) -> None:
    """A row; a setting of a record that is left out has its value once any of them is set."""
    value = "none" if s.value is None else str(s.value)
    table.add_row(f"  {s.path}" if once_set else s.path, value, s.unit, s.range or ", ".join(s.choices))


def _described(scenario: type[Scenario]) -> dict[str, Any]:
    return {
        "name": scenario.name,
        "title": scenario.title,
        "source": scenario.source,
        "variants": list(scenario.variants()),
    }

"""`freefloat list`: all scenarios, or one with all its settings."""

import json
import shlex
from typing import Any

import typer
from rich.table import Table

from freefloat.cli.tables import print_table
from freefloat.scenarios import SCENARIOS, Scenario, find
from freefloat.scenarios.settings import Setting, optional_records, settings_of


def print_scenarios(name: str | None, as_json: bool) -> None:
    """Print every scenario with its variants, or one scenario with its settings."""
    if name is not None:
        _print_scenario(find(name), name, as_json)
        return
    rows = [_scenario_row(s) for s in SCENARIOS.values()]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        typer.echo(f"{row['name']:<24} {row['title']}")
        typer.echo(f"{'':<24} variants: {', '.join(row['variants'])}")
    typer.echo("\nfreefloat list NAME shows what can be set in one of them.")


def _print_scenario(scenario: type[Scenario], name: str, as_json: bool) -> None:
    """Print the settings of a scenario, which was given by this name, and a command that runs it."""
    settings = settings_of(scenario())
    if as_json:
        rows = [{"path": s.path, "value": s.value, "unit": s.unit, "range": s.range} for s in settings]
        typer.echo(json.dumps(_scenario_row(scenario) | {"settings": rows}, indent=2, default=str))
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
    if settings:
        print_table(table)
    typer.echo(f"\n{_command(name, settings)}")


def _command(name: str, settings: list[Setting]) -> str:
    """A command that runs the scenario as it is, changing its first number or text to the value that it has."""
    words = ["freefloat", "run", name]
    if first := next((s for s in settings if s.value is not None and not isinstance(s.value, dict | tuple)), None):
        value = str(first.value).lower() if isinstance(first.value, bool) else str(first.value)
        words += ["--set", f"{first.path}={value}"]
    return shlex.join(words)


def _add(table: Table, s: Setting, *, once_set: bool = False) -> None:
    """Add a row to the table; an inner setting of an optional record applies only when one of them is set."""
    value = "none" if s.value is None else str(s.value)
    table.add_row(f"  {s.path}" if once_set else s.path, value, s.unit, s.range or ", ".join(s.choices))


def _scenario_row(scenario: type[Scenario]) -> dict[str, Any]:
    facts = {"name": scenario.name, "title": scenario.title, "source": scenario.source}
    return {**facts, "variants": list(scenario.variants())}

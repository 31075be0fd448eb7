"""`freefloat run`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import typer

from freefloat.cli.progress import progress_bar
from freefloat.cli.tables import claims_table, print_table
from freefloat.report.folder import files_in, keep
from freefloat.scenarios import Scenario, ScenarioError, find
from freefloat.scenarios.scenario import parse_setting
from freefloat.sim import Run, RunFailed
from freefloat.sim.rollout import Engine
from freefloat.values.nested import flatten


def run(
    name: str,
    out: Path,
    settings: list[str],
    variant: str | None,
    engine: Engine,
    *,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run a scenario, save everything, print the claims; 1 if it failed or a claim does not hold."""
    scenario = resolve(name, settings, variant)
    files = files_in(out)
    taken = [str(path) for path in files.values() if path.exists()]
    if taken and not force:
        raise FileExistsError(f"{', '.join(taken)} exist already. Choose another --out or add --force.")
    message = ""
    with progress_bar(scenario.name, quiet or as_json) as progress:
        try:
            result = scenario.simulate(progress, engine)
        except RunFailed as failure:
            result, message = failure.run, str(failure)
    result, summary = keep(scenario, result, out)
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        _print(scenario, result, files)
    if message:
        typer.echo(f"Error: {message}", err=True)
    return 0 if summary["ok"] else 1


def resolve(name: str, settings: list[str], variant: str | None) -> Scenario:
    """A scenario from its name or TOML file, a variant, and settings, in that order."""
    given: dict[str, Any] = {}
    path = Path(name)
    if path.suffix == ".toml":
        if not path.is_file():
            raise ScenarioError(f"There is no scenario file {path}.")
        try:
            given = flatten(tomllib.loads(path.read_text(encoding="utf-8")))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ScenarioError(f"{path} is not valid TOML: {error}.") from None
        name = str(given.pop("scenario", ""))
        if not name:
            raise ScenarioError(f'{path} does not say which scenario it is: add scenario = "ets7-gjm", for example.')
    variants = find(name).variants()
    if variant is not None and variant not in variants:
        raise ScenarioError(f"Scenario '{name}' has no variant '{variant}'. Variants: {', '.join(variants)}.")
    chosen = variants[variant] if variant else next(iter(variants.values()))
    return chosen.with_settings(given | dict(parse_setting(text) for text in settings))


def _print(scenario: Scenario, result: Run, files: dict[str, Path]) -> None:
    typer.echo(f"{scenario.title}\n{result.status}{'' if result.audit.holds else ', but the audit is violated'}\n")
    for line in filter(None, (scenario.came_to(result), *scenario.remarks(), *result.conditions)):
        typer.echo(line)
    if result.claims:
        print_table(claims_table(list(result.claims)))
    else:
        typer.echo("No reference numbers belong to these settings.")
    typer.echo(f"\nAudit\n{result.audit}\n")
    for kind, path in files.items():
        typer.echo(f"{kind:<9} {path}")

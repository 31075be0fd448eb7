"""`freefloat run`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import typer

from freefloat.cli.progress import progress_bar
from freefloat.cli.tables import claims_table, print_table
from freefloat.cli.toml import to_toml
from freefloat.report import page
from freefloat.scenarios import Scenario, ScenarioError, find
from freefloat.scenarios.scenario import parse_setting
from freefloat.sim import Run, RunFailed
from freefloat.sim.rollout import Engine

_FILES = {"run": "run.nc", "scenario": "scenario.toml", "summary": "summary.json", "page": "page.html"}


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
    files = {kind: out / file for kind, file in _FILES.items()}
    taken = [str(path) for path in files.values() if path.exists()]
    if taken and not force:
        raise FileExistsError(f"{', '.join(taken)} exist already. Choose another --out or add --force.")
    message = ""
    with progress_bar(scenario.name, quiet or as_json) as progress:
        try:
            result = scenario.simulate(progress, engine)
        except RunFailed as failure:
            result, message = failure.run, str(failure)
    variant = scenario.variant_name()
    claims = scenario.judged(result, variant) if result.completed else []
    result = result.with_claims(claims)
    summary = _save(scenario, result, variant, files)
    page(result, files["page"])
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
        if not path.exists():
            raise ScenarioError(f"There is no scenario file {path}.")
        try:
            given = _flat(tomllib.loads(path.read_text()))
        except tomllib.TOMLDecodeError as error:
            raise ScenarioError(f"{path} is not valid TOML: {error}") from None
        name = str(given.pop("scenario", ""))
        if not name:
            raise ScenarioError(f'{path} does not say which scenario it is: add scenario = "ets7-gjm", for example.')
    variants = find(name).variants()
    if variant is not None and variant not in variants:
        raise ScenarioError(f"Scenario '{name}' has no variant '{variant}'. Variants: {', '.join(variants)}.")
    chosen = variants[variant] if variant else next(iter(variants.values()))
    return chosen.with_settings(given | dict(parse_setting(text) for text in settings))


def _flat(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as dotted paths."""
    flat: dict[str, Any] = {}
    for key, value in data.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def _save(scenario: Scenario, result: Run, variant: str, files: dict[str, Path]) -> dict[str, Any]:
    result.save(files["run"], force=True)
    files["scenario"].write_text(to_toml(scenario.as_dict()))
    summary = {
        "ok": result.completed and result.audit.holds and all(c["holds"] for c in result.claims),
        "scenario": scenario.name,
        "variant": variant,
        "status": result.status,
        "audit_holds": result.audit.holds,
        "audit": result.audit.as_dict(),
        "claims": list(result.claims),
        "files": {kind: str(path) for kind, path in files.items()},
        "versions": result.versions,
    }
    files["summary"].write_text(json.dumps(summary, indent=2) + "\n")
    return summary


def _print(scenario: Scenario, result: Run, files: dict[str, Path]) -> None:
    typer.echo(f"{scenario.title}\n{result.status}\n")
    if result.claims:
        print_table(claims_table(list(result.claims)))
    else:
        typer.echo("No published numbers belong to these settings.")
    typer.echo(f"\nAudit\n{result.audit}\n")
    for kind, path in files.items():
        typer.echo(f"{kind:<9} {path}")

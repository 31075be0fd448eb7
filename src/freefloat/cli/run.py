"""`freefloat run`."""

from __future__ import annotations

import json
import time
import tomllib
import webbrowser
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import typer

from freefloat.cli.progress import progress_bar
from freefloat.cli.tables import claims_table, print_table
from freefloat.report.folder import files_in
from freefloat.scenarios import Scenario, ScenarioError, find
from freefloat.scenarios.runner import run_scenario
from freefloat.scenarios.scenario import parse_setting
from freefloat.sim import Run
from freefloat.sim.audit.audit import Audit
from freefloat.sim.record.run import CUSTOM
from freefloat.sim.rollout import Engine
from freefloat.values.nested import flatten
from freefloat.values.suggestions import did_you_mean

_EVENTS = 20  # that are printed one by one


@dataclass(frozen=True)
class RunOptions:
    """Options of a run besides its scenario and settings."""

    engine: Engine = "native"
    max_gb: float = 1.0  # largest record
    accuracy: bool | None = None  # None: measured where it takes less than 2 s
    browse: bool = False  # open the page
    verbose: bool = False  # print the whole audit


def run(
    name: str,
    out: Path | None,
    settings: list[str],
    variant: str | None,
    options: RunOptions,
    *,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run a scenario, save everything, print the claims; returns 1 if it failed or a claim does not hold."""
    scenario, variant = resolve(name, settings, variant)
    out = chosen_folder(scenario.name, out)
    files = files_in(out)
    require_free(files.values(), force)
    report = partial(progress_bar, quiet=quiet or as_json)
    kept = run_scenario(scenario, variant, out, options.engine, report, 1e9 * options.max_gb, accuracy=options.accuracy)
    if as_json:
        typer.echo(json.dumps(kept.summary, indent=2))
    else:
        print_run(kept.run, files, verbose=options.verbose)
    for fault in kept.faults:
        typer.echo(f"Error: {fault}", err=True)
    if options.browse:
        open_page(files["page"])
    return 0 if kept.summary["ok"] else 1


def chosen_folder(name: str, out: Path | None) -> Path:
    """The folder for results: the given one, or a new one in `runs` by the scenario's name and the time."""
    if out is not None:
        return out
    first = Path("runs") / f"{Path(name).stem}-{time.strftime('%Y%m%d-%H%M%S')}"
    folder, number = first, 2
    while folder.exists():
        folder, number = first.with_name(f"{first.name}-{number}"), number + 1
    return folder


def open_page(page: Path) -> None:
    """Open a page in the browser, or print how, where there is none."""
    if not webbrowser.open(page.resolve().as_uri()):
        typer.echo(f"No browser was found. Open this file in one: {page.resolve()}", err=True)


def require_free(files: Iterable[Path], force: bool) -> None:
    """Raise an error if some of the files exist and `force` is false."""
    taken = [str(path) for path in files if path.exists()]
    if taken and not force:
        raise FileExistsError(f"{', '.join(taken)} exist already. Choose another --out or add --force.")


def resolve(name: str, settings: list[str], variant: str | None) -> tuple[Scenario, str]:
    """Scenario from its name or TOML file, a variant, and settings, in this order, and the variant or `custom`."""
    given: dict[str, Any] = {}
    if Path(name).suffix == ".toml":
        given = _read_toml(Path(name))
        name = str(given.pop("scenario"))
        variant = variant or _word(given, "variant")
        variant = None if variant == CUSTOM else variant
        given.pop("variant", None)
    variants = find(name).variants()
    if variant is not None and variant not in variants:
        meant = did_you_mean(variant, variants)
        raise ScenarioError(f"Scenario '{name}' has no variant '{variant}'.{meant} Variants: {', '.join(variants)}.")
    variant = variant or next(iter(variants))
    changed = variants[variant].with_settings(given | dict(parse_setting(text) for text in settings))
    return changed, changed.variant_if_unchanged(variant)


def _word(given: dict[str, Any], key: str) -> str | None:
    """Remove a word from the entries of a scenario file and return it."""
    word = given.pop(key, None)
    if not isinstance(word, str | None):
        raise ScenarioError(f"{key} in a scenario file is a word, got {word!r:.80}.")
    return word


def _read_toml(path: Path) -> dict[str, Any]:
    """Read the settings of a scenario by dotted paths from a TOML file."""
    if not path.is_file():
        raise ScenarioError(
            f'There is no scenario file {path}. Give scenario.toml of a run, or write one with scenario = "ets7-gjm".'
        )
    try:
        given = flatten(tomllib.loads(path.read_text(encoding="utf-8")))
    except RecursionError:
        raise ScenarioError(
            f"{path} is nested too deeply. A scenario's settings are tables in tables at most."
        ) from None
    except ValueError as error:
        raise ScenarioError(f"{path} is not valid TOML: {error}.") from None
    if not given.get("scenario"):
        raise ScenarioError(f'{path} does not say which scenario it is: add scenario = "ets7-gjm", for example.')
    return given


def print_run(run: Run, files: dict[str, Path], *, verbose: bool = False) -> None:
    """Print the results of a run: verdict, outcome, events, claims, audit, accuracy and files.

    Sentences about many runs of a scenario are left out where settings were changed: they are not about this run.
    """
    description = run.description
    typer.echo(f"{description.title}\n{run.verdict}\n")
    sentences = (
        description.outcome,
        *description.notes,
        *(scatter.sentence for scatter in description.scatters if run.variant != CUSTOM),
        *run.conditions,
    )
    for line in filter(None, sentences):
        typer.echo(line)
    events = [event for event in run.events if not event.get("condition")]
    for event in events[:_EVENTS]:
        typer.echo(f"{event.get('time', 0.0):g} s: {event.get('label', '')}")
    if len(events) > _EVENTS:
        typer.echo(f"and {len(events) - _EVENTS} events more")
    if run.claims:
        print_table(claims_table(list(run.claims)))
    else:
        typer.echo("No reference numbers belong to these settings.")
    typer.echo("")
    print_audit(run.audit, verbose=verbose)
    typer.echo(f"\nAccuracy\n{run.accuracy}\n")
    for kind, path in files.items():
        typer.echo(f"{kind:<9} {path}")


def print_audit(audit: Audit, *, verbose: bool) -> None:
    """Print one line where every balance holds; the table where one does not, or where it is wanted."""
    if audit.holds and not verbose:
        typer.echo(f"Audit: {audit.in_short} (--verbose shows them).")
        for warning in audit.warnings:
            typer.echo(f"warning: {warning}")
    else:
        typer.echo(f"Audit\n{audit}")

"""`freefloat rehearse`."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from freefloat.cli.progress import progress_bar
from freefloat.cli.run import print_run, resolve
from freefloat.report.folder import CELL_PAGE, files_in, finish_folder, save_run
from freefloat.scenarios import SCENARIOS, ScenarioError, find
from freefloat.scenarios.facility_choice import choose_facility
from freefloat.scenarios.performance import rehearse_variant
from freefloat.scenarios.rehearsed import RehearsedScenario

_LOG = "cycles.log"


def rehearse(
    name: str,
    out: Path,
    settings: list[str],
    variant: str | None,
    facility: str,
    *,
    realtime: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Rehearse a scenario, save everything, print what the cell did; 1 if it was stopped."""
    scenario, variant = resolve(name, settings, variant)
    if not isinstance(scenario, RehearsedScenario):
        known = ", ".join(key for key in SCENARIOS if issubclass(find(key), RehearsedScenario)) or "none"
        raise ScenarioError(f"Scenario '{name}' names no robots to rehearse it with. Those that do: {known}.")
    files = {**files_in(out), "log": out / _LOG}
    taken = [path for path in files.values() if path.exists()]
    if taken and not force:
        raise FileExistsError(f"{', '.join(map(str, taken))} exist already. Choose another --out or add --force.")
    chosen = choose_facility(facility, scenario)
    files["log"].unlink(missing_ok=True)
    try:
        with progress_bar(f"{scenario.name} {variant} in {chosen.name}", quiet or as_json) as progress:
            run = rehearse_variant(scenario, variant, chosen, realtime=realtime, log=files["log"], progress=progress)
    finally:
        chosen.close()
    save_run(run, out)
    summary = finish_folder(run, out)
    if (out / CELL_PAGE).exists():
        files["cell"] = out / CELL_PAGE
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        for table in run.description.tables:
            typer.echo(f"{table.title}")
            for row in table.rows:
                typer.echo("  " + "  ".join(row))
        typer.echo("")
        print_run(run, files)
    return 0 if summary["ok"] else 1

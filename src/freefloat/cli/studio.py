"""`freefloat studio`."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import typer

from freefloat.cli.pages import run_file
from freefloat.scenarios import SCENARIOS, find
from freefloat.studio import Studio, is_local, require_viser
from freefloat.values.suggestions import did_you_mean


def studio(
    what: str | None, runs: Path, host: str, port: int, token: str | None, *, live: bool, pace: float, browse: bool
) -> int:
    """Serve the studio until Ctrl-C; shows a run or the form of a scenario, or runs the scenario live."""
    require_viser()
    if not pace > 0.0:
        raise ValueError(f"--pace must be positive, got {pace:g}.")
    scenario = find(what).key() if what and (what in SCENARIOS or what.endswith(".py")) else None
    if what and scenario is None and not Path(what).exists():
        meant = did_you_mean(what, SCENARIOS)
        raise ValueError(f"'{what}' is neither a run nor a scenario.{meant} Scenarios: {', '.join(SCENARIOS)}.")
    file = run_file(Path(what)) if what and scenario is None else None
    stage = Studio(runs, host=host, port=port, token=token)
    try:
        if scenario:
            stage.choose(scenario)
        if file:
            stage.open(file)
        typer.echo(f"studio    {stage.url}")
        typer.echo("Everyone who has this address, token included, can run and abort.")
        if not is_local(host):
            typer.echo("It can be reached from other machines, and it is not encrypted.")
        typer.echo("Ctrl-C ends it.")
        if browse:
            webbrowser.open(stage.url)
        if live:
            stage.start(live=True, pace=pace)
        stage.wait()
    except KeyboardInterrupt:
        typer.echo("Studio closed.")
    finally:
        stage.close()
    return 0

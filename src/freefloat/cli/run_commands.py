"""Commands that list, run and show experiments: `list`, `run`, `studio`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from freefloat.cli.completion import complete_scenario
from freefloat.cli.options import (
    Engine,
    Force,
    Json,
    OpenPage,
    OptionalScenario,
    Quiet,
    ResultFolder,
    ScenarioName,
    Settings,
    Variant,
    Verbose,
)
from freefloat.cli.plain_help import RUN, add_command


def list_scenarios(
    scenario: OptionalScenario = None,
    as_json: Json = False,
) -> None:
    """List the scenarios and their variants, or the settings of one."""
    from freefloat.cli import list_scenarios as listing

    listing.print_scenarios(scenario, as_json)


def run(
    scenario: ScenarioName,
    out: ResultFolder = None,
    settings: Settings = None,
    variant: Variant = None,
    engine: Engine = "native",
    max_gb: Annotated[
        float, typer.Option("--max-gb", "--most-gb", metavar="NUMBER", min=0.0, help="Largest record [GB].")
    ] = 1.0,
    accuracy: Annotated[
        bool | None,
        typer.Option(
            "--accuracy/--no-accuracy",
            help="Measure the accuracy by the run at half the step; by default where that takes less than 2 s.",
        ),
    ] = None,
    browse: OpenPage = False,
    verbose: Verbose = False,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a scenario and write the run, its settings, a summary and its page."""
    from freefloat.cli import run as command

    options = command.RunOptions(engine, max_gb, accuracy, browse=browse, verbose=verbose)
    words = (scenario, out, settings or [], variant, options)
    sys.exit(command.run(*words, force=force, as_json=as_json, quiet=quiet))


def studio(
    scenario: Annotated[
        str | None,
        typer.Argument(
            help="A run to replay, a scenario or a Python file to set up; nothing: choose.",
            autocompletion=complete_scenario,
        ),
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Start the scenario at once, in step with the clock.")] = False,
    pace: Annotated[
        float, typer.Option("--pace", metavar="NUMBER", help="Simulated seconds per second of a live run.")
    ] = 1.0,
    runs: Annotated[Path, typer.Option("--runs", metavar="FOLDER", help="Where runs are kept and looked for.")] = Path(
        "runs"
    ),
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            help="Address to listen on; any but this machine's own can be reached by others.",
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="NUMBER", help="Port; 0: any free one.")] = 8080,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            metavar="TEXT",
            help="Token to ask for: eight letters, digits, - or _ at least; made up when not given.",
        ),
    ] = None,
    browse: Annotated[bool, typer.Option("--open", help="Open it in the browser, token included.")] = False,
) -> None:
    """Open the studio in the browser: replay, set up, run, watch live, abort."""
    from freefloat.cli import studio as command

    sys.exit(command.studio(scenario, runs, host, port, token, live=live, pace=pace, browse=browse))


def add_run_commands(app: typer.Typer) -> None:
    """Add the commands to the command line, with examples in their help."""
    add_command(
        app,
        RUN,
        list_scenarios,
        "list",
        "freefloat list",
        "freefloat list ets7-gjm",
        "freefloat list my_experiment.py",
    )
    add_command(
        app,
        RUN,
        run,
        "run",
        "freefloat run ets7-gjm --open",
        "freefloat run ets7-gjm --variant sampled-4hz --out runs/4hz",
        "freefloat run ets7-gjm --set path.speed=0.02 --set duration=12",
        "freefloat run my_experiment.py --set mass=900",
    )
    add_command(
        app,
        RUN,
        studio,
        "studio",
        "freefloat studio --open",
        "freefloat studio runs/a",
        "freefloat studio ets7-gjm --live",
    )

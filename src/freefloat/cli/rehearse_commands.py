"""Commands of rehearsals: `rehearse`, `verdict`, `software`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from freefloat.cli.options import Force, Json, Quiet, ResultFolder, ScenarioName, Settings, Variant
from freefloat.cli.plain_help import REHEARSE, add_command


def rehearse(
    scenario: ScenarioName,
    out: ResultFolder = None,
    facility: Annotated[
        str,
        typer.Option(
            "--facility", metavar="NAME", help="virtual, ideal, a TOML file of a virtual cell, or a Python file."
        ),
    ] = "virtual",
    realtime: Annotated[
        bool, typer.Option("--realtime", help="In step with the clock, in a process of its own; lockstep otherwise.")
    ] = False,
    settings: Settings = None,
    variant: Variant = None,
    accept: Annotated[
        list[str] | None,
        typer.Option("--accept", metavar="LIMIT=VALUE", help="Change a limit of a go; may be given several times."),
    ] = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Rehearse a scenario in a facility of robots and judge it. Exit status 0 for a go, 1 for a no-go.

    Writes the run, the log of all cycles, a page, and the verdict with its page.
    """
    from freefloat.cli import rehearse as command
    from freefloat.cli.run import chosen_folder

    options = command.RehearsalOptions(
        scenario, chosen_folder(scenario, out), settings or [], variant, facility, accept or [], realtime
    )
    sys.exit(command.rehearse(options, force=force, as_json=as_json, quiet=quiet))


def verdict(
    folder: Annotated[Path, typer.Argument(help="Folder of a rehearsal.")],
    as_json: Json = False,
) -> None:
    """Judge a rehearsal again from its files. Exit status 0 for a go, 1 for a no-go, 3 if it is not as signed."""
    from freefloat.cli import verdict as command

    sys.exit(command.verdict(folder, as_json=as_json))


def software(
    file: Annotated[Path, typer.Argument(help="Python file with software = ..., or a function that makes it.")],
    connect: Annotated[
        str,
        typer.Option(
            "--connect", metavar="ADDRESS", help="unix:/path or tcp:127.0.0.1:PORT; else $FREEFLOAT_SOFTWARE."
        ),
    ] = "",
) -> None:
    """Run on-board software in this process for a flight or a rehearsal in another one."""
    from freefloat.cli import software as command

    sys.exit(command.run(file, connect))


def add_rehearse_commands(app: typer.Typer) -> None:
    """Add the commands to the command line, with examples in their help."""
    add_command(
        app,
        REHEARSE,
        rehearse,
        "rehearse",
        "freefloat rehearse envisat-free",
        "freefloat rehearse envisat-capture --facility virtual --accept joint_rate=0.5",
        "freefloat rehearse my_mission.py --facility my_robots.py --realtime",
    )
    add_command(
        app,
        REHEARSE,
        verdict,
        "verdict",
        "freefloat verdict runs/cell",
    )
    add_command(
        app,
        REHEARSE,
        software,
        "software",
        "freefloat software my_software.py --connect unix:/tmp/flight",
    )

"""Commands that check: `claims`, `check`, `doctor`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from freefloat.cli.completion import complete_scenario
from freefloat.cli.options import Engine, Json, Quiet
from freefloat.cli.plain_help import CHECK, add_command


def claims(
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(help="Scenarios to check; all of them when none is named.", autocompletion=complete_scenario),
    ] = None,
    engine: Engine = "native",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run scenarios and show every reference number with ours beside it. Exit status 1 if any does not hold."""
    from freefloat.cli import claims as command

    sys.exit(command.check(scenarios or [], engine, as_json=as_json, quiet=quiet))


def check(
    file: Annotated[Path, typer.Argument(help="URDF, MJCF or SDF file.")],
    as_json: Json = False,
    repair: Annotated[bool, typer.Option("--repair", help="Make impossible bodies physical, and say how.")] = False,
) -> None:
    """Check a robot file: structure, joint types, inertias. Exit status 1 if it cannot be simulated."""
    from freefloat.cli import check as command

    sys.exit(command.check(file, as_json=as_json, repair=repair))


def doctor(
    clear: Annotated[bool, typer.Option("--clear-cache", help="Remove all compiled code from disk first.")] = False,
    as_json: Json = False,
) -> None:
    """Show what this installation can compile for, and where compiled code is kept."""
    from freefloat.cli import doctor as command

    command.print_installation(clear=clear, as_json=as_json)


def add_check_commands(app: typer.Typer) -> None:
    """Add the commands to the command line, with examples in their help."""
    add_command(
        app,
        CHECK,
        claims,
        "claims",
        "freefloat claims",
        "freefloat claims ets7-gjm goddard-symmetric --json",
    )
    add_command(
        app,
        CHECK,
        check,
        "check",
        "freefloat check robot.urdf",
        "freefloat check a.xml --repair",
    )
    add_command(
        app,
        CHECK,
        doctor,
        "doctor",
        "freefloat doctor",
        "freefloat doctor --clear-cache",
    )

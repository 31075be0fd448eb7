"""Commands that show saved runs and spacecraft: `channels`, `page`, `compare`, `export`, `map`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from freefloat.cli.completion import complete_scenario
from freefloat.cli.options import Force, Json, OpenPage, Settings, Variant
from freefloat.cli.plain_help import LOOK, add_command


def channels(
    scenario: Annotated[
        str | None,
        typer.Argument(
            help="Scenario, Python file, or run; one of each part when not given.", autocompletion=complete_scenario
        ),
    ] = None,
    settings: Settings = None,
    variant: Variant = None,
    as_json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a table for a page.")] = False,
) -> None:
    """List every quantity that a run records: name, unit, in whose axes, and what it is."""
    from freefloat.cli import channels as command

    command.print_channels(scenario, variant, settings or [], as_json=as_json, markdown=markdown)


def page(
    run: Annotated[Path, typer.Argument(help="Run file, or the folder of a run.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="HTML file; beside the run when not given.")
    ] = None,
    force: Force = False,
    browse: OpenPage = False,
) -> None:
    """Write the page of a run: one HTML file that opens from disk, without network."""
    from freefloat.cli import pages

    sys.exit(pages.page(run, out, force=force, browse=browse))


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two or more run files or folders of runs.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="HTML file.")] = Path("compare.html"),
    force: Force = False,
) -> None:
    """Write one page on which several runs lie over each other."""
    from freefloat.cli import pages

    sys.exit(pages.compare(runs, out, force=force))


def export(
    runs: Annotated[list[Path], typer.Argument(help="Run file or folder; several only for figures.")],
    to: Annotated[
        Literal["csv", "parquet", "mcap", "png", "svg", "pdf"],
        typer.Option("--to", help="Table (csv, parquet), Foxglove recording (mcap), or figures for a paper."),
    ],
    out: Annotated[Path | None, typer.Option("--out", metavar="PATH", help="File, or folder for figures.")] = None,
    channel: Annotated[
        list[str] | None,
        typer.Option("--channel", metavar="NAME", help="Draw this channel; may be given several times."),
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write a run for other programs and for papers."""
    from freefloat.cli import pages

    sys.exit(pages.export(runs, to, out, channel or [], force=force, as_json=as_json))


def map_joints(
    spacecraft: Annotated[
        str, typer.Argument(help="Spacecraft of the library (ets7), a robot file, a scenario, or a Python file.")
    ],
    joints: Annotated[
        list[str],
        typer.Option(
            "--joint",
            metavar="NAME=START:END[:POINTS]",
            help="One axis of the map, in degrees (millimetres for a sliding joint); give two.",
        ),
    ],
    craft: Annotated[
        str | None, typer.Option("--craft", metavar="NAME", help="Which one, where there are several spacecraft.")
    ] = None,
    frame: Annotated[
        str | None,
        typer.Option("--frame", metavar="NAME", help="Frame to be moved, such as hand; maps its singularities too."),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            "--at",
            metavar="NAME=VALUE",
            help="Where a joint stands, or all of them as a list: 0,0,10,-32.8,0,0. Zero when not given.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="HTML page, or NetCDF data if it ends with .nc.")
    ] = Path("map.html"),
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Map over two joints how much an arm disturbs its base, and where it is singular."""
    from freefloat.cli import map as command

    sys.exit(command.draw_map(spacecraft, craft, joints, frame, at or [], out, force=force, as_json=as_json))


def add_look_commands(app: typer.Typer) -> None:
    """Add the commands to the command line, with examples in their help."""
    add_command(
        app,
        LOOK,
        channels,
        "channels",
        "freefloat channels ets7-gjm",
        "freefloat channels my_experiment.py",
        "freefloat channels runs/a",
    )
    add_command(
        app,
        LOOK,
        page,
        "page",
        "freefloat page runs/a --open",
    )
    add_command(
        app,
        LOOK,
        compare,
        "compare",
        "freefloat compare runs/a runs/b --out both.html",
    )
    add_command(
        app,
        LOOK,
        export,
        "export",
        "freefloat export runs/a --to csv",
        "freefloat export runs/a runs/b --to pdf --channel joints.rate --out figures",
    )
    add_command(
        app,
        LOOK,
        map_joints,
        "map",
        "freefloat map ets7 --joint arm.2=-90:90 --joint arm.3=-90:90 --frame hand",
        "freefloat map my_mission.py --craft servicer --joint arm.elbow=0:150 --joint arm.wrist=-90:90",
    )

"""`freefloat`: the commands and their options."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer

from freefloat import __version__
from freefloat.cli.campaign_commands import campaign_app

app = typer.Typer(
    name="freefloat",
    help="Simulate, control and rehearse on-orbit robotic servicing.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(campaign_app)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, and no word of code that is made.")]
Engine = Annotated[
    Literal["native", "jax"], typer.Option("--engine", help="Compiled code, or plain JAX for comparison.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Change a setting; may be given several times."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace results that exist already.")]
Variant = Annotated[str | None, typer.Option("--variant", help="Start from this variant of the scenario.")]


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Simulate, control and rehearse on-orbit robotic servicing."""
    if version:
        typer.echo(__version__)
        raise typer.Exit


@app.command("list")
def list_scenarios(
    scenario: Annotated[str | None, typer.Argument(help="Show what can be set in this one.")] = None,
    as_json: Json = False,
) -> None:
    """List the scenarios and their variants, or the settings of one."""
    from freefloat.cli import list_scenarios as listing

    listing.print_scenarios(scenario, as_json)


@app.command()
def run(
    scenario: Annotated[
        str, typer.Argument(help="Name of a scenario, a TOML file with its settings, or a Python file.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Directory for the results.")],
    settings: Settings = None,
    variant: Variant = None,
    engine: Engine = "native",
    most_gb: Annotated[
        float, typer.Option("--most-gb", min=0.0, help="Refuse to record more than this many gigabytes.")
    ] = 1.0,
    accuracy: Annotated[
        bool | None,
        typer.Option(
            "--accuracy/--no-accuracy",
            help="Measure the accuracy by the run at half the step; by default where that takes less than 2 s.",
        ),
    ] = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a scenario and write the run, the resolved scenario and a summary."""
    from freefloat.cli import run as command

    words = (scenario, out, settings or [], variant, engine, most_gb)
    sys.exit(command.run(*words, accuracy=accuracy, force=force, as_json=as_json, quiet=quiet))


@app.command()
def rehearse(
    scenario: Annotated[str, typer.Argument(help="Name of a scenario that can be rehearsed, or a TOML file of one.")],
    out: Annotated[Path, typer.Option("--out", help="Directory for the results.")],
    facility: Annotated[
        str, typer.Option("--facility", help="virtual, ideal, a TOML file of a virtual cell, or a Python file.")
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

    options = command.RehearsalOptions(scenario, out, settings or [], variant, facility, accept or [], realtime)
    sys.exit(command.rehearse(options, force=force, as_json=as_json, quiet=quiet))


@app.command()
def verdict(
    folder: Annotated[Path, typer.Argument(help="Directory of a rehearsal.")],
    as_json: Json = False,
) -> None:
    """Judge a rehearsal again from its files. Exit status 0 for a go, 1 for a no-go, 3 if it is not as signed."""
    from freefloat.cli import verdict as command

    sys.exit(command.verdict(folder, as_json=as_json))


@app.command()
def software(
    file: Annotated[Path, typer.Argument(help="Python file with software = ..., or a function that makes it.")],
    connect: Annotated[
        str, typer.Option("--connect", help="unix:/path or tcp:127.0.0.1:PORT; else $FREEFLOAT_SOFTWARE.")
    ] = "",
) -> None:
    """Run on-board software in this process for a flight or a rehearsal in another one."""
    from freefloat.cli import software as command

    sys.exit(command.run(file, connect))


@app.command()
def channels(
    what: Annotated[
        str | None, typer.Argument(help="Scenario, Python file, or run; one of each part when not given.")
    ] = None,
    settings: Settings = None,
    variant: Variant = None,
    as_json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a table for a page.")] = False,
) -> None:
    """List every quantity that a run records: name, unit, in whose axes, and what it is."""
    from freefloat.cli import channels as command

    command.print_channels(what, variant, settings or [], as_json=as_json, markdown=markdown)


@app.command()
def claims(
    scenarios: Annotated[
        list[str] | None, typer.Argument(help="Scenarios to check; all of them when none is named.")
    ] = None,
    engine: Engine = "native",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run scenarios and show every reference number with ours beside it. Exit status 1 if any does not hold."""
    from freefloat.cli import claims as command

    sys.exit(command.check(scenarios or [], engine, as_json=as_json, quiet=quiet))


@app.command()
def page(
    run: Annotated[Path, typer.Argument(help="Run file, or the directory of a run.")],
    out: Annotated[Path | None, typer.Option("--out", help="HTML file; beside the run when not given.")] = None,
    force: Force = False,
) -> None:
    """Write the page of a run: one HTML file that opens from disk, without network."""
    from freefloat.cli import pages

    sys.exit(pages.page(run, out, force=force))


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two or more run files or directories of runs.")],
    out: Annotated[Path, typer.Option("--out", help="HTML file.")] = Path("compare.html"),
    force: Force = False,
) -> None:
    """Write one page on which several runs lie over each other."""
    from freefloat.cli import pages

    sys.exit(pages.compare(runs, out, force=force))


@app.command()
def export(
    runs: Annotated[list[Path], typer.Argument(help="Run file or directory; several only for figures.")],
    to: Annotated[
        Literal["csv", "parquet", "mcap", "png", "svg", "pdf"],
        typer.Option("--to", help="Table (csv, parquet), Foxglove recording (mcap), or figures for a paper."),
    ],
    out: Annotated[Path | None, typer.Option("--out", help="File, or directory for figures.")] = None,
    channel: Annotated[
        list[str] | None, typer.Option("--channel", help="Draw this channel; may be given several times.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write a run for other programs and for papers."""
    from freefloat.cli import pages

    sys.exit(pages.export(runs, to, out, channel or [], force=force, as_json=as_json))


@app.command("map")
def map_joints(
    spacecraft: Annotated[str, typer.Argument(help="Spacecraft of the library (ets7), or a URDF file.")],
    joints: Annotated[
        list[str],
        typer.Option(
            "--joint",
            metavar="NAME=START:END[:POINTS]",
            help="One axis of the map, in degrees (millimetres for a sliding joint); give two.",
        ),
    ],
    frame: Annotated[
        str | None, typer.Option("--frame", help="Frame to be moved, such as hand; maps its singularities too.")
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            "--at",
            metavar="NAME=VALUE",
            help="Where a joint stands, or all of them as a list: 0,0,10,-32.8,0,0. Zero when not given.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="HTML page, or NetCDF data if it ends with .nc.")] = Path(
        "map.html"
    ),
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Map over two joints how much an arm disturbs its base, and where it is singular."""
    from freefloat.cli import map as command

    sys.exit(command.draw_map(spacecraft, joints, frame, at or [], out, force=force, as_json=as_json))


@app.command()
def studio(
    what: Annotated[
        str | None, typer.Argument(help="A run to replay, a scenario or a Python file to set up; nothing: choose.")
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Start the scenario at once, in step with the clock.")] = False,
    pace: Annotated[float, typer.Option("--pace", help="Simulated seconds per second of a live run.")] = 1.0,
    runs: Annotated[Path, typer.Option("--runs", help="Where runs are kept and looked for.")] = Path("runs"),
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; any but this machine's own can be reached by others.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port; 0: any free one.")] = 8080,
    token: Annotated[str | None, typer.Option("--token", help="Token to ask for; made up when not given.")] = None,
    browse: Annotated[bool, typer.Option("--open", help="Open it in the browser, token included.")] = False,
) -> None:
    """Open the studio in the browser: replay, set up, run, watch live, abort."""
    from freefloat.cli import studio as command

    sys.exit(command.studio(what, runs, host, port, token, live=live, pace=pace, browse=browse))


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="URDF, MJCF or SDF file.")],
    as_json: Json = False,
    repair: Annotated[bool, typer.Option("--repair", help="Make impossible bodies physical, and say how.")] = False,
) -> None:
    """Check a robot file: structure, joint types, inertias. Exit status 1 if it cannot be simulated."""
    from freefloat.cli import check as command

    sys.exit(command.check(file, as_json=as_json, repair=repair))


@app.command()
def doctor(
    clear: Annotated[bool, typer.Option("--clear-cache", help="Remove all compiled code from disk first.")] = False,
    as_json: Json = False,
) -> None:
    """Show what this installation can compile for, and where compiled code is kept."""
    from freefloat.cli import doctor as command

    command.print_installation(clear=clear, as_json=as_json)


class _TerminationRequest(KeyboardInterrupt):
    """Raised at SIGTERM: treated like Ctrl-C, with another exit status."""


def _raise_termination(number: int, frame: Any) -> None:
    raise _TerminationRequest


@contextlib.contextmanager
def _handle_termination() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C within the block, so that a command keeps its results so far.

    Not `values.signal_handlers`: importing that package loads JAX, which `--help` must not wait for.
    """
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, _raise_termination)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _replace_closed_streams() -> None:
    """Replace standard output or error by the null device if the shell has closed it (`2>&-`).

    Otherwise the next opened file would get its descriptor, and messages of libraries would go into that file.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, PTH123 (for the rest of the process)


def main() -> None:
    """Entry point of the command line; errors of the user are printed as sentences, not as tracebacks."""
    # A command makes a million objects and keeps nearly all of them: the default frequency of garbage collection takes
    # an eighth of its time. Looking for pydantic's plugins reads every installed package.
    gc.set_threshold(50_000, 20, 50)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    _replace_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without our letters shows others instead of an error
    try:
        with _handle_termination():
            app()
    except KeyboardInterrupt as asked:
        _complain("Interrupted.", 143 if isinstance(asked, _TerminationRequest) else 130)
    except OSError as error:
        where = f"{error.strerror}: {error.filename}. Choose another --out." if error.filename else str(error)
        _complain(f"Error: {where}", 2)
    except MemoryError:
        _complain("Error: There is not enough memory for this.", 2)
    except (ValueError, KeyError) as error:
        # Every error of the package that a user can cause is one of these and carries its remedy.
        _complain(f"Error: {error.args[0] if error.args else error}", 2)
    finally:
        gc.freeze()  # the process ends: garbage collection is useless now


def _complain(sentence: str, status: int) -> NoReturn:
    with contextlib.suppress(OSError):  # the reader of standard error is gone
        typer.echo(sentence, err=True)
    sys.exit(status)

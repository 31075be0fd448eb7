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
from typing import Annotated, Any, NoReturn

import typer

from freefloat import __version__
from freefloat.cli import check_commands, look_commands, rehearse_commands, run_commands
from freefloat.cli.campaign_commands import campaign_app
from freefloat.cli.plain_help import DOCUMENTATION, RUN, PlainGroup, examples

app = typer.Typer(
    name="freefloat",
    help="Simulate, control and rehearse on-orbit robotic servicing.",
    cls=PlainGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog=examples(
        "freefloat list",
        "freefloat run ets7-gjm --open",
        "freefloat run my_experiment.py --set mass=900",
        "freefloat compare runs/a runs/b",
    )
    + DOCUMENTATION,
)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Simulate, control and rehearse on-orbit robotic servicing."""
    if version:
        typer.echo(f"freefloat {__version__}")
        raise typer.Exit


run_commands.add_run_commands(app)
app.add_typer(campaign_app, rich_help_panel=RUN)
look_commands.add_look_commands(app)
rehearse_commands.add_rehearse_commands(app)
check_commands.add_check_commands(app)


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

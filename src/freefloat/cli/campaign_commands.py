"""The options of `freefloat campaign`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from freefloat.cli.completion import complete_scenario, complete_setting
from freefloat.cli.options import Force, Json, Quiet, ResultFolder
from freefloat.cli.plain_help import PlainCommand, PlainGroup, examples

if TYPE_CHECKING:
    from freefloat.campaign import Route

campaign_app = typer.Typer(
    name="campaign",
    help="Many runs with dispersed numbers: run, resume, merge, look at, replay.",
    cls=PlainGroup,
    no_args_is_help=True,
    epilog=examples(
        "freefloat campaign run ets7-capture --runs 200 --out runs/capture",
        "freefloat campaign run my_campaign.toml --out runs/mine",
        "freefloat campaign merge runs/part1 runs/part2 --out runs/whole",
        "freefloat campaign replay runs/capture 7",
    ),
)

Folder = Annotated[Path, typer.Argument(help="Folder of the campaign.")]
Threads = Annotated[
    int | None, typer.Option("--threads", metavar="NUMBER", help="Threads; all processors when not given.")
]
Target = Annotated[
    Literal["auto", "native", "gpu"], typer.Option("--target", help="The card where there is one, or machine code.")
]
Shard = Annotated[str, typer.Option("--shard", metavar="I/N", help="Only this part of so many, as for SLURM arrays.")]
Dask = Annotated[
    str | None, typer.Option("--dask", metavar="ADDRESS", help="Dask scheduler; `local` starts workers here.")
]
Workers = Annotated[int | None, typer.Option("--workers", metavar="NUMBER", help="Dask workers to start here.")]


def _route(threads: int | None, target: str, shard: str, dask: str | None, workers: int | None) -> Route:
    from freefloat.campaign import Route
    from freefloat.cli.campaign import shard_of

    return Route(target=target, threads=threads, shard=shard_of(shard), dask=dask, workers=workers)


@campaign_app.command(cls=PlainCommand)
def run(
    scenario: Annotated[
        str,
        typer.Argument(help="TOML file, or a scenario that comes with dispersions.", autocompletion=complete_scenario),
    ],
    out: ResultFolder = None,
    runs: Annotated[int | None, typer.Option("--runs", metavar="NUMBER", help="How many.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="NUMBER", help="Seed of all draws.")] = None,
    design: Annotated[
        str | None, typer.Option("--design", metavar="NAME", help="random, latin-hypercube, sobol or saltelli.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PATH=VALUE",
            help="Change a setting of the scenario.",
            autocompletion=complete_setting,
        ),
    ] = None,
    threads: Threads = None,
    target: Target = "auto",
    shard: Shard = "1/1",
    dask: Dask = None,
    workers: Workers = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a campaign into a folder. Ctrl-C keeps what is done; `resume` goes on."""
    from freefloat.cli import campaign as command

    changes = {"runs": runs, "seed": seed, "design": design}
    route = _route(threads, target, shard, dask, workers)
    words = (scenario, out, changes, settings or [], route)
    sys.exit(command.run(*words, force=force, as_json=as_json, quiet=quiet))


@campaign_app.command(cls=PlainCommand)
def resume(
    folder: Folder,
    threads: Threads = None,
    target: Target = "auto",
    shard: Shard = "1/1",
    dask: Dask = None,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Compute what is missing or damaged, and nothing else."""
    from freefloat.cli import campaign as command

    sys.exit(command.resume(folder, _route(threads, target, shard, dask, workers), quiet=quiet))


@campaign_app.command(cls=PlainCommand)
def merge(
    shards: Annotated[list[Path], typer.Argument(help="Folders of the shards.")],
    out: ResultFolder = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Put the shards of one campaign together; a folder that has some of them already gets the rest."""
    from freefloat.cli import campaign as command

    sys.exit(command.merge(shards, out, force=force, as_json=as_json))


@campaign_app.command(cls=PlainCommand)
def status(folder: Folder, as_json: Json = False) -> None:
    """Tell how far a campaign is, check what is on disk, and show what it says so far."""
    from freefloat.cli import campaign as command

    sys.exit(command.status(folder, as_json=as_json))


@campaign_app.command(cls=PlainCommand)
def replay(
    folder: Folder,
    run: Annotated[int, typer.Argument(help="Number of the run.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Folder for the run; in the campaign's if not given.")
    ] = None,
    force: Force = False,
) -> None:
    """Compute one run again, bit for bit, in full and with its page."""
    from freefloat.cli import campaign as command

    sys.exit(command.replay(folder, run, out, force=force))


@campaign_app.command(cls=PlainCommand)
def page(
    folder: Folder,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="HTML file; in the folder when not given.")
    ] = None,
    force: Force = False,
) -> None:
    """Write the page of a campaign: histograms, scatter matrix, requirements, worst cases."""
    from freefloat.cli import campaign as command

    sys.exit(command.page(folder, out, force=force))

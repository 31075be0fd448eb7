"""The options of `freefloat campaign`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from freefloat.campaign import Route

campaign_app = typer.Typer(
    name="campaign", help="Many runs with dispersed numbers: run, resume, merge, look at, replay.", no_args_is_help=True
)

Folder = Annotated[Path, typer.Argument(help="Folder of the campaign.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, and no word of code that is made.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what exists already.")]
Threads = Annotated[int | None, typer.Option("--threads", help="Threads; all processors when not given.")]
Target = Annotated[
    Literal["auto", "native", "gpu"], typer.Option("--target", help="The card where there is one, or machine code.")
]
Shard = Annotated[str, typer.Option("--shard", metavar="I/N", help="Only this part of so many, as for SLURM arrays.")]
Dask = Annotated[
    str | None, typer.Option("--dask", metavar="ADDRESS", help="Dask scheduler; `local` starts workers here.")
]
Workers = Annotated[int | None, typer.Option("--workers", help="Dask workers to start here.")]


def _route(threads: int | None, target: str, shard: str, dask: str | None, workers: int | None) -> Route:
    from freefloat.campaign import Route
    from freefloat.cli.campaign import shard_of

    return Route(target=target, threads=threads, shard=shard_of(shard), dask=dask, workers=workers)


@campaign_app.command()
def run(
    campaign: Annotated[str, typer.Argument(help="TOML file, or a scenario that comes with dispersions.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the campaign.")],
    runs: Annotated[int | None, typer.Option("--runs", help="How many.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Of all draws.")] = None,
    design: Annotated[str | None, typer.Option("--design", help="random, latin-hypercube, sobol or saltelli.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Change a setting of the scenario.")
    ] = None,
    threads: Threads = None,
    target: Target = "auto",
    shard: Shard = "1/1",
    dask: Dask = None,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Run a campaign into a folder. Ctrl-C keeps what is done; `resume` goes on."""
    from freefloat.cli import campaign as command

    changes = {"runs": runs, "seed": seed, "design": design}
    route = _route(threads, target, shard, dask, workers)
    sys.exit(command.run(campaign, out, changes, settings or [], route, quiet=quiet))


@campaign_app.command()
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


@campaign_app.command()
def merge(
    out: Annotated[Path, typer.Argument(help="Folder for all of them; may hold some already.")],
    shards: Annotated[list[Path], typer.Argument(help="Folders of the shards.")],
) -> None:
    """Put the shards of one campaign together."""
    from freefloat.cli import campaign as command

    sys.exit(command.merge(out, shards))


@campaign_app.command()
def status(
    folder: Folder, as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False
) -> None:
    """Tell how far a campaign is, check what is on disk, and show what it says so far."""
    from freefloat.cli import campaign as command

    sys.exit(command.status(folder, as_json=as_json))


@campaign_app.command()
def replay(
    folder: Folder,
    run: Annotated[int, typer.Argument(help="Number of the run.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the run; in the campaign's if not given.")
    ] = None,
    force: Force = False,
) -> None:
    """One run again, bit for bit, in full and with its page."""
    from freefloat.cli import campaign as command

    sys.exit(command.replay(folder, run, out, force=force))


@campaign_app.command()
def page(
    folder: Folder,
    out: Annotated[Path | None, typer.Option("--out", help="HTML file; in the folder when not given.")] = None,
    force: Force = False,
) -> None:
    """Write the page of a campaign: histograms, scatter matrix, requirements, worst cases."""
    from freefloat.cli import campaign as command

    sys.exit(command.page(folder, out, force=force))

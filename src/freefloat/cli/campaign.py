"""`freefloat campaign`: run, resume, merge, status, replay, page."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from freefloat.campaign.errors import CampaignError
from freefloat.campaign.removal import PAGE, REPLAYS, holds_campaign, remove_campaign
from freefloat.campaign.results import Results
from freefloat.campaign.store import Store
from freefloat.cli.campaign_results import print_results, summary_of, write_page
from freefloat.cli.progress import report_compilation
from freefloat.cli.run import chosen_folder
from freefloat.scenarios.scenario import parse_setting

if TYPE_CHECKING:
    from freefloat.campaign import Campaign, Route
    from freefloat.campaign.driver import CampaignProgress


def run(
    what: str,
    out: Path | None,
    changes: dict[str, Any],
    settings: list[str],
    route: Route,
    *,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Start a campaign, which can be resumed after an interruption; returns the exit status."""
    from freefloat.campaign import run_campaign
    from freefloat.campaign.toml_files import read_campaign

    options = {key: value for key, value in changes.items() if value is not None}
    campaign = read_campaign(what, options, dict(map(parse_setting, settings)))
    out = chosen_folder(what if route.shard[1] == 1 else _shard_name(what, route), out)
    _require_no_campaign(out, force)
    drive = partial(run_campaign, replace=force)
    return _compute_and_report(campaign, out, drive, route, as_json=as_json, quiet=quiet)


def _shard_name(what: str, route: Route) -> str:
    """Name of the folder of a shard, so that jobs that start together do not meet in one."""
    return f"{Path(what).stem}-{route.shard[0]}-of-{route.shard[1]}"


def _require_no_campaign(out: Path, force: bool) -> None:
    """Raise an error if a folder holds a campaign and `force` is false."""
    if holds_campaign(out) and not force:
        raise FileExistsError(
            f"{out} exists already. Choose another --out or add --force; "
            f"or compute what is missing: freefloat campaign resume {out}."
        )


def resume(folder: Path, route: Route, *, quiet: bool) -> int:
    """Resume a campaign; returns the exit status."""
    from freefloat.campaign import resume_campaign

    return _compute_and_report(_campaign_in(folder), folder, resume_campaign, route, as_json=False, quiet=quiet)


def _campaign_in(folder: Path) -> Campaign:
    from freefloat.campaign.toml_files import campaign_of_store

    return campaign_of_store(Store(folder).described)


def _compute_and_report(
    campaign: Campaign, folder: Path, drive: Any, route: Route, *, as_json: bool, quiet: bool
) -> int:
    try:
        with _progress(quiet or as_json) as report:
            results = drive(campaign, folder, route, report)
    except KeyboardInterrupt:
        typer.echo(f"Interrupted. What is done is kept: freefloat campaign resume {folder}", err=True)
        return 130
    page = write_page(results, folder, folder / PAGE) if len(results.runs) == campaign.runs else None
    if as_json:
        _print_summary(Store(folder), results)
        return 0
    print_results(results)
    typer.echo(f"page      {page}" if page else f"campaign  {folder}")
    return 0


def _print_summary(store: Store, results: Results) -> None:
    typer.echo(json.dumps(summary_of(store, results), indent=2))


@contextlib.contextmanager
def _progress(quiet: bool) -> Iterator[CampaignProgress | None]:
    """Show a progress bar with rate and remaining time if standard error is a terminal; yields its report function."""
    from freefloat.sim.compiling_line import is_terminal

    if quiet or not is_terminal(sys.stderr):
        with report_compilation(quiet):
            yield None
        return
    from rich.progress import BarColumn, TextColumn

    from freefloat.cli.bars import bar_of

    columns = (
        TextColumn("{task.completed:.0f} of {task.total:.0f} runs"),
        BarColumn(),
        TextColumn("{task.description}"),
    )
    with bar_of(*columns) as bar:
        task = bar.add_task("starting", total=1.0)

        def report(done: int, total: int, rate: float) -> None:
            left = (total - done) / rate if rate > 0.0 else 0.0
            bar.update(task, completed=done, total=total, description=f"{rate:.3g} runs/s, {_duration(left)} left")

        yield report


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min {rest:02d} s"


def merge(shards: list[Path], out: Path | None, *, force: bool, as_json: bool) -> int:
    """Copy the blocks of several shards into one folder; returns 1 if blocks are missing.

    A folder that holds a part of the same campaign already is added to: nothing of it is lost.
    """
    stores = _stores_of(shards, out)
    out = chosen_folder(str(stores[0].described["source"].get("scenario") or "campaign"), out)
    target = _merge_target(stores, out, force)
    with target.writing():
        taken = sum(target.copy_missing(store) for store in stores)
    results = Results.of_store(target)
    missing = target.blocks - len(target.finished_blocks())
    page = None if missing else write_page(results, out, out / PAGE)
    if as_json:
        _print_summary(target, results)
    else:
        typer.echo(f"{taken} blocks taken; {len(results.runs)} of {target.described['runs']} runs are there.")
        typer.echo(f"page      {page}" if page else f"campaign  {out}")
    if missing:
        typer.echo(f"{missing} blocks are missing: freefloat campaign resume {out}", err=True)
    return 1 if missing else 0


def _stores_of(shards: list[Path], out: Path | None) -> list[Store]:
    """The shards, which must be parts of one campaign."""
    if out is None and len(shards) > 1 and not shards[0].exists():
        rest = " ".join(map(str, shards[1:]))
        raise CampaignError(
            f"There is no folder {shards[0]}. The folder for all of them is an option: "
            f"freefloat campaign merge {rest} --out {shards[0]}"
        )
    stores = [Store(shard) for shard in shards]
    for store in stores[1:]:
        stores[0].require_mergeable(store)
    return stores


def _merge_target(stores: list[Store], out: Path, force: bool) -> Store:
    """The store that is merged into: a new one, or the one that holds a part of the same campaign."""
    if not holds_campaign(out):
        return stores[0].same_empty(out)
    if force:
        if any(out.resolve() == store.folder.resolve() for store in stores):
            raise CampaignError(f"{out} is one of the shards, so it is not replaced. Choose another --out.")
        remove_campaign(out)
        return stores[0].same_empty(out)
    target = Store(out)
    if target.attributes["identity"] != stores[0].attributes["identity"]:
        raise FileExistsError(f"{out} exists already, with another campaign. Choose another --out or add --force.")
    return target


def status(folder: Path, *, as_json: bool) -> int:
    """Print which blocks exist, which are damaged, and the results so far; returns 1 if blocks are damaged."""
    store = Store(folder)
    results = Results.of_store(store)
    existing, damaged = store.finished_blocks(), store.damaged_blocks()
    if as_json:
        _print_summary(store, results)
    else:
        typer.echo(f"{results.described['title']}\n{len(existing)} of {store.blocks} blocks are done.")
        if damaged:
            typer.echo(f"Damaged since they were written: {damaged}. Resume computes them again.", err=True)
        print_results(results)
    return 1 if damaged else 0


def replay(folder: Path, number: int, out: Path | None, *, force: bool) -> int:
    """Replay one run in full, and write it with its page; returns the exit status."""
    from freefloat.campaign.replaying import replay_from_store
    from freefloat.cli.run import require_free
    from freefloat.report.folder import files_in, finish_folder, save_run
    from freefloat.scenarios import find
    from freefloat.scenarios.runner import describe

    out = out or folder / REPLAYS / f"{number:08d}"
    require_free(files_in(out).values(), force)
    campaign = _campaign_in(folder)
    with report_compilation(quiet=False):
        run = replay_from_store(campaign, folder, number)
    scenario = find(str(campaign.source["scenario"]))
    nominal = next(iter(scenario.variants().values()))
    run = dataclasses.replace(run, description=describe(nominal, run))
    save_run(run, out)
    finish_folder(run, out)
    typer.echo(
        f"{run.description.title}, run {number}\n{run.status}\n{run.description.outcome}\n\nAudit\n{run.audit}\n"
    )
    for kind, path in files_in(out).items():
        typer.echo(f"{kind:<9} {path}")
    return 0 if run.completed and run.audit.holds else 1


def page(folder: Path, out: Path | None, *, force: bool) -> int:
    """Write the page of the results so far; returns the exit status."""
    from freefloat.cli.pages import free_path

    path = free_path(out or folder / PAGE, force)
    typer.echo(f"page      {write_page(Results.open(folder), folder, path)}")
    return 0


def shard_of(text: str) -> tuple[int, int]:
    """Part and number of parts of a shard: (3, 8) from `3/8`."""
    part, _, parts = text.partition("/")
    if not (part.isdigit() and parts.isdigit()):
        raise CampaignError(f"A shard is written i/N, such as 3/8, got '{text}'.")
    return int(part), int(parts)

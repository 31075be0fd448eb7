"""`freefloat campaign`: run, resume, merge, status, replay, page."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from freefloat.campaign.errors import CampaignError
from freefloat.cli.progress import code_sign
from freefloat.scenarios.scenario import parse_setting

if TYPE_CHECKING:
    from freefloat.campaign import Campaign, Results, Route
    from freefloat.campaign.driver import Progress
    from freefloat.campaign.statistics import Estimate

PAGE = "page.html"
_QUANTILES = (0.05, 0.5, 0.95)


def run(what: str, out: Path, changes: dict[str, Any], settings: list[str], route: Route, *, quiet: bool) -> int:
    """Start a campaign; what is interrupted can be resumed."""
    from freefloat.campaign import run_campaign
    from freefloat.campaign.toml_files import read_campaign

    given = {key: value for key, value in changes.items() if value is not None}
    campaign = read_campaign(what, given, dict(map(parse_setting, settings)))
    return _drive(campaign, out, run_campaign, route, quiet=quiet)


def resume(folder: Path, route: Route, *, quiet: bool) -> int:
    """Go on with a campaign where it was left."""
    from freefloat.campaign import resume_campaign

    return _drive(_campaign_in(folder), folder, resume_campaign, route, quiet=quiet)


def _campaign_in(folder: Path) -> Campaign:
    from freefloat.campaign.store import Store
    from freefloat.campaign.toml_files import campaign_of_store

    return campaign_of_store(Store(folder).described)


def _drive(campaign: Campaign, folder: Path, drive: Any, route: Route, *, quiet: bool) -> int:
    try:
        with _progress(quiet) as report:
            results = drive(campaign, folder, route, report)
    except KeyboardInterrupt:
        typer.echo(f"Interrupted. What is done is kept: freefloat campaign resume {folder}", err=True)
        return 130
    _tell(results)
    if len(results.runs) == campaign.runs:
        typer.echo(f"page      {_write_page(results, folder, folder / PAGE)}")
    return 0


@contextlib.contextmanager
def _progress(quiet: bool) -> Iterator[Progress | None]:
    """A bar with rate and time left, on standard error, where somebody sees it."""
    from freefloat.sim.compiling_line import is_terminal

    if quiet or not is_terminal(sys.stderr):
        with code_sign(quiet):
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


def merge(out: Path, shards: list[Path]) -> int:
    """Put the blocks of several shards into one folder."""
    from freefloat.campaign import Results
    from freefloat.campaign.store import Store

    stores = [Store(shard) for shard in shards]
    target = Store(out) if (out / "zarr.json").exists() else stores[0].same_empty(out)
    with target.writing():
        taken = sum(target.take(store) for store in stores)
    results = Results.open(out)
    missing = target.blocks - len(target.done())
    typer.echo(f"{taken} blocks taken; {len(results.runs)} of {target.described['runs']} runs are there.")
    if missing:
        typer.echo(f"{missing} blocks are missing: freefloat campaign resume {out}", err=True)
        return 1
    typer.echo(f"page      {_write_page(results, out, out / PAGE)}")
    return 0


def status(folder: Path, *, as_json: bool) -> int:
    """What is there, whether it is as it was written, and what it says so far; 1 where blocks are damaged."""
    from freefloat.campaign import Results
    from freefloat.campaign.store import Store

    store = Store(folder)
    there, whole = store.done(), store.done(check=True)
    results = Results.of_store(store)
    damaged = sorted(set(there) - set(whole))
    if as_json:
        told = {"blocks": store.blocks, "done": len(there), "damaged": damaged, **_summary(results)}
        typer.echo(json.dumps(told, indent=2))
    else:
        typer.echo(f"{results.described['title']}\n{len(there)} of {store.blocks} blocks are done.")
        if damaged:
            typer.echo(f"Damaged since they were written: {damaged}. Resume computes them again.", err=True)
        _tell(results)
    return 1 if damaged else 0


def replay(folder: Path, number: int, out: Path | None, *, force: bool) -> int:
    """One run in full, with its page."""
    from freefloat.campaign.replaying import replay_from_store
    from freefloat.report.folder import files_in, finish_folder, save_run
    from freefloat.scenarios import find
    from freefloat.scenarios.runner import describe

    out = out or folder / "replays" / f"{number:08d}"
    taken = [str(path) for path in files_in(out).values() if path.exists()]
    if taken and not force:
        raise FileExistsError(f"{', '.join(taken)} exist already. Choose another --out or add --force.")
    campaign = _campaign_in(folder)
    with code_sign(quiet=False):
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
    """The page of what a campaign has so far."""
    from freefloat.campaign import Results

    path = out or folder / PAGE
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists already. Choose another --out or add --force.")
    typer.echo(f"page      {_write_page(Results.open(folder), folder, path)}")
    return 0


def _write_page(results: Results, folder: Path, path: Path) -> Path:
    from freefloat.campaign.pages import campaign_page

    return campaign_page(results, path, folder=str(folder))


def _summary(results: Results) -> dict[str, Any]:
    """Plain data; infinite bounds become null."""
    return {
        "counts": results.counts,
        "metrics": {
            name: {str(p): _plain(results.quantile(name, p)) for p in _QUANTILES} for name in results.metric_names
        },
        "requirements": {
            one.requirement.name: {"verdict": one.word, "met": one.met, "runs": one.runs, "share": _plain(one.share)}
            for one in results.verdicts
        },
    }


def _plain(estimate: Estimate) -> list[float | None]:
    return [value if abs(value) < float("inf") else None for value in estimate]


def _tell(results: Results) -> None:
    from rich.table import Table

    from freefloat.cli.tables import print_table

    typer.echo(", ".join(f"{count} {word}" for word, count in results.counts.items() if count or word == "runs"))
    if not len(results.runs):
        return
    table = Table("metric", *(f"{100 * p:g} %" for p in _QUANTILES), "unit", box=None, header_style="bold")
    for name in results.metric_names:
        cells = [results.quantile(name, p) for p in _QUANTILES]
        table.add_row(name, *(f"{c.value:.4g} ({c.low:.4g} to {c.high:.4g})" for c in cells), results.units[name])
    print_table(table)
    for one in results.verdicts:
        asked = one.requirement
        typer.echo(
            f"{asked.name}: {one.word}. {asked.words} in {one.met} of {one.runs} runs, {100 * one.share.value:.4g} % "
            f"({100 * one.share.low:.4g} to {100 * one.share.high:.4g} %); asked for {100 * asked.probability:g} % "
            f"with {100 * asked.confidence:g} % confidence"
        )


def shard_of(text: str) -> tuple[int, int]:
    """`3/8` as (3, 8)."""
    part, _, parts = text.partition("/")
    if not (part.isdigit() and parts.isdigit()):
        raise CampaignError(f"A shard is written i/N, such as 3/8, got '{text}'.")
    return int(part), int(parts)

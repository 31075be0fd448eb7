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
from freefloat.cli.progress import report_compilation
from freefloat.scenarios.scenario import parse_setting

if TYPE_CHECKING:
    from freefloat.campaign import Campaign, Results, Route
    from freefloat.campaign.driver import CampaignProgress
    from freefloat.campaign.statistics import Estimate

PAGE = "page.html"
_QUANTILES = (0.05, 0.5, 0.95)


def run(what: str, out: Path, changes: dict[str, Any], settings: list[str], route: Route, *, quiet: bool) -> int:
    """Start a campaign, which can be resumed after an interruption; returns the exit status."""
    from freefloat.campaign import run_campaign
    from freefloat.campaign.toml_files import read_campaign

    options = {key: value for key, value in changes.items() if value is not None}
    campaign = read_campaign(what, options, dict(map(parse_setting, settings)))
    return _compute_and_report(campaign, out, run_campaign, route, quiet=quiet)


def resume(folder: Path, route: Route, *, quiet: bool) -> int:
    """Resume a campaign; returns the exit status."""
    from freefloat.campaign import resume_campaign

    return _compute_and_report(_campaign_in(folder), folder, resume_campaign, route, quiet=quiet)


def _campaign_in(folder: Path) -> Campaign:
    from freefloat.campaign.store import Store
    from freefloat.campaign.toml_files import campaign_of_store

    return campaign_of_store(Store(folder).described)


def _compute_and_report(campaign: Campaign, folder: Path, drive: Any, route: Route, *, quiet: bool) -> int:
    try:
        with _progress(quiet) as report:
            results = drive(campaign, folder, route, report)
    except KeyboardInterrupt:
        typer.echo(f"Interrupted. What is done is kept: freefloat campaign resume {folder}", err=True)
        return 130
    _print_results(results)
    if len(results.runs) == campaign.runs:
        typer.echo(f"page      {_write_page(results, folder, folder / PAGE)}")
    return 0


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


def merge(out: Path, shards: list[Path]) -> int:
    """Copy the blocks of several shards into one folder; returns 1 if blocks are missing."""
    from freefloat.campaign import Results
    from freefloat.campaign.store import Store

    stores = [Store(shard) for shard in shards]
    target = Store(out) if (out / "zarr.json").exists() else stores[0].same_empty(out)
    with target.writing():
        taken = sum(target.copy_missing(store) for store in stores)
    results = Results.open(out)
    missing = target.blocks - len(target.finished_blocks())
    typer.echo(f"{taken} blocks taken; {len(results.runs)} of {target.described['runs']} runs are there.")
    if missing:
        typer.echo(f"{missing} blocks are missing: freefloat campaign resume {out}", err=True)
        return 1
    typer.echo(f"page      {_write_page(results, out, out / PAGE)}")
    return 0


def status(folder: Path, *, as_json: bool) -> int:
    """Print which blocks exist, which are damaged, and the results so far; returns 1 if blocks are damaged."""
    from freefloat.campaign import Results
    from freefloat.campaign.store import Store

    store = Store(folder)
    existing, whole = store.finished_blocks(), store.finished_blocks(check=True)
    results = Results.of_store(store)
    damaged = sorted(set(existing) - set(whole))
    if as_json:
        summary = {"blocks": store.blocks, "done": len(existing), "damaged": damaged, **_summary(results)}
        typer.echo(json.dumps(summary, indent=2))
    else:
        typer.echo(f"{results.described['title']}\n{len(existing)} of {store.blocks} blocks are done.")
        if damaged:
            typer.echo(f"Damaged since they were written: {damaged}. Resume computes them again.", err=True)
        _print_results(results)
    return 1 if damaged else 0


def replay(folder: Path, number: int, out: Path | None, *, force: bool) -> int:
    """Replay one run in full, and write it with its page; returns the exit status."""
    from freefloat.campaign.replaying import replay_from_store
    from freefloat.cli.run import require_free
    from freefloat.report.folder import files_in, finish_folder, save_run
    from freefloat.scenarios import find
    from freefloat.scenarios.runner import describe

    out = out or folder / "replays" / f"{number:08d}"
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
    from freefloat.campaign import Results
    from freefloat.cli.pages import free_path

    path = free_path(out or folder / PAGE, force)
    typer.echo(f"page      {_write_page(Results.open(folder), folder, path)}")
    return 0


def _write_page(results: Results, folder: Path, path: Path) -> Path:
    from freefloat.campaign.pages import campaign_page

    return campaign_page(results, path, folder=str(folder))


def _summary(results: Results) -> dict[str, Any]:
    """Results as plain data; infinite bounds become null."""
    return {
        "counts": results.counts,
        "metrics": {
            name: {str(p): _plain(results.quantile(name, p)) for p in _QUANTILES} for name in results.metric_names
        },
        "requirements": {
            v.requirement.name: {"verdict": v.word, "met": v.met, "runs": v.runs, "share": _plain(v.share)}
            for v in results.verdicts
        },
    }


def _plain(estimate: Estimate) -> list[float | None]:
    return [value if abs(value) < float("inf") else None for value in estimate]


def _print_results(results: Results) -> None:
    from rich.table import Table

    from freefloat.cli.tables import print_table

    typer.echo(", ".join(f"{count} {word}" for word, count in results.counts.items() if count or word == "runs"))
    if not len(results.runs):
        return
    table = Table("metric", *(f"{100 * p:g} %" for p in _QUANTILES), "unit", box=None, header_style="bold")
    for name in results.metric_names:
        table.add_row(name, *(results.quantile(name, p).words for p in _QUANTILES), results.units[name])
    print_table(table)
    for verdict in results.verdicts:
        required = verdict.requirement
        typer.echo(
            f"{required.name}: {verdict.word}. {required.words} in {verdict.met} of {verdict.runs} runs, "
            f"{verdict.share.percent}; "
            f"asked for {100 * required.probability:g} % with {100 * required.confidence:g} % confidence"
        )


def shard_of(text: str) -> tuple[int, int]:
    """Part and number of parts of a shard: (3, 8) from `3/8`."""
    part, _, parts = text.partition("/")
    if not (part.isdigit() and parts.isdigit()):
        raise CampaignError(f"A shard is written i/N, such as 3/8, got '{text}'.")
    return int(part), int(parts)

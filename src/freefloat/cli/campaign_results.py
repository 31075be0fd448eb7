"""What `freefloat campaign` prints of its results, and their page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from freefloat.campaign.removal import PAGE

if TYPE_CHECKING:
    from freefloat.campaign import Results
    from freefloat.campaign.statistics import Estimate
    from freefloat.campaign.store import Store

_QUANTILES = (0.05, 0.5, 0.95)


def write_page(results: Results, folder: Path, path: Path) -> Path:
    """Write the page of the results of a campaign in a folder; returns its path."""
    from freefloat.campaign.pages import campaign_page

    return campaign_page(results, path, folder=str(folder))


def summary_of(store: Store, results: Results) -> dict[str, Any]:
    """A campaign as plain data: blocks, counts, metrics and verdicts; infinite bounds become null."""
    page = store.folder / PAGE
    return {
        "blocks": store.blocks,
        "done": len(store.finished_blocks()),
        "damaged": store.damaged_blocks(),
        "counts": results.counts,
        "metrics": {
            name: {str(p): _plain(results.quantile(name, p)) for p in _QUANTILES} for name in results.metric_names
        },
        "requirements": {
            v.requirement.name: {"verdict": v.word, "met": v.met, "runs": v.runs, "share": _plain(v.share)}
            for v in results.verdicts
        },
        "files": {"campaign": str(store.folder), **({"page": str(page)} if page.exists() else {})},
    }


def _plain(estimate: Estimate) -> list[float | None]:
    return [value if abs(value) < float("inf") else None for value in estimate]


def print_results(results: Results) -> None:
    """Print counts, quantiles of the metrics and verdicts."""
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

"""The page of a campaign in one HTML file: requirements, histograms, sensitivities of the metrics, worst runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from freefloat.campaign.page_words import (
    dispersion_section,
    header,
    metric_section,
    requirement_section,
    sensitivity_section,
    worst_section,
)
from freefloat.campaign.results import Results
from freefloat.report.documents import document, write_document
from freefloat.report.markup import text
from freefloat.report.payload import ArrayStore

_SCRIPTS = ("payload.js", "theme.js", "axes.js", "campaign.js")
_POINTS = 2000  # runs in the scatter matrix
_COLUMNS, _ROWS = 4, 4  # draws and metrics in it
_BINS = 40


def campaign_page(results: Results, path: str | Path, folder: str = "FOLDER") -> Path:
    """Write the page of a campaign; `folder` is the folder in the commands that the page shows."""
    title = str(results.described["title"]) or "Campaign"
    store = ArrayStore()
    places = {
        "title": text(title),
        "header": header(results, title),
        "requirements": requirement_section(results),
        "metrics": metric_section(results),
        "sensitivity": sensitivity_section(results),
        "worst": worst_section(results, folder),
        "dispersions": dispersion_section(results),
        "contents": store.packed_text(_contents(results, store, folder)),
    }
    return write_document(document("campaign.html", _SCRIPTS, places), Path(path))


def _contents(results: Results, store: ArrayStore, folder: str) -> dict[str, Any]:
    shown = _drawn_runs(results)
    convergence = results.convergence() if len(results.runs) else []
    return {
        "folder": folder,
        "histograms": [_histogram(results, name, store) for name in results.metric_names],
        "runs": store.add_array(results.runs[results.ran][shown], "u4"),
        "met": store.add_array(results.successes[shown], "u4"),
        "matrix": {
            "x": [_axis(name, name, results.draw(name)[shown], store) for name in _influential_draws(results)],
            "y": [
                _axis(name, _label(results, name), results.metric(name)[shown], store)
                for name in _own_metrics(results)[:_ROWS]
            ],
        },
        "convergence": {
            "title": "Probability that a run meets all requirements, with its 95 % interval",
            "runs": [n for n, _ in convergence],
            **{key: [getattr(estimate, key) for _, estimate in convergence] for key in ("value", "low", "high")},
        },
    }


def _drawn_runs(results: Results) -> np.ndarray:
    """Indices of the runs in the scatter matrix: all, or evenly spread ones and the worst of every metric."""
    count = int(results.ran.sum())
    if count <= _POINTS:
        return np.arange(count)
    place = {int(run): k for k, run in enumerate(results.runs[results.ran])}
    worst = [place[run] for name in results.metric_names for run, _ in results.worst(name, 5)]
    return np.union1d(np.linspace(0, count - 1, _POINTS).astype(int), worst).astype(int)


def _own_metrics(results: Results) -> list[str]:
    """Names of the metrics without the balances."""
    return [name for name in results.metric_names if not name.startswith("balance.")] or list(results.metric_names)


def _influential_draws(results: Results) -> list[str]:
    """Names of the draws with the largest rank correlation with any of the metrics."""
    most: dict[str, float] = {}
    for metric in _own_metrics(results)[:_ROWS]:
        for name, correlation in results.rank_correlations(metric).items():
            most[name] = max(most.get(name, 0.0), abs(np.nan_to_num(correlation.value)))
    return sorted(most, key=lambda name: -most[name])[:_COLUMNS]


def _label(results: Results, name: str) -> str:
    unit = results.units[name]
    return f"{name} [{unit}]" if unit else name


def _axis(name: str, label: str, values: np.ndarray, store: ArrayStore) -> dict[str, Any]:
    return {"name": name, "label": label, "values": store.add_array(values, "f8")}


def _histogram(results: Results, name: str, store: ArrayStore) -> dict[str, Any]:
    values = results.metric(name)
    good = values[np.isfinite(values)]
    counts, edges = np.histogram(good, bins=_BINS) if good.size else (np.zeros(1), np.array([0.0, 1.0]))
    lost = len(values) - good.size
    limits = [
        limit
        for requirement in results.requirements
        for limit in (requirement.below, requirement.above)
        if requirement.metric == name and limit is not None
    ]
    return {
        "title": name,
        "label": _label(results, name),
        "edges": store.add_array(edges, "f8"),
        "counts": store.add_array(counts, "f8"),
        "limits": limits,
        "note": f"{lost} of {len(values)} without a finite value" if lost else "",
    }

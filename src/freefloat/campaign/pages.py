"""The page of a campaign: requirements, histograms, what the metrics depend on, the worst runs, in one HTML file."""

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
from freefloat.report.documents import document, put
from freefloat.report.markup import text
from freefloat.report.payload import Bytes

_SCRIPTS = ("payload.js", "theme.js", "axes.js", "campaign.js")
_POINTS = 2000  # runs in the scatter matrix
_COLUMNS, _ROWS = 4, 4  # draws and metrics in it
_BINS = 40


def campaign_page(results: Results, path: str | Path, folder: str = "FOLDER") -> Path:
    """Write the page of a campaign; `folder` is what its commands name."""
    title = str(results.described["title"]) or "Campaign"
    store = Bytes()
    places = {
        "title": text(title),
        "header": header(results, title),
        "requirements": requirement_section(results),
        "metrics": metric_section(results),
        "sensitivity": sensitivity_section(results),
        "worst": worst_section(results, folder),
        "dispersions": dispersion_section(results),
        "contents": store.packed(_contents(results, store, folder)),
    }
    return put(document("campaign.html", _SCRIPTS, places), Path(path))


def _contents(results: Results, store: Bytes, folder: str) -> dict[str, Any]:
    shown = _shown(results)
    settled = results.convergence() if len(results.runs) else []
    return {
        "folder": folder,
        "histograms": [_histogram(results, name, store) for name in results.metric_names],
        "runs": store.put(results.runs[results.ran][shown], "u4"),
        "met": store.put(results.successes[shown], "u4"),
        "matrix": {
            "x": [_axis(name, name, results.draw(name)[shown], store) for name in _strongest(results)],
            "y": [
                _axis(name, _label(results, name), results.metric(name)[shown], store)
                for name in _asked_for(results)[:_ROWS]
            ],
        },
        "convergence": {
            "title": "Probability that a run meets all requirements, with its 95 % interval",
            "runs": [n for n, _ in settled],
            **{key: [getattr(one, key) for _, one in settled] for key in ("value", "low", "high")},
        },
    }


def _shown(results: Results) -> np.ndarray:
    """Places of the runs that are drawn: all, or evenly spread ones and the worst of every metric."""
    count = int(results.ran.sum())
    if count <= _POINTS:
        return np.arange(count)
    place = {int(run): k for k, run in enumerate(results.runs[results.ran])}
    worst = [place[run] for name in results.metric_names for run, _ in results.worst(name, 5)]
    return np.union1d(np.linspace(0, count - 1, _POINTS).astype(int), worst).astype(int)


def _asked_for(results: Results) -> list[str]:
    """Metrics without the balances."""
    return [name for name in results.metric_names if not name.startswith("balance.")] or list(results.metric_names)


def _strongest(results: Results) -> list[str]:
    """Draws that matter most for any of the metrics."""
    most: dict[str, float] = {}
    for metric in _asked_for(results)[:_ROWS]:
        for name, found in results.rank_correlations(metric).items():
            most[name] = max(most.get(name, 0.0), abs(np.nan_to_num(found.value)))
    return sorted(most, key=lambda name: -most[name])[:_COLUMNS]


def _label(results: Results, name: str) -> str:
    unit = results.units[name]
    return f"{name} [{unit}]" if unit else name


def _axis(name: str, label: str, values: np.ndarray, store: Bytes) -> dict[str, Any]:
    return {"name": name, "label": label, "values": store.put(values, "f8")}


def _histogram(results: Results, name: str, store: Bytes) -> dict[str, Any]:
    values = results.metric(name)
    good = values[np.isfinite(values)]
    counts, edges = np.histogram(good, bins=_BINS) if good.size else (np.zeros(1), np.array([0.0, 1.0]))
    lost = len(values) - good.size
    limits = [
        limit
        for one in results.requirements
        for limit in (one.below, one.above)
        if one.metric == name and limit is not None
    ]
    return {
        "title": name,
        "label": _label(results, name),
        "edges": store.put(edges, "f8"),
        "counts": store.put(counts, "f8"),
        "limits": limits,
        "note": f"{lost} of {len(values)} without a finite value" if lost else "",
    }

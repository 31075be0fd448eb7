"""Everything that is kept of a run: one folder with the run, its settings, a summary and its page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freefloat.report.documents import put
from freefloat.report.pages import page
from freefloat.report.toml import to_toml
from freefloat.sim.claims import count_kinds

if TYPE_CHECKING:
    from freefloat.sim import Run

_FILES = {"run": "run.nc", "scenario": "scenario.toml", "summary": "summary.json", "page": "page.html"}


def files_in(folder: Path) -> dict[str, Path]:
    """Where each kind of file stands in a run's folder."""
    return {kind: folder / name for kind, name in _FILES.items()}


def save_run(run: Run, folder: Path) -> None:
    """The run and its settings: what must not be lost."""
    files = files_in(folder)
    run.save(files["run"], force=True)
    put(to_toml(run.scenario), files["scenario"])


def finish_folder(run: Run, folder: Path, faults: Sequence[str] = ()) -> dict[str, Any]:
    """The run again with its claims, and the summary and page of it; returns the summary."""
    files = files_in(folder)
    if run.claims:
        run.save_claims(files["run"])
    summary = {
        "ok": run.completed and run.audit.holds and not faults and all(c["holds"] is not False for c in run.claims),
        "scenario": run.scenario.get("scenario", ""),
        "variant": run.variant,
        "status": run.status,
        "faults": list(faults),
        "audit_holds": run.audit.holds,
        "audit": run.audit.as_dict(),
        "conditions": list(run.conditions),
        "claims": list(run.claims),
        "claims_by_kind": count_kinds(run.claims),
        "files": {kind: str(path) for kind, path in files.items()},
        "versions": run.versions,
    }
    put(json.dumps(summary, indent=2) + "\n", files["summary"])
    page(run, files["page"])
    return summary

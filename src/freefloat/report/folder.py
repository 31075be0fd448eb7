"""Everything that is kept of a run: one folder with the run, its resolved scenario, a summary and its page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freefloat.report.documents import put
from freefloat.report.pages import page
from freefloat.scenarios.toml import to_toml

if TYPE_CHECKING:
    from freefloat.scenarios import Scenario
    from freefloat.sim import Run

_FILES = {"run": "run.nc", "scenario": "scenario.toml", "summary": "summary.json", "page": "page.html"}


def files_in(folder: Path) -> dict[str, Path]:
    """Where each kind of file stands in a run's folder."""
    return {kind: folder / name for kind, name in _FILES.items()}


def keep(scenario: Scenario, run: Run, folder: Path) -> tuple[Run, dict[str, Any]]:
    """Judge a run and write all its files, the run itself first; returns it with its claims, and the summary."""
    files, variant = files_in(folder), scenario.variant_name()
    run = run.with_claims(scenario.judged(run, variant) if run.completed else [])
    run.save(files["run"], force=True)
    put(to_toml(scenario.as_dict()), files["scenario"])
    summary = {
        "ok": run.completed and run.audit.holds and all(claim["holds"] is not False for claim in run.claims),
        "scenario": scenario.name,
        "variant": variant,
        "status": run.status,
        "audit_holds": run.audit.holds,
        "audit": run.audit.as_dict(),
        "claims": list(run.claims),
        "files": {kind: str(path) for kind, path in files.items()},
        "versions": run.versions,
    }
    put(json.dumps(summary, indent=2) + "\n", files["summary"])
    page(run, files["page"])
    return run, summary

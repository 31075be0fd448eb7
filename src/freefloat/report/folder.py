"""The folder of a run: the run, its settings, a summary and its page."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freefloat.report.cell_view import cell_view
from freefloat.report.documents import write_document
from freefloat.report.pages import page
from freefloat.report.toml import to_toml
from freefloat.values.claims import count_kinds
from freefloat.values.folders import replaced_folder

if TYPE_CHECKING:
    from freefloat.sim import Run

_FILES = {"run": "run.nc", "scenario": "scenario.toml", "summary": "summary.json", "page": "page.html"}
CELL_PAGE = "cell.html"  # beside the page of a rehearsal, if its facility has a drawing
# Beside the run of a rehearsal: the verdict, its page, and the simulation that the run was compared with.
VERDICT_FILES = {"verdict": "verdict.json", "verdict page": "verdict.html", "simulation": "simulation.nc"}
_OF_ANOTHER_RUN = (*_FILES.values(), CELL_PAGE, *VERDICT_FILES.values())
_NOT_JUDGED = "The run has not been judged."


def files_in(folder: Path) -> dict[str, Path]:
    """Path of each kind of file in a run's folder."""
    return {kind: folder / name for kind, name in _FILES.items()}


def save_run(run: Run, folder: Path) -> None:
    """Save the run and its settings, which must not be lost; replaces the files of another run in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with replaced_folder(folder, last=_FILES["summary"], without=_OF_ANOTHER_RUN) as fresh:
        files = files_in(fresh)
        run.save(files["run"])
        write_document(to_toml(run.scenario), files["scenario"])
        write_document(_text(_summary(run, folder, [_NOT_JUDGED])), files["summary"])


def finish_folder(run: Run, folder: Path, faults: Sequence[str] = ()) -> dict[str, Any]:
    """Save the run again with its claims, and write its summary and pages; returns the summary."""
    summary = _summary(run, folder, faults)
    with replaced_folder(folder, last=_FILES["summary"]) as fresh:
        files = files_in(fresh)
        if run.claims:
            shutil.copyfile(folder / _FILES["run"], files["run"])
            run.save_claims(files["run"])
        page(run, files["page"])
        if (view := cell_view(run)) is not None:
            page(view, fresh / CELL_PAGE)
        write_document(_text(summary), files["summary"])
    return summary


def _text(summary: dict[str, Any]) -> str:
    return json.dumps(summary, indent=2) + "\n"


def _summary(run: Run, folder: Path, faults: Sequence[str]) -> dict[str, Any]:
    return {
        "ok": run.completed and run.audit.holds and not faults and all(c["holds"] is not False for c in run.claims),
        "scenario": run.scenario.get("scenario", ""),
        "variant": run.variant,
        "status": run.status,
        "verdict": run.verdict,
        "faults": list(faults),
        "audit_holds": run.audit.holds,
        "audit": run.audit.as_dict(),
        "accuracy": list(run.accuracy.lines()),
        "conditions": list(run.conditions),
        "claims": list(run.claims),
        "claims_by_kind": count_kinds(run.claims),
        "files": {kind: str(path) for kind, path in files_in(folder).items()},
        "versions": run.versions,
    }

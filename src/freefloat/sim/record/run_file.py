"""Runs on disk: one NetCDF file with everything, which is checked when it is read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from freefloat.sim.audit.accuracy import RunAccuracy
from freefloat.sim.audit.audit import Audit
from freefloat.sim.events.run_events import Events
from freefloat.sim.record.description import Description
from freefloat.sim.record.saved_state import SavedState
from freefloat.values.checksums import has_checksum, is_intact
from freefloat.values.files import write_atomically
from freefloat.values.labelled import LabelledArrays
from freefloat.values.netcdf import read_netcdf, rewrite_attribute, write_netcdf
from freefloat.values.typed_records import require_types

if TYPE_CHECKING:
    from freefloat.sim.record.run import Run

# 4: no accuracy; 3: no checksum; 2: laws in place of parts, no saved state; 1: no description, kindless claims
FORMAT_VERSION = 5
_TEXTS = ("scene", "description", "accuracy")  # of any length, so variables of their own: an attribute holds 64 kB
_FACTS = {"status": str, "audit": dict, "scenario": dict, "claims": list, "versions": dict}  # that every run has
_CHECKED = 4  # format from which on a checksum belongs to a file
_Read = TypeVar("_Read")


def write_run(run: Run, path: Path, versions: Mapping[str, str], *, force: bool) -> Path:
    """Write a run to one NetCDF file; an existing file is replaced only by force, and never left half written."""
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists already. Choose another name or pass force=True (--force).")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory. Give the name of a file in it, such as {path / 'run.nc'}.")
    data = _arrays_of(run, versions)
    return write_atomically(path, lambda partial: write_netcdf(data, partial))


def write_claims(run: Run, path: Path) -> Path:
    """Write the claims of a run into its file, which was written before they were judged."""

    def write(partial: Path) -> None:
        shutil.copyfile(path, partial)
        rewrite_attribute(partial, "claims", json.dumps(run.claims))

    return write_atomically(path, write)


def _arrays_of(run: Run, versions: Mapping[str, str]) -> LabelledArrays:
    attributes = {
        "format_version": FORMAT_VERSION,
        "status": run.status,
        "audit": json.dumps(run.audit.as_dict()),
        "scenario": json.dumps(run.scenario),
        "claims": json.dumps(run.claims),
        "versions": json.dumps(versions),
        "events": json.dumps(run.events),
    }
    texts = {"scene": run.scene, "description": run.description.as_dict(), "accuracy": run.accuracy.as_dict()}
    more: dict[str, Any] = {name: ((), json.dumps(text)) for name, text in texts.items()}
    if run.saved is not None:
        more |= {name: _without_time(name, values) for name, values in run.saved.as_arrays().items()}
    return run.recorded.with_arrays(more, attributes)


def read_run(path: Path, *, changed: bool) -> dict[str, Any]:
    """The fields of a run from its file; with `changed` also from a file that was changed after freefloat wrote it."""
    if not path.exists():
        raise FileNotFoundError(f"There is no run file {path}.")
    if not changed and has_checksum(path) and not is_intact(path):
        raise ValueError(_altered_text(path, "its checksum does not fit"))
    try:
        data = read_netcdf(path)
    except OSError as error:
        raise ValueError(f"{path} is not a readable run file (NetCDF 4): {error}") from error
    version = _require_complete(path, data)
    if version >= _CHECKED and not changed and not has_checksum(path):
        raise ValueError(_altered_text(path, "its checksum is gone"))
    return _checked_part(path, "contents", lambda: _fields(path, data))


def _altered_text(path: Path, how: str) -> str:
    return (
        f"{path} has changed since it was written: {how}. Take a copy that is intact, or run the scenario again. If "
        "you changed it yourself, Run.load(path, changed=True) reads it."
    )


def _fields(path: Path, data: LabelledArrays) -> dict[str, Any]:
    facts = {
        name: _checked_part(path, name, lambda name=name: _checked_attribute(data, name))
        for name in (*_FACTS, "events")
    }
    texts = {name: json.loads(str(data[name].values.item())) for name in _TEXTS if name in data}
    saved = [name for name in data if name.startswith("saved.")]
    described, scene, accuracy = texts.get("description"), texts.get("scene"), texts.get("accuracy")
    _require(scene is None or isinstance(scene, dict), "the scene must be a table")
    recorded = data.without((*_TEXTS, *saved))
    _require(all(array.values.dtype.kind in "fiub" for array in recorded.data_vars.values()), "channels are numbers")
    return {
        "recorded": recorded,
        "audit": _checked_part(path, "audit", lambda: _with_checked_types(Audit.from_dict(facts["audit"]))),
        "status": facts["status"],
        "scenario": facts["scenario"],
        "claims": tuple(map(_claim_of_today, facts["claims"])),
        "versions": facts["versions"],
        "scene": scene,
        "events": Events(facts["events"]),
        "description": _checked_part(path, "description", lambda: _with_checked_types(Description.from_dict(described)))
        if described
        else Description(),
        "saved": SavedState.from_arrays({name: data[name].values for name in saved}),
        "accuracy": _checked_part(path, "accuracy", lambda: _with_checked_types(RunAccuracy.from_dict(accuracy)))
        if accuracy
        else RunAccuracy(),
    }


def _checked_part(path: Path, part: str, read: Callable[[], _Read]) -> _Read:
    """The result of `read` for a part of the file; an error names the part and its fault."""
    try:
        return read()
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        if isinstance(error, ValueError) and str(error).startswith(str(path)):
            raise
        raise ValueError(f"{path} is no sound run file. Its {part}: {error}. Run the scenario again.") from error


def _checked_attribute(data: LabelledArrays, name: str) -> Any:
    text = data.attrs.get(name, "[]" if name == "events" else None)
    _require(isinstance(text, str), f"it must be text, got {text!r:.60}")
    fact = text if name == "status" else json.loads(text)
    kind = _FACTS.get(name, list)
    _require(isinstance(fact, kind), f"it must be a {kind.__name__}, got {fact!r:.60}")
    if kind is list:
        _require(all(isinstance(entry, dict) for entry in fact), "it must be a list of tables")
    if name == "versions":
        _require(all(isinstance(version, str) for version in fact.values()), "versions are words")
    if name == "events":
        _require(all(isinstance(e.get("time"), (int, float)) for e in fact), "an event needs its time")
        _require(all(isinstance(e.get("label"), str) for e in fact), "an event needs its label")
    return fact


def _with_checked_types(record: _Read) -> _Read:
    require_types(record, type(record).__name__)
    return record


def _require(true: bool, otherwise: str) -> None:
    if not true:
        raise ValueError(otherwise)


def _without_time(name: str, values: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    """An array with axes of its own, without time."""
    return tuple(f"{name}.{axis}" for axis in range(values.ndim)), values


def _require_complete(path: Path, data: LabelledArrays) -> int:
    version = data.attrs.get("format_version")
    version = int(version) if isinstance(version, np.integer) else version
    if not isinstance(version, int) or version not in range(1, FORMAT_VERSION + 1):
        raise ValueError(
            f"{path} has run format {version!r:.60}, this freefloat reads formats 1 to {FORMAT_VERSION}. "
            "Read it with the version that wrote it, or run the scenario again."
        )
    missing = [key for key in _FACTS if key not in data.attrs]
    if missing:
        raise ValueError(f"{path} is no complete run file: it lacks {', '.join(missing)}. Run the scenario again.")
    return version


def _claim_of_today(row: dict[str, Any]) -> dict[str, Any]:
    """A claim from a row of any format; in format 1 the reference was called `published`, and there was no kind."""
    return row if "published" not in row else {"kind": "", **row, "reference": row["published"]}

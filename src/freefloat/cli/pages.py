"""`freefloat page`, `freefloat compare` and `freefloat export`: what others see of runs that exist already."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import typer

from freefloat.report import compare as compared
from freefloat.report import page as paged
from freefloat.report.foxglove import to_mcap
from freefloat.report.paper import KINDS, figures
from freefloat.report.tabular import to_csv, to_parquet
from freefloat.sim import Run

Kind = Literal["csv", "parquet", "mcap", "png", "svg", "pdf"]
_WRITERS = {"csv": to_csv, "parquet": to_parquet, "mcap": to_mcap}


def run_file(path: Path) -> Path:
    """A run file, or the one in a directory that `freefloat run` wrote."""
    found = path / "run.nc" if path.is_dir() else path
    if not found.exists():
        raise FileNotFoundError(
            f"There is no run at {path}. Give a run file or the --out directory of `freefloat run`."
        )
    return found


def page(run: Path, out: Path | None, *, force: bool) -> int:
    """Write the page of a run beside it, or where told."""
    file = run_file(run)
    target = free(out or file.with_name("page.html"), force)
    typer.echo(f"page      {paged(file, target)}")
    return 0


def compare(runs: list[Path], out: Path, *, force: bool) -> int:
    """Write one page with several runs over each other."""
    typer.echo(f"page      {compared([run_file(run) for run in runs], free(out, force))}")
    return 0


def export(runs: list[Path], kind: Kind, out: Path | None, channels: list[str], *, force: bool, as_json: bool) -> int:
    """Write runs for other programs: tables and recordings of one run, figures of one or several."""
    files = [run_file(run) for run in runs]
    loaded = [Run.load(file) for file in files]
    if kind in KINDS:
        names = [file.parent.name for file in files] if len(files) > 1 else []
        written = figures(loaded, _free_folder(out or files[0].parent / "figures", kind, force), kind, channels, names)
    elif len(files) > 1:
        raise ValueError(f"A {kind} file holds one run, got {len(files)}. Export them one by one.")
    elif channels:
        raise ValueError(f"--channel chooses figures; a {kind} file holds every channel.")
    else:
        target = free(out or files[0].with_suffix(f".{kind}"), force)
        target.parent.mkdir(parents=True, exist_ok=True)
        written = _WRITERS[kind](loaded[0], target)
    if as_json:
        typer.echo(json.dumps([str(path) for path in written], indent=2))
    else:
        for path in written:
            typer.echo(f"{kind:<9} {path}")
    return 0


def free(path: Path, force: bool) -> Path:
    """A path where a file may be written."""
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists already. Choose another --out or add --force.")
    return path


def _free_folder(folder: Path, kind: str, force: bool) -> Path:
    taken = sorted(folder.glob(f"*.{kind}")) if folder.is_dir() else []
    if taken and not force:
        raise FileExistsError(f"{folder} holds {kind} files already. Choose another --out or add --force.")
    return folder

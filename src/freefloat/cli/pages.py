"""`freefloat page`, `freefloat compare` and `freefloat export`: pages and files from saved runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import typer

from freefloat.cli.run import open_page
from freefloat.report import compare as write_comparison
from freefloat.report import page as write_page
from freefloat.report.foxglove import to_mcap
from freefloat.report.paper import KINDS, figures
from freefloat.report.tabular import to_csv, to_parquet
from freefloat.sim import Run

Kind = Literal["csv", "parquet", "mcap", "png", "svg", "pdf"]
_WRITERS = {"csv": to_csv, "parquet": to_parquet, "mcap": to_mcap}


def run_file(path: Path) -> Path:
    """Path of a run file, or of the one in a directory that `freefloat run` wrote."""
    file = path / "run.nc" if path.is_dir() else path
    if not file.exists():
        raise FileNotFoundError(
            f"There is no run at {path}. Give a run file or the --out directory of `freefloat run`."
        )
    return file


def page(run: Path, out: Path | None, *, force: bool, browse: bool = False) -> int:
    """Write the page of a run, by default beside it; returns the exit status."""
    file = run_file(run)
    target = free_path(out or file.with_name("page.html"), force)
    typer.echo(f"page      {write_page(file, target)}")
    if browse:
        open_page(target)
    return 0


def compare(runs: list[Path], out: Path, *, force: bool) -> int:
    """Write one page with several runs over each other; returns the exit status."""
    typer.echo(f"page      {write_comparison([run_file(run) for run in runs], free_path(out, force))}")
    return 0


def export(runs: list[Path], kind: Kind, out: Path | None, channels: list[str], *, force: bool, as_json: bool) -> int:
    """Write tables and recordings of one run, or figures of one or several; returns the exit status."""
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
        target = free_path(out or files[0].with_suffix(f".{kind}"), force)
        target.parent.mkdir(parents=True, exist_ok=True)
        written = _WRITERS[kind](loaded[0], target)
    if as_json:
        typer.echo(json.dumps([str(path) for path in written], indent=2))
    else:
        for path in written:
            typer.echo(f"{kind:<9} {path}")
    return 0


def free_path(path: Path, force: bool) -> Path:
    """The path if a file may be written there; raises an error if one exists and `force` is false."""
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists already. Choose another --out or add --force.")
    return path


def _free_folder(folder: Path, kind: str, force: bool) -> Path:
    taken = sorted(folder.glob(f"*.{kind}")) if folder.is_dir() else []
    if taken and not force:
        raise FileExistsError(f"{folder} holds {kind} files already. Choose another --out or add --force.")
    return folder

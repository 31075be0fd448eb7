"""`freefloat check`."""

import dataclasses
import json
import warnings
from pathlib import Path

import typer

from freefloat.readers.findings import summary_lines
from freefloat.readers.languages import language_of
from freefloat.readers.reports import ReadingNote


def check(path: Path, *, as_json: bool, repair: bool = False) -> int:
    """Print the findings in a robot file, and its spacecraft if it can be simulated; returns 1 if it cannot."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no robot file {path}. Give the path of a URDF, MJCF or SDF file.")
    language = language_of(path)
    findings = language.lint(path, repair=repair)
    errors = [finding for finding in findings if finding.severity == "error"]
    if as_json:
        typer.echo(json.dumps([dataclasses.asdict(finding) for finding in findings], indent=2))
        return int(bool(errors))
    for severity, line in summary_lines(findings):
        typer.echo(f"{severity}: {line}")
    if errors:
        hint = " With --repair it can." if all(error.repairable for error in errors) else ""
        typer.echo(f"{path} cannot be simulated.{hint}")
        return 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingNote)  # said above
        craft = language.read(path, repair=repair)
    mass = float(craft.mass)
    typer.echo(
        f"{path}: spacecraft '{craft.name}', {len(craft.bodies)} bodies, {len(craft.layout.moving_joints)} moving "
        f"joints, {len(craft.wheels)} wheels, {mass:g} kg. It can be simulated."
    )
    return 0

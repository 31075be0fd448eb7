"""`freefloat check`."""

import dataclasses
import json
from pathlib import Path

import typer

from freefloat.model import read_urdf
from freefloat.model.readers.urdf.reader import lint_urdf


def check(urdf: Path, *, as_json: bool) -> int:
    """Print every finding about a URDF file, and what it describes if it can be simulated; 1 if it cannot."""
    findings = lint_urdf(urdf)
    broken = any(finding.severity == "error" for finding in findings)
    if as_json:
        typer.echo(json.dumps([dataclasses.asdict(finding) for finding in findings], indent=2))
        return int(broken)
    for finding in findings:
        typer.echo(f"{finding.severity}: {finding}")
    if broken:
        typer.echo(f"{urdf} cannot be simulated.")
        return 1
    craft = read_urdf(urdf)
    mass = float(craft.mass)
    typer.echo(
        f"{urdf}: spacecraft '{craft.name}', {len(craft.bodies)} bodies, {len(craft.layout.moving_joints)} moving "
        f"joints, {len(craft.wheels)} wheels, {mass:g} kg. It can be simulated."
    )
    return 0

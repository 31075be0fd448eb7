"""`freefloat list`."""

import json

import typer

from freefloat.scenarios import SCENARIOS


def show(as_json: bool) -> None:
    """Print every scenario with its title, source and variants."""
    rows = [
        {"name": s.name, "title": s.title, "source": s.source, "variants": list(s.variants())}
        for s in SCENARIOS.values()
    ]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        typer.echo(f"{row['name']:<24} {row['title']}")
        typer.echo(f"{'':<24} variants: {', '.join(row['variants'])}")

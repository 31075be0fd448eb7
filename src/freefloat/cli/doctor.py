"""`freefloat doctor`."""

import json

import typer

from freefloat import __version__, engine


def print_installation(*, clear: bool, as_json: bool) -> None:
    """Print targets, processor, SIMD width, the disk cache, and which functions are traced each time and why."""
    if clear:
        engine.clear_cache()
    facts = {"freefloat": __version__, **engine.doctor()}
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    targets, again = facts.pop("targets"), facts.pop("traced_again")
    typer.echo(f"{'targets':<16} " + ", ".join(f"{name} {'yes' if there else 'no'}" for name, there in targets.items()))
    for name, fact in facts.items():
        shown = f"{fact / 1e6:.1f} MB" if name.endswith("_bytes") else ("none" if fact is None else fact)
        typer.echo(f"{name.removesuffix('_bytes').replace('_', ' '):<16} {shown}")
    for function, why in again.items():
        typer.echo(f"{'traced again':<16} {function}: {why}")

"""`freefloat channels`: every quantity that a run records, with its unit and in whose axes it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from freefloat.cli.pages import run_file
from freefloat.cli.tables import print_table
from freefloat.values.channels import Channel

HEADINGS = ("channel", "unit", "axes", "components", "what it is")
AXES = "Axes: N inertial, B of the base, B0 of the base at the start, O of the orbit, or of the body named."


def print_channels(
    what: str | None, variant: str | None, settings: list[str], *, as_json: bool, markdown: bool
) -> None:
    """Print the channels of a run, of a scenario or Python file, or of a spacecraft with one part of each kind."""
    rows = [_row(channel) for channel in _channels(what, variant, settings)]
    if as_json:
        keys = ("name", "unit", "frame", "components", "label")
        typer.echo(json.dumps([dict(zip(keys, row, strict=True)) for row in rows], indent=2))
    elif markdown:
        typer.echo(markdown_table(rows))
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in HEADINGS:
            table.add_column(heading, no_wrap=heading in ("channel", "unit", "axes"))
        for row in rows:
            table.add_row(*map(escape, row))
        print_table(table)
        typer.echo(f"\n{AXES}")


def markdown_table(rows: list[tuple[str, ...]]) -> str:
    """Table of channels in Markdown, for a page of documentation."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---" * len(HEADINGS) + "|"]
    return "\n".join([*lines, *(f"| `{row[0]}` | " + " | ".join(row[1:]) + " |" for row in rows)])


def _row(channel: Channel) -> tuple[str, ...]:
    meanings = f" ({', '.join(f'{k} {words}' for k, words in enumerate(channel.flags))})" if channel.flags else ""
    return (channel.name, channel.unit, channel.frame, ", ".join(channel.components), channel.label + meanings)


def _channels(what: str | None, variant: str | None, settings: list[str]) -> tuple[Channel, ...]:
    if what is None:
        from freefloat.cli.sample_channels import sample_channels

        return sample_channels()
    if Path(what).is_dir() or Path(what).suffix == ".nc":
        return _of_run(run_file(Path(what)))
    from freefloat.cli.run import resolve

    return resolve(what, settings, variant)[0].build().channels()


def _of_run(file: Path) -> tuple[Channel, ...]:
    from freefloat.sim import Run

    recorded, channels = Run.load(file).recorded, []
    for name, array in recorded.data_vars.items():
        axis: Any = array.dims[1] if len(array.dims) == 2 else ""
        components = tuple(map(str, recorded.coords[axis].values)) if axis in recorded.coords else ()
        words = {key: str(array.attrs.get(key, "")) for key in ("long_name", "units", "frame")}
        flags = tuple(map(str, array.attrs.get("flags", ())))
        channels.append(Channel(name, words["long_name"], words["units"], words["frame"], axis, components, flags))
    return tuple(channels)

"""`freefloat software`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from freefloat.outside.contract import ContractError
from freefloat.outside.load_user_file import load_user_file, user_error_text
from freefloat.outside.program import SoftwareFault
from freefloat.outside.server import serve


def run(file: Path, address: str) -> int:
    """Answer until the other side says that this is the end; 1 if the software failed or the other side is gone."""
    found = load(file)
    try:
        typer.echo(f"over: {serve(found, address)}", err=True)
    except (SoftwareFault, ConnectionError) as error:
        typer.echo(f"Error: {error}", err=True)
        return 1
    return 0


def load(file: Path) -> Any:
    """`software` of a Python file, or what a function of that name makes."""
    found = getattr(load_user_file(file, ContractError), "software", None)
    try:
        found = found() if callable(found) else found
    except Exception as error:
        raise ContractError(user_error_text(file, error, "in software()")) from error
    if found is None:
        raise ContractError(f"{file} must define software = an object with period, reads, commands, begin and step.")
    return found

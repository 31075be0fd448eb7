"""`freefloat software`."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import typer

from freefloat.outside.contract import ContractError
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
    if not file.is_file():
        raise ContractError(f"There is no file {file}.")
    spec = importlib.util.spec_from_file_location("freefloat_user_software", file)
    if spec is None or spec.loader is None:
        raise ContractError(f"{file} is no Python file.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        found = getattr(module, "software", None)
        found = found() if callable(found) else found
    except Exception as error:
        raise ContractError(f"{file}: {type(error).__name__}: {error}") from error
    if found is None:
        raise ContractError(f"{file} must define software = an object with period, reads, commands, begin and step.")
    return found

"""Help in English: groups of commands, names of types as people say them, examples below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

RUN, LOOK, REHEARSE, CHECK = "Run", "Look", "Rehearse", "Check"  # groups of commands, in this order
DOCUMENTATION = "\n\nEvery command has --help. Documentation: docs/index.md."

_TYPES = {"int": "NUMBER", "float": "NUMBER", "str": "TEXT", "Path": "PATH", "path": "PATH", "bool": ""}


def examples(*lines: str) -> str:
    """Examples below the help of a command."""
    return "\n".join(("Examples:", *(f"$ {line}" for line in lines)))


def add_command(app: typer.Typer, group: str, function: Callable[..., None], name: str, *lines: str) -> None:
    """Add a function to the command line, in a group of commands and with examples in its help."""
    app.command(name, cls=PlainCommand, rich_help_panel=group, epilog=examples(*lines))(function)


class PlainCommand(TyperCommand):
    """A command whose help names types in English."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Parameters of the command; how their types are written is replaced."""
        return [_in_english(parameter) for parameter in super().get_params(ctx)]


class PlainGroup(TyperGroup):
    """A group of commands whose help names types in English."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Parameters of the group; how their types are written is replaced."""
        return [_in_english(parameter) for parameter in super().get_params(ctx)]


def _in_english(parameter: Any) -> Any:
    """The parameter, with functions of its own for texts of help; those that a version of typer lacks do no harm."""
    if getattr(parameter, "param_type_name", "") == "argument":
        parameter._usage_display_name = lambda: _argument_text(parameter)
        parameter.display_type_rich = lambda ctx: ""
    else:
        written = getattr(parameter, "display_type", None)
        parameter.display_type_rich = lambda ctx: _option_text(parameter, written(ctx) if written else "")
    return parameter


def _argument_text(parameter: Any) -> str:
    """`SCENARIO`, `[SCENARIO]` or `RUNS ...` in the line on usage."""
    name = str(parameter.metavar or parameter.name).upper()
    name = f"{name} ..." if parameter.nargs != 1 else name
    return name if parameter.required else f"[{name}]"


def _option_text(parameter: Any, written: str) -> str:
    """`FOLDER` where an option says so, choices as they are, otherwise the English word for its type."""
    if getattr(parameter, "is_flag", False):
        return ""
    if parameter.metavar is not None:
        return str(parameter.metavar)
    return _TYPES.get(written.strip("<>").split(" ")[0], written.strip("<>"))

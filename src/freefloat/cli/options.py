"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from freefloat.cli.completion import complete_scenario, complete_setting, complete_variant

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, and no word of code that is made.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print the whole table of the audit.")]
Engine = Annotated[
    Literal["native", "jax"], typer.Option("--engine", help="Compiled code, or plain JAX for comparison.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Change a setting; may be given several times. `freefloat list SCENARIO` shows all of them.",
        autocompletion=complete_setting,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace results that exist already.")]
Variant = Annotated[
    str | None,
    typer.Option(
        "--variant", metavar="NAME", help="Start from this variant of the scenario.", autocompletion=complete_variant
    ),
]
ScenarioName = Annotated[
    str,
    typer.Argument(
        help="Name of a scenario, a TOML file with its settings, or a Python file.", autocompletion=complete_scenario
    ),
]
OptionalScenario = Annotated[
    str | None,
    typer.Argument(help="A scenario or a Python file: shows what can be set.", autocompletion=complete_scenario),
]
ResultFolder = Annotated[
    Path | None,
    typer.Option("--out", metavar="FOLDER", help="Folder for the results; runs/NAME-TIME when not given."),
]
OpenPage = Annotated[bool, typer.Option("--open", help="Open the page of the run in the browser.")]

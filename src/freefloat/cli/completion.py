"""What the shell completes: scenarios, their variants and settings, and files. Packages are imported only then.

Names of scenarios come from a list, because importing the scenarios themselves loads JAX, which takes a second.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freefloat.scenarios import Scenario

_FILES = (".py", ".toml")  # that a scenario can come from


def complete_scenario(incomplete: str) -> list[tuple[str, str]]:
    """Names of scenarios with their titles, and files that define one."""
    from freefloat.cli.scenario_titles import SCENARIO_TITLES

    names = [(name, title) for name, title in SCENARIO_TITLES.items() if name.startswith(incomplete)]
    return [*names, *_matching_files(incomplete)]


def complete_variant(ctx: Any, incomplete: str) -> list[str]:
    """Variants of the scenario on the command line."""
    scenario = _scenario_on(ctx)
    return [name for name in scenario.variants() if name.startswith(incomplete)] if scenario else []


def complete_setting(ctx: Any, incomplete: str) -> list[tuple[str, str]]:
    """Settings of the scenario on the command line, each with its value and unit."""
    from freefloat.scenarios.settings import settings_of

    scenario = _scenario_on(ctx)
    if scenario is None:
        return []
    found = ((f"{s.path}=", f"{s.value} {s.unit}".strip()) for s in settings_of(scenario()))
    return [(path, value) for path, value in found if path.startswith(incomplete)]


def _scenario_on(ctx: Any) -> type[Scenario] | None:
    """The scenario that the words so far name; None if there is none, or its file has an error."""
    from freefloat.scenarios import ScenarioError, find

    # A line that ends with an option without its value is not read to its end: its words are left over.
    name = ctx.params.get("scenario") or next(iter(ctx.args), None)
    with contextlib.suppress(ScenarioError):
        return find(name) if isinstance(name, str) else None
    return None


def _matching_files(incomplete: str) -> Iterator[tuple[str, str]]:
    """Folders and files that may define a scenario, as far as their path is written."""
    folder, _, start = incomplete.rpartition("/")
    with contextlib.suppress(OSError):
        for path in sorted(Path(folder or ".").iterdir()):
            shown = f"{folder}/{path.name}" if folder else path.name
            if path.name.startswith(start) and not path.name.startswith("."):
                if path.is_dir() and start:
                    yield f"{shown}/", "folder"
                elif path.suffix in _FILES:
                    yield shown, "file"

"""An experiment from a user's own Python file: it enters run, pages, compare and studio like the papers' do.

A file defines `experiment` (an Experiment), or a function `build(...)` that returns one, whose arguments with defaults
become settings, or one class derived from Scenario. The file itself is loaded by `outside.load_user_file`.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from freefloat.outside.load_user_file import load_user_file, user_error_text
from freefloat.scenarios.scenario import Scenario, ScenarioError
from freefloat.sim.record.description import Figure
from freefloat.values.claims import Claim

if TYPE_CHECKING:
    from freefloat.sim import Experiment, Run


def scenario_of_file(path: str | Path) -> type[Scenario]:
    """The scenario that a Python file defines."""
    file = Path(path).resolve()
    if not file.is_file():
        raise ScenarioError(
            f"There is no file {file}. Check its path; `freefloat list` shows the scenarios that need no file."
        )
    return _scenario_of(file, file.stat().st_mtime_ns)


@cache
def _scenario_of(file: Path, changed: int) -> type[Scenario]:
    module = load_user_file(file, ScenarioError)
    own = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Scenario) and value.__module__ == module.__name__
    ]
    if len(own) > 1:
        raise ScenarioError(f"{file} defines several scenarios ({', '.join(c.__name__ for c in own)}). Keep one.")
    if own:
        own[0].file = str(file)
        return own[0]
    if callable(getattr(module, "build", None)):
        return _from_build(file, module, module.build)
    if hasattr(module, "experiment"):
        return _from_build(file, module, lambda: module.experiment)
    raise ScenarioError(
        f"{file} defines nothing to run. Give it experiment = ff.Experiment.of(...), a function build() that returns "
        "one, or a class derived from ff.scenarios.Scenario."
    )


@dataclasses.dataclass(frozen=True)
class FileScenario(Scenario):
    """What a file without a scenario class of its own runs."""

    maker: ClassVar[Callable[..., Any]]
    description: ClassVar[str] = ""

    @classmethod
    def variants(cls) -> Mapping[str, Scenario]:
        """As the file has it."""
        return {"nominal": cls()}

    def build(self) -> Experiment:
        """Call the file's own function with the settings."""
        from freefloat.sim import Experiment

        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        try:
            made = type(self).maker(**values)
        except Exception as error:
            raise ScenarioError(user_error_text(Path(self.file), error, "in build()")) from error
        if not isinstance(made, Experiment):
            raise ScenarioError(f"{self.file}: an Experiment is needed (ff.Experiment.of(...)), got {made!r}.")
        return made

    def claims(self, variant: str, run: Run, others: Mapping[str, Run]) -> list[Claim]:
        """None: nobody published it."""
        return []


def _from_build(file: Path, module: ModuleType, build: Callable[..., Any]) -> type[Scenario]:
    fields = []
    for parameter in inspect.signature(build).parameters.values():
        if parameter.default is inspect.Parameter.empty:
            raise ScenarioError(f"{file}: build({parameter.name}) needs a default, which is then a setting.")
        kind = type(parameter.default) if parameter.annotation is inspect.Parameter.empty else parameter.annotation
        fields.append((parameter.name, kind, dataclasses.field(default=parameter.default)))
    words, about = _titles(file, module, build)
    namespace = {
        "name": file.stem,
        "title": words,
        "source": file.name,
        "file": str(file),
        "maker": staticmethod(build),
        "figures": _file_figures(file, module),
    }
    return dataclasses.make_dataclass(
        "FileScenario", fields, bases=(FileScenario,), namespace={**namespace, "__doc__": about or words}, frozen=True
    )


def _titles(file: Path, module: ModuleType, build: Callable[..., Any]) -> tuple[str, str]:
    """Title and one more sentence, from the docstrings of the file and of build(); the title is never empty."""
    first = [(text or "").strip().split("\n")[0] for text in (module.__doc__, build.__doc__)]
    title, *more = [*filter(None, first), file.stem]
    return title.rstrip("."), more[0] if len(more) > 1 else ""


def _file_figures(file: Path, module: ModuleType) -> tuple[Figure, ...]:
    """The plots that a file names: `figures = ("hand.position", ...)`."""
    given = getattr(module, "figures", ())
    if not isinstance(given, tuple | list) or not all(isinstance(entry, str | Figure) for entry in given):
        raise ScenarioError(f'{file}: figures are names of channels, figures = ("hand.position",), got {given!r:.80}.')
    return tuple(Figure(entry) if isinstance(entry, str) else entry for entry in given)

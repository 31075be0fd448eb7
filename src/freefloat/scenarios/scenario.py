"""Base class of scenarios, and settings of a scenario from text (a file or the command line)."""

from __future__ import annotations

import dataclasses
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from freefloat.scenarios.fault_texts import fault_text
from freefloat.scenarios.scatters import Scatter
from freefloat.scenarios.settings import settings_of
from freefloat.sim.record.description import Figure
from freefloat.sim.record.run import CUSTOM
from freefloat.values.claims import Claim
from freefloat.values.short_text import cut
from freefloat.values.suggestions import close_names

if TYPE_CHECKING:
    from freefloat.sim import Experiment, Run


_WIDE = 80  # characters of a wrong value that are shown


class ScenarioError(ValueError):
    """An invalid scenario: wrong name, wrong field or wrong value. The message lists what is possible."""

    def __init__(self, message: str, faults: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.faults = dict(faults or {})  # by path, where single settings are at fault


@dataclasses.dataclass(frozen=True)
class Scenario(ABC):
    """An experiment as a frozen record of plain numbers; subclasses add fields, `build` and `claims`."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", allow_inf_nan=False)
    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    note: ClassVar[str] = ""  # shown with the result: what its reader must know
    figures: ClassVar[tuple[Figure, ...]] = ()  # the plots that a page opens first; none: the usual ones
    scatters: ClassVar[tuple[Scatter, ...]] = ()  # many runs like this one, to see whether it is typical
    file: ClassVar[str] = ""  # the user's file that it comes from; empty for the package's own

    @classmethod
    @abstractmethod
    def variants(cls) -> Mapping[str, Scenario]:
        """Variants of the scenario by name, those of the paper and our own; the first is the nominal one."""

    @abstractmethod
    def build(self) -> Experiment:
        """Experiment that is simulated."""

    @classmethod
    def needed_runs(cls, variant: str) -> tuple[str, ...]:
        """Other runs that the claims of a variant compare with: `spline`, or `ets7-gjm/sampled-4hz` elsewhere."""
        return ()

    @abstractmethod
    def claims(self, variant: str, run: Run, others: Mapping[str, Run]) -> list[Claim]:
        """Claims: numbers that the run of a variant must reach; `others` are the runs named by `needed_runs`."""

    @classmethod
    def outcome(cls, run: Run) -> str:
        """Result of a run in one sentence; empty if its numbers are enough."""
        return ""

    def as_dict(self) -> dict[str, Any]:
        """Settings as plain data, enough to run the scenario again."""
        return {"scenario": self.key(), **dataclasses.asdict(self)}

    @classmethod
    def key(cls) -> str:
        """Key by which the scenario is found: its name, or the user's file."""
        return cls.file or cls.name

    def variant_if_unchanged(self, variant: str) -> str:
        """Name of the variant if no setting differs from it; `custom` otherwise."""
        return variant if self.variants().get(variant) == self else CUSTOM

    def with_settings(self, settings: Mapping[str, Any]) -> Scenario:
        """Scenario with some settings changed; all errors are reported at once, with their paths."""
        data = dataclasses.asdict(self)
        for path, value in settings.items():
            _set_entry(data, path.split("."), value, path, self.name)
        try:
            return TypeAdapter(type(self)).validate_python(data)
        except ValidationError as error:
            units = {s.path: s.unit for s in settings_of(self)}
            texts = [(e, fault_text(e, units.get(".".join(map(str, e["loc"])), ""))) for e in error.errors()]
            lines = [f"  {_with_path(e, text)}" for e, text in texts]
            faults = {".".join(map(str, e["loc"])): text for e, text in texts}
            raise ScenarioError(
                f"Scenario '{self.name}' cannot run with these settings:\n" + "\n".join(lines), faults
            ) from None


def _with_path(error: Any, words: str) -> str:
    """Text of one validation error: path, message and value; of an error of the whole scenario the message only."""
    if not error["loc"]:
        return words
    path, given = ".".join(map(str, error["loc"])), cut(repr(error["input"]), _WIDE)
    return f"{path} {words}, got {given}" if words.startswith("must be") else f"{path}: {words} (got {given})"


class _MissingPart(dict[str, Any]):
    """Fields given for an optional part that is None so far; they are checked when the part is built."""


def _set_entry(data: dict[str, Any], keys: Sequence[str], value: Any, path: str, scenario: str) -> None:
    """Set a nested entry by its path; after `craft.` any dotted path of the spacecraft is accepted."""
    if keys[0] == "craft" and len(keys) > 2:
        keys = ["craft", ".".join(keys[1:])]
    for depth, key in enumerate(keys[:-1]):
        if key in data and data[key] is None:
            data[key] = _MissingPart()
        if not isinstance(data.get(key), dict):
            raise ScenarioError(_unknown_setting_text(scenario, path, data, ".".join(keys[:depth])))
        data = data[key]
    if keys[-1] not in data and keys[0] != "craft" and not isinstance(data, _MissingPart):
        raise ScenarioError(_unknown_setting_text(scenario, path, data, ".".join(keys[:-1])))
    data[keys[-1]] = value


def _unknown_setting_text(scenario: str, path: str, data: Mapping[str, Any], where: str) -> str:
    inside = f" in {where}" if where else ""
    prefix = f"{where}." if where else ""
    close = (f"{prefix}{name}" for name in close_names(path.removeprefix(prefix), data))
    meant = f" Did you mean '{found}'?" if (found := next(close, None)) else ""
    return f"Scenario '{scenario}' has no setting '{path}'.{meant} Settings{inside}: {', '.join(data)}."


def parse_setting(text: str) -> tuple[str, Any]:
    """Path and value of the text `a.b=value`, value as in TOML; numbers with commas are a list, a word is a string."""
    path, separator, value = text.partition("=")
    if not separator or not path.strip():
        raise ScenarioError(f"'{text}' is not a setting. Write --set path=value, for example --set duration=30.")
    for written in (value.strip(), f"[{value.strip()}]"):
        try:
            return path.strip(), tomllib.loads(f"value = {written}")["value"]
        except tomllib.TOMLDecodeError:
            continue
        except (ValueError, RecursionError):  # numbers of thousands of digits, lists in lists in lists
            raise ScenarioError(f"'{text:.60} ...' is no value that a setting could have.") from None
    return path.strip(), value.strip()

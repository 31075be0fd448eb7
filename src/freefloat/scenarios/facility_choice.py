"""The facility that a scenario is rehearsed in: its own virtual cell, an ideal one, or what a user's file says."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freefloat.outside.load_user_file import load_user_file, user_error_text
from freefloat.scenarios.scenario import ScenarioError

if TYPE_CHECKING:
    from freefloat.hil import Facility
    from freefloat.scenarios.rehearsed import RehearsedScenario

_CHOICES = "virtual, ideal, a TOML file with settings of a virtual cell, or a Python file with facility = ..."


def choose_facility(choice: str, scenario: RehearsedScenario) -> Facility:
    """A facility by its word or file."""
    if choice == "virtual":
        return scenario.facility()
    if choice == "ideal":
        return _ideal(scenario)
    path = Path(choice)
    if path.suffix not in (".toml", ".py"):
        raise ScenarioError(f"There is no facility '{choice}'. Choose one of: {_CHOICES}.")
    if not path.is_file():
        raise ScenarioError(f"There is no facility file {path}.")
    return _of_toml(path) if path.suffix == ".toml" else _of_python(path)


def _ideal(scenario: RehearsedScenario) -> Facility:
    """Robots that track perfectly and feel nothing."""
    from freefloat.hil.cell import IdealCell, ideal_robot

    rehearsal = scenario.rehearsal()
    grippers = [grasp.robot for grasp in rehearsal.grasps]
    robots = [
        ideal_robot(carried.robot, arm_joints=carried.arm, gripper=carried.robot in grippers)
        for carried in rehearsal.carried
    ]
    return IdealCell(robots, cycle=rehearsal.experiment.dt)


def _of_toml(path: Path) -> Facility:
    """`cell = "envisat"` or `"goddard"`, and a table [settings] as CellSettings has them."""
    from pydantic import TypeAdapter, ValidationError

    from freefloat.hil.cell import CellSettings, envisat_cell, goddard_cell

    cells = {"envisat": envisat_cell, "goddard": goddard_cell}
    try:
        given: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path} is not valid TOML: {error}.") from None
    if unknown := [key for key in given if key not in ("cell", "settings")]:
        raise ScenarioError(f"{path} has no use for '{unknown[0]}'. Write cell = \"envisat\" and a table [settings].")
    if given.get("cell") not in cells:
        raise ScenarioError(f"{path} must say which cell it is: cell = one of {', '.join(cells)}.")
    try:
        settings = TypeAdapter(CellSettings).validate_python(given.get("settings", {}), extra="forbid")
    except ValidationError as error:
        told = "; ".join(f"settings.{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ScenarioError(f"{path}: {told}.") from None
    return cells[given["cell"]](settings)


def _of_python(path: Path) -> Facility:
    """`facility`, or a function of that name that makes it."""
    from freefloat.hil import Facility

    found = getattr(load_user_file(path.resolve(), ScenarioError), "facility", None)
    try:
        found = found() if callable(found) else found
    except Exception as error:
        raise ScenarioError(user_error_text(path, error, "in facility()")) from error
    if not isinstance(found, Facility):
        raise ScenarioError(f"{path} must define facility = an ff.hil.Facility, or a function that makes it.")
    return found

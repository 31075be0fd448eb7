"""`freefloat map`: how much an arm disturbs its base, and where it is singular, over two of its joints."""

from __future__ import annotations

import json
import math
from inspect import isfunction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, get_type_hints

import numpy as np
import typer

from freefloat import library
from freefloat.analysis import disturbance_map, singularity_map
from freefloat.cli.pages import free_path
from freefloat.cli.progress import report_compilation
from freefloat.cli.run import resolve
from freefloat.engine import code_of
from freefloat.model import Spacecraft, World
from freefloat.readers.languages import language_of
from freefloat.report.joint_plane import MOST_POINTS, joint_plane
from freefloat.report.map_words import extremes
from freefloat.report.maps import map_page, sentences
from freefloat.scenarios import SCENARIOS
from freefloat.values.files import write_atomically
from freefloat.values.suggestions import did_you_mean

if TYPE_CHECKING:
    import xarray

_EXAMPLE = "--joint arm.2=-90:90 --joint arm.3=-90:90:61"
_POINTS = 61


class Range(NamedTuple):
    """Values of one joint [deg], or [mm] for a sliding joint."""

    joint: str
    start: float
    end: float
    points: int


def draw_map(
    spacecraft: str,
    name: str | None,
    joints: list[str],
    frame: str | None,
    at: list[str],
    out: Path,
    *,
    force: bool,
    as_json: bool,
) -> int:
    """Compute the maps, write them as a page or as data, and print what they show; returns the exit status.

    `name`: which spacecraft of a scenario is meant, where it has several.
    """
    craft = _spacecraft(spacecraft, name)
    plane = {r.joint: np.linspace(r.start, r.end, r.points) * _factor(craft, r.joint) for r in _ranges(craft, joints)}
    q = _configuration(craft, at)
    if frame is not None:
        craft.frame(frame)
    target = free_path(out, force)
    with report_compilation(as_json), code_of(f"the map of '{craft.name}'"):
        maps = [disturbance_map(craft, q, plane)]
        if frame is not None:
            maps.append(singularity_map(craft, q, plane, frame))
    if target.suffix == ".nc":
        _save(maps, target)
    else:
        map_page(maps, target)
    if as_json:
        summary = {name: value for data in maps for name, value in extremes(data, joint_plane(maps)).items()}
        typer.echo(json.dumps({"file": str(target), "maps": summary}, indent=2))
        return 0
    for sentence in sentences(maps):
        typer.echo(sentence)
    typer.echo(f"{'data' if target.suffix == '.nc' else 'page'}      {target}")
    return 0


def _save(maps: list[xarray.Dataset], path: Path) -> None:
    """Save all maps as one dataset, which `map_page` can draw again."""
    whole = maps[0].assign({name: array for data in maps[1:] for name, array in data.data_vars.items()})
    whole.attrs = {name: value for data in maps for name, value in data.attrs.items()}
    write_atomically(path, lambda partial: whole.to_netcdf(partial, engine="h5netcdf"))


def _spacecraft(name: str, which: str | None) -> Spacecraft:
    """A spacecraft of the library, of a scenario or Python file, or from a robot file."""
    functions = {key: getattr(library, key) for key in library.__all__ if isfunction(getattr(library, key))}
    made = {key: make for key, make in functions.items() if get_type_hints(make)["return"] is Spacecraft}
    ready = {key: make for key, make in made.items() if not key.startswith("with_")}  # those add a part to one
    if name in ready:
        return ready[name]()
    if name in SCENARIOS or Path(name).suffix in (".py", ".toml"):
        return _craft_of(resolve(name, [], None)[0].build().world, which)
    if not Path(name).is_file():
        raise ValueError(
            f"'{name}' is neither in the library ({', '.join(ready)}) nor a robot file, a scenario or a Python file."
            f"{did_you_mean(name, (*ready, *SCENARIOS))}"
        )
    return language_of(Path(name)).read(Path(name))


def _craft_of(world: World, which: str | None) -> Spacecraft:
    """The only spacecraft of a world, or the one of that name."""
    if which is None and not world.single:
        raise ValueError(f"There are several spacecraft. Name one of them: --craft {' or --craft '.join(world.names)}.")
    return world.craft(which or "")


def _ranges(craft: Spacecraft, texts: list[str]) -> list[Range]:
    if len(texts) != 2:
        raise ValueError(f"A map needs two joints, got {len(texts)}. For example: {_EXAMPLE}.")
    first, second = (_range(craft, text) for text in texts)
    if first.joint == second.joint:
        raise ValueError(f"Both axes of the map are joint '{first.joint}'. Name two different joints.")
    return [first, second]


def _range(craft: Spacecraft, text: str) -> Range:
    """Range of a joint from a text such as `arm.2=-90:90:61`."""
    name, _, rest = text.rpartition("=")
    numbers = rest.split(":")
    if not name or len(numbers) not in (2, 3):
        raise ValueError(f"'{text}' is not a joint with its range. Write --joint NAME=START:END:POINTS: {_EXAMPLE}.")
    _require_joint(craft, name)
    start, end = (_number(number, text) for number in numbers[:2])
    if not start < end:
        raise ValueError(f"The range of joint '{name}' must go upwards, got {start:g} to {end:g}.")
    points = _number(numbers[2], text) if len(numbers) == 3 else _POINTS
    if points != int(points) or not 2 <= points <= MOST_POINTS:
        raise ValueError(f"A map has 2 to {MOST_POINTS} points along a joint, got {points:g} for '{name}'.")
    return Range(name, start, end, int(points))


def _configuration(craft: Spacecraft, texts: list[str]) -> np.ndarray:
    """Joint positions from `0,0,10,-32.8,0,0` for all moving joints, or `arm.3=10` for some, zero for the others."""
    q, joints = np.zeros(craft.layout.nq), craft.layout.moving_joints
    for text in texts:
        parts = text.split(",")
        if "=" not in text and len(parts) != len(joints):
            raise ValueError(f"--at needs {len(joints)} numbers ({', '.join(joints)}), got {len(parts)}.")
        named = [part.rpartition("=")[::2] for part in parts] if "=" in text else zip(joints, parts, strict=True)
        for name, value in named:
            _require_joint(craft, name)
            q[craft.layout.position(name)] = _number(value, text) * _factor(craft, name)
    return q


def _require_joint(craft: Spacecraft, joint: str) -> None:
    craft.layout.require_moving([joint])


def _factor(craft: Spacecraft, joint: str) -> float:
    """Factor from degrees or millimetres to SI."""
    return math.pi / 180.0 if craft.joint(joint).kind == "revolute" else 1e-3


def _number(text: str, whole: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"'{text}' in '{whole}' is not a number.") from None
    if not math.isfinite(value):
        raise ValueError(f"'{text}' in '{whole}' is not finite.")
    return value

"""Maps over two joints as a page: heat maps with a common cursor, in one HTML file that needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.report.documents import document, put
from freefloat.report.joint_plane import JointPlane, joint_plane
from freefloat.report.map_words import cut, flat, of_disturbance, of_singularity
from freefloat.report.markup import element, joined, text
from freefloat.report.payload import Bytes
from freefloat.report.singular_lines import Singular, singular_lines

if TYPE_CHECKING:
    import xarray

_SCRIPTS = ("payload.js", "theme.js", "axes.js", "maps.js")
_MAPS = ("largest", "smallest", "dynamic", "kinematic")
_WIDE = 30.0  # a range of more than this factor is drawn in powers of ten
_APART = 0.025  # of the map, between marks
_FLOOR = 1e-3  # of the largest value: what is smaller has one colour when powers of ten are drawn


def map_page(maps: xarray.Dataset | Sequence[xarray.Dataset], path: str | Path) -> Path:
    """Write maps of one plane (`disturbance_map`, `singularity_map`, or both) as a page."""
    given = [maps] if hasattr(maps, "data_vars") else list(maps)
    return put(_html(given, joint_plane(given)), Path(path))  # pyright: ignore[reportArgumentType]


def sentences(maps: Sequence[xarray.Dataset]) -> list[str]:
    """What the maps show, in words."""
    plane = joint_plane(maps)
    told = [cut(plane, str(maps[0].attrs.get("spacecraft", "")))]
    for data in maps:
        if "largest" in data:
            told.append(of_disturbance(data, plane))
        if "dynamic" in data:
            told.append(of_singularity(data, plane, singular_lines(data)))
    return told


def _html(maps: Sequence[xarray.Dataset], plane: JointPlane) -> str:
    craft = str(maps[0].attrs.get("spacecraft", ""))
    heading = f"{craft}: maps over {plane.names[0]} and {plane.names[1]}"
    store = Bytes()
    places = {
        "title": text(heading),
        "header": joined(
            [element("h1", heading), *(element("p", told, class_="about told") for told in sentences(maps))]
        ),
        "contents": store.packed(_contents(maps, plane, store)),
    }
    return document("map.html", _SCRIPTS, places)


def _contents(maps: Sequence[xarray.Dataset], plane: JointPlane, store: Bytes) -> dict[str, Any]:
    shown = [
        (data, name) for data in maps for name in _MAPS if name in data and not (name == "smallest" and flat(data))
    ]
    found = [_map(data, name, plane, store) for data, name in shown]
    worst = next((data["worst"].values for data in maps if "worst" in data), None)
    return {
        "axes": [
            {"name": name, "unit": unit, "values": store.put(values, "f8")}
            for name, unit, values in zip(plane.names, plane.units, plane.values, strict=True)
        ],
        "configuration": {"place": plane.configuration.tolist(), "at": plane.here},
        "joints": list(map(str, maps[0]["joint"].values)),
        "worst": None if worst is None else store.put(worst),
        "maps": found,
    }


def _map(data: xarray.Dataset, name: str, plane: JointPlane, store: Bytes) -> dict[str, Any]:
    values = np.asarray(data[name].values, dtype=float)
    finite = values[np.isfinite(values)]
    high = float(finite.max()) if finite.size else 1.0
    low = float(finite.min()) if finite.size else 0.0
    logarithmic = high > 0.0 and high > _WIDE * low
    floor = max(low, _FLOOR * high) if logarithmic else low
    singular = singular_lines(data) if name in ("dynamic", "kinematic") else None
    return {
        "name": name,
        "label": str(data[name].attrs.get("long_name", name)),
        "unit": str(data[name].attrs.get("units", "")),
        "logarithmic": logarithmic,
        "range": [floor, high if high > floor else floor + 1.0],
        "cut": bool(floor > low),
        "values": store.put(values.T),  # rows along the second joint, as a picture has them
        "lines": [] if singular is None else _lines(singular, plane),
        "crosses": [] if name != "dynamic" or singular is None else _apart(singular.dynamic * plane.factors, plane),
    }


def _apart(places: np.ndarray, plane: JointPlane) -> list[list[float]]:
    """Marks that do not lie over each other: of places too near together the first."""
    sizes = np.array([np.ptp(values) for values in plane.values])
    kept: list[np.ndarray] = []
    for place in places:
        if all(np.max(np.abs(place - other) / sizes) > _APART for other in kept):
            kept.append(place)
    return [place.tolist() for place in kept]


def _lines(singular: Singular, plane: JointPlane) -> list[dict[str, Any]]:
    kinds = (
        ("singular, base floating", "solid", singular.floating),
        ("singular, base fixed", "dashed", singular.fixed),
    )
    return [
        {"label": label, "dash": dash, "paths": [(line * plane.factors).T.tolist() for line in lines]}
        for label, dash, lines in kinds
        if lines
    ]

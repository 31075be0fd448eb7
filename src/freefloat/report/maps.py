"""The page of maps over two joints: heat maps with a common cursor, in one HTML file that needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.report.documents import document, write_document
from freefloat.report.joint_plane import JointPlane, joint_plane
from freefloat.report.map_words import disturbance_sentences, is_flat, plane_sentence, singularity_sentences
from freefloat.report.markup import element, join_markup, text
from freefloat.report.payload import ArrayStore
from freefloat.report.singular_lines import SingularLines, singular_lines

if TYPE_CHECKING:
    import xarray

_SCRIPTS = ("payload.js", "theme.js", "axes.js", "maps.js")
_MAPS = ("largest", "smallest", "dynamic", "kinematic")
_WIDE = 30.0  # a range of more than this factor is drawn in powers of ten
_APART = 0.025  # of the map, between marks
_FLOOR = 1e-3  # of the largest value: what is smaller has one colour when powers of ten are drawn


def map_page(maps: xarray.Dataset | Sequence[xarray.Dataset], path: str | Path) -> Path:
    """Write maps of one plane (`disturbance_map`, `singularity_map`, or both) as a page."""
    datasets = [maps] if hasattr(maps, "data_vars") else list(maps)
    return write_document(_html(datasets, joint_plane(datasets)), Path(path))  # pyright: ignore[reportArgumentType]


def sentences(maps: Sequence[xarray.Dataset]) -> list[str]:
    """Sentences on the plane of the maps and on what they show."""
    plane = joint_plane(maps)
    texts = [plane_sentence(plane, str(maps[0].attrs.get("spacecraft", "")))]
    for data in maps:
        if "largest" in data:
            texts.append(disturbance_sentences(data, plane))
        if "dynamic" in data:
            texts.append(singularity_sentences(data, plane, singular_lines(data)))
    return texts


def _html(maps: Sequence[xarray.Dataset], plane: JointPlane) -> str:
    craft = str(maps[0].attrs.get("spacecraft", ""))
    heading = f"{craft}: maps over {plane.names[0]} and {plane.names[1]}"
    store = ArrayStore()
    places = {
        "title": text(heading),
        "header": join_markup(
            [element("h1", heading), *(element("p", sentence, class_="about told") for sentence in sentences(maps))]
        ),
        "contents": store.packed_text(_contents(maps, plane, store)),
    }
    return document("map.html", _SCRIPTS, places)


def _contents(maps: Sequence[xarray.Dataset], plane: JointPlane, store: ArrayStore) -> dict[str, Any]:
    shown = [
        (data, name) for data in maps for name in _MAPS if name in data and not (name == "smallest" and is_flat(data))
    ]
    drawn = [_map(data, name, plane, store) for data, name in shown]
    worst = next((data["worst"].values for data in maps if "worst" in data), None)
    return {
        "axes": [
            {"name": name, "unit": unit, "values": store.add_array(values, "f8")}
            for name, unit, values in zip(plane.names, plane.units, plane.values, strict=True)
        ],
        "configuration": {"place": plane.configuration.tolist(), "at": plane.nearest_indices},
        "joints": list(map(str, maps[0]["joint"].values)),
        "worst": None if worst is None else store.add_array(worst),
        "maps": drawn,
    }


def _map(data: xarray.Dataset, name: str, plane: JointPlane, store: ArrayStore) -> dict[str, Any]:
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
        "values": store.add_array(values.T),  # rows along the second joint, as a picture has them
        "lines": [] if singular is None else _lines(singular, plane),
        "crosses": [] if name != "dynamic" or singular is None else _apart(singular.dynamic * plane.factors, plane),
    }


def _apart(places: np.ndarray, plane: JointPlane) -> list[list[float]]:
    """Places of marks that do not overlap: of places too near to each other only the first."""
    sizes = np.array([np.ptp(values) for values in plane.values])
    apart: list[np.ndarray] = []
    for place in places:
        if all(np.max(np.abs(place - other) / sizes) > _APART for other in apart):
            apart.append(place)
    return [place.tolist() for place in apart]


def _lines(singular: SingularLines, plane: JointPlane) -> list[dict[str, Any]]:
    kinds = (
        ("singular, base floating", "solid", singular.floating),
        ("singular, base fixed", "dashed", singular.fixed),
    )
    return [
        {"label": label, "dash": dash, "paths": [(line * plane.factors).T.tolist() for line in lines]}
        for label, dash, lines in kinds
        if lines
    ]

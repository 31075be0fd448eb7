"""A run as MCAP, for Foxglove: every channel as a topic, body poses as transforms, the spacecraft as a scene."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.report.colours import shape_colour
from freefloat.report.figures import is_curve, times
from freefloat.report.scene import Scene, scene_of

if TYPE_CHECKING:
    from freefloat.sim import Run


def to_mcap(run: Run, path: Path) -> list[Path]:
    """Write the whole run; time starts at the epoch, so that relative times read as seconds."""
    try:
        from mcap.writer import CompressionType, Writer
    except ModuleNotFoundError:
        raise ValueError("MCAP needs the package mcap. Install it: pip install 'freefloat[export]'.") from None
    with path.open("wb") as file:
        writer = Writer(file, compression=CompressionType.ZSTD)
        writer.start(profile="", library="freefloat")
        messages = [*_channels(run, writer), *_pictures(run, writer)]
        for number, (nanoseconds, channel, content) in enumerate(sorted(messages, key=lambda m: m[0])):
            data = json.dumps(content, allow_nan=False).encode()
            writer.add_message(channel, log_time=nanoseconds, publish_time=nanoseconds, data=data, sequence=number)
        writer.finish()
    return [path]


Message = tuple[int, int, dict[str, Any]]


def _topic(writer: Any, topic: str, schema: str, described: dict[str, Any]) -> int:
    number = writer.register_schema(name=schema, encoding="jsonschema", data=json.dumps(described).encode())
    return writer.register_channel(topic=topic, message_encoding="json", schema_id=number)


def _nanoseconds(time: np.ndarray) -> list[int]:
    return [max(0, round(float(t) * 1e9)) for t in time]


def _channels(run: Run, writer: Any) -> list[Message]:
    messages: list[Message] = []
    for name in filter(lambda n: is_curve(run, n), run.channels):
        array = run.recorded[name]
        values = np.asarray(array.values, dtype=float).reshape(array.shape[0], -1)
        names = [str(n) for n in array.along(array.dims[1])] if array.ndim == 2 else ["value"]
        about = f"{array.attrs.get('long_name', name)} [{array.attrs.get('units', '')}]"
        numbers = {n: {"type": ["number", "null"]} for n in names}
        schema = {"type": "object", "description": about, "properties": numbers}
        channel = _topic(writer, "/" + name.replace(".", "/"), f"freefloat.{name}", schema)
        rows = np.where(np.isfinite(values), values, np.nan).tolist()
        for when, row in zip(_nanoseconds(times(run, len(rows))), rows, strict=True):
            messages.append((when, channel, {n: v if v == v else None for n, v in zip(names, row, strict=True)}))
    return messages


def _pictures(run: Run, writer: Any) -> list[Message]:
    scene = scene_of(run, frames=3000)
    if scene is None or not run.scene:
        return []
    transforms = _topic(writer, "/tf", "foxglove.FrameTransforms", {"type": "object"})
    messages = [
        (when, transforms, {"transforms": [_transform(scene, row, body, when) for body in range(len(scene.bodies))]})
        for row, when in enumerate(_nanoseconds(scene.time))
    ]
    update = _topic(writer, "/scene", "foxglove.SceneUpdate", {"type": "object"})
    start = messages[0][0]
    entities = [_entity(body, start) for body in run.scene["bodies"]]
    return [*messages, (start, update, {"deletions": [], "entities": entities})]


def _stamp(nanoseconds: int) -> dict[str, int]:
    return {"sec": nanoseconds // 10**9, "nsec": nanoseconds % 10**9}


def _xyz(values: Any) -> dict[str, float]:
    return dict(zip("xyz", map(float, values), strict=True))


def _transform(scene: Scene, row: int, body: int, when: int) -> dict[str, Any]:
    w, x, y, z = map(float, scene.attitude[row, body])
    return {
        "timestamp": _stamp(when),
        "parent_frame_id": "N",
        "child_frame_id": scene.bodies[body],
        "translation": _xyz(scene.position[row, body]),
        "rotation": {"x": x, "y": y, "z": z, "w": w},
    }


def _entity(body: dict[str, Any], when: int) -> dict[str, Any]:
    """The shapes of one body, locked to its frame."""
    from freefloat.report.solids import triangles

    lists = []
    for shape in body["shapes"]:
        vertices, _, faces = triangles(shape)
        red, green, blue = (part / 255.0 for part in shape_colour(str(shape["colour"])))
        lists.append(
            {
                "pose": {"position": _xyz((0, 0, 0)), "orientation": {"x": 0, "y": 0, "z": 0, "w": 1}},
                "points": [_xyz(point) for point in vertices],
                "color": {"r": red, "g": green, "b": blue, "a": 1.0},
                "colors": [],
                "indices": np.asarray(faces).ravel().tolist(),
            }
        )
    others = ("arrows", "cubes", "spheres", "cylinders", "lines", "texts", "models", "metadata")
    return {
        "timestamp": _stamp(when),
        "frame_id": str(body["name"]),
        "id": str(body["name"]),
        "lifetime": _stamp(0),
        "frame_locked": True,
        "triangles": lists,
        **{name: [] for name in others},
    }

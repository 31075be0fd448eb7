"""A drawing in the viewer: bodies are nodes that move, everything else is attached to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from freefloat.report.colours import shape_colour
from freefloat.report.scene import Scene, body_parts

_FLEXIBLE = (52, 86, 150)
_TRAIL = (194, 65, 12)


class Actors:
    """The bodies of one drawing. Node names are numbers, because names from a file must not become paths."""

    def __init__(self, server: Any, drawing: dict[str, Any]) -> None:
        self._server = server
        self._nodes = []
        self._extras: list[Any] = []
        for index, body in enumerate(drawing["bodies"]):
            self._nodes.append(server.scene.add_frame(f"/craft/{index}", show_axes=False))
            for number, part in enumerate(body_parts(index, body)):
                vertices, _, faces = part.triangles
                server.scene.add_mesh_simple(
                    f"/craft/{index}/{number}",
                    vertices.astype(np.float32),
                    faces.astype(np.uint32),
                    color=shape_colour(part.colour),
                )

        for number, (words, position) in enumerate(drawing.get("labels", ())):
            self._extras.append(server.scene.add_label(f"/labels/{number}", words, position=position))

    def move_bodies(self, position: np.ndarray, attitude: np.ndarray) -> None:
        """Move every body; `position` (bodies, 3) [m], `attitude` (bodies, 4), both in N."""
        with self._server.atomic():
            for node, p, q in zip(self._nodes, position, attitude, strict=True):
                node.position, node.wxyz = p, q

    def draw_trails(self, scene: Scene) -> None:
        """Draw the paths of the named frames."""
        for number, track in enumerate(scene.tracks):
            points = np.stack([track.position[:-1], track.position[1:]], axis=1).astype(np.float32)
            if len(points):
                self._extras.append(
                    self._server.scene.add_line_segments(
                        f"/trails/{number}", points, _TRAIL, thickness=2.5, thickness_units="screen"
                    )
                )

    def draw_flexible(self, scene: Scene, row: int, stretch: float) -> None:
        """Draw flexible bodies as lines or nets; the recorded displacement is multiplied by `stretch`."""
        for number, line in enumerate(scene.flexible):
            points = line.points + stretch * line.displacement[row]
            segments = (
                np.stack([points[:-1], points[1:]], axis=1) if line.faces is None else points[_edges(line.faces)]
            ).astype(np.float32)
            self._server.scene.add_line_segments(
                f"/craft/{line.body}/line{number}", segments, _FLEXIBLE, thickness=6.0, thickness_units="screen"
            )

    def remove(self) -> None:
        """Remove the drawing from the viewer."""
        for handle in (*self._nodes, *self._extras):
            handle.remove()


def _edges(faces: np.ndarray) -> np.ndarray:
    """Edges of the triangles as pairs of points, each once."""
    pairs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def look_at(server: Any, centre: np.ndarray, radius: float) -> None:
    """Point all present and future cameras at a ball."""
    away = np.array([0.72, -0.62, 0.42])
    eye = centre + 2.6 * radius * away / np.linalg.norm(away)
    server.initial_camera.look_at, server.initial_camera.position = tuple(centre), tuple(eye)
    server.initial_camera.up = (0.0, 0.0, 1.0)
    for client in server.get_clients().values():
        client.camera.up_direction = (0.0, 0.0, 1.0)
        client.camera.position, client.camera.look_at = eye, centre

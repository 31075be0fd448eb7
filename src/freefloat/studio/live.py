"""The live view: moving bodies, status lights, and a histogram of missed deadlines."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from freefloat.studio import panels
from freefloat.studio.actors import Actors, look_at
from freefloat.studio.frames import LiveFrame
from freefloat.studio.replay import PanelFolders

_PANEL_PERIOD = 0.5  # between two updates of the histogram [s]


class LiveStage:
    """Shows the frames of a running simulation or rehearsal."""

    def __init__(self, server: Any, places: PanelFolders, drawing: dict[str, Any]) -> None:
        self._server = server
        self._actors = Actors(server, drawing)
        self._late: list[float] = []
        self._refreshed = 0.0
        self._aimed = False
        gui = server.gui
        with places.time:
            self._clock = gui.add_html(panels.sentence("waiting for the first frame"))
            self._lights = gui.add_html(panels.lights({"simulation": "waiting", "deadline": "off"}))
        with places.results:
            self._deadlines = gui.add_html(panels.deadlines([]))

    def show_frame(self, frame: LiveFrame) -> None:
        """Show a frame: move the bodies; lights and histogram are updated less often."""
        self._actors.move_bodies(frame.position, frame.attitude)
        self._late.append(frame.late)
        if not self._aimed:
            self._aimed = True
            reach = np.linalg.norm(frame.position - frame.position[0], axis=1).max()
            look_at(self._server, frame.position.mean(axis=0), max(float(reach), 1.0) * 1.2)
        if time.monotonic() - self._refreshed > _PANEL_PERIOD:
            self._refreshed = time.monotonic()
            self._clock.content = panels.sentence(f"live: {frame.time:.2f} s")
            self._lights.content = panels.lights(frame.lights)
            self._deadlines.content = panels.deadlines(self._late)

    def close(self) -> None:
        """Remove the view from the page."""
        self._actors.remove()
        for handle in (self._clock, self._lights, self._deadlines):
            handle.remove()

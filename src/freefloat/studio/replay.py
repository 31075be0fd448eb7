"""Replay of a run in the viewer: bodies, time bar, speed, the plots of its scenario, its verdicts."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.report.colours import LINE_COLOURS
from freefloat.report.decimation import decimated_indices
from freefloat.report.figures import curve, opening_figures
from freefloat.report.scene import scene_of
from freefloat.studio import panels
from freefloat.studio.actors import Actors, look_at

if TYPE_CHECKING:
    from freefloat.sim import Run

_RATE = 25.0  # frames per second
_PLOTS = 3


@dataclass(frozen=True)
class PanelFolders:
    """Folders of the panel in which a stage shows its time bar and its results."""

    time: Any
    results: Any


class ReplayStage:
    """Replay of one run. All viewers share it: moving the time bar moves it for all."""

    def __init__(self, server: Any, places: PanelFolders, run: Run, title: str) -> None:
        self._server, self._scene = server, scene_of(run)
        self._playing = False
        self._handles: list[Any] = []
        self._actors: Actors | None = None
        gui = server.gui
        with places.time:
            self._add(gui.add_html(panels.sentence(title, good=run.completed and run.audit.holds)))
            if self._scene is None or run.scene is None:
                self._add(gui.add_html(panels.sentence("This run does not say what it looks like.", good=False)))
            else:
                self._actors = Actors(server, run.scene)
                self._actors.draw_trails(self._scene)
                look_at(server, self._scene.centre, self._scene.radius)
                self._controls(gui)
                self.show_time(float(self._scene.time[0]))
        with places.results:
            self._add(gui.add_html(panels.result(run)))
            self._plots(gui, run)

    def _add(self, handle: Any) -> Any:
        self._handles.append(handle)
        return handle

    def _controls(self, gui: Any) -> None:
        assert self._scene is not None
        start, end = float(self._scene.time[0]), float(self._scene.time[-1])
        step = max((end - start) / 2000.0, 1e-6)
        self.bar = self._add(gui.add_slider("time [s]", start, max(end, start + step), step, start))
        self._speed = self._add(gui.add_dropdown("speed", ("×0.25", "×1", "×5", "×20"), initial_value="×1"))
        self._play = self._add(gui.add_button("Play"))
        self._stretch = None
        if self._scene.flexible:
            self._stretch = self._add(gui.add_dropdown("bending", ("×1", "×10", "×100"), initial_value="×1"))
            self._stretch.on_update(lambda _: self.show_time(self.bar.value))
        self.bar.on_update(lambda _: self.show_time(self.bar.value))
        self._play.on_click(lambda _: self.set_playing(not self._playing))

    def show_time(self, t: float) -> None:
        """Show every body at time t [s], with linear interpolation between two records."""
        scene, actors = self._scene, self._actors
        if scene is None or actors is None:
            return
        row = int(np.clip(np.searchsorted(scene.time, t, side="right") - 1, 0, max(len(scene.time) - 2, 0)))
        after = min(row + 1, len(scene.time) - 1)
        span = scene.time[after] - scene.time[row]
        part = float(np.clip((t - scene.time[row]) / span, 0.0, 1.0)) if span > 0.0 else 0.0
        position = (1.0 - part) * scene.position[row] + part * scene.position[after]
        attitude = (1.0 - part) * scene.attitude[row] + part * scene.attitude[after]
        actors.move_bodies(position, attitude / np.linalg.norm(attitude, axis=-1, keepdims=True))
        if scene.flexible:
            factor = float(self._stretch.value[1:]) if self._stretch else 1.0
            actors.draw_flexible(scene, row, factor)

    def set_playing(self, on: bool) -> None:
        """Start (`on`) or stop playing."""
        self._playing = on
        self._play.label = "Pause" if on else "Play"
        if on:
            threading.Thread(target=self._run_clock, daemon=True).start()

    def _run_clock(self) -> None:
        assert self._scene is not None
        end = float(self._scene.time[-1])
        if self.bar.value >= end:
            self.bar.value = float(self._scene.time[0])
        while self._playing and self.bar.value < end:
            self.bar.value = min(end, self.bar.value + float(self._speed.value[1:]) / _RATE)
            self.show_time(self.bar.value)
            time.sleep(1.0 / _RATE)
        if self._playing:
            self.set_playing(False)

    def _plots(self, gui: Any, run: Run) -> None:
        from viser import uplot

        for figure in opening_figures(run)[:_PLOTS]:
            drawn = curve(run, figure)
            rows = decimated_indices(drawn.values, 800)
            series = [uplot.Series(label="t [s]")]
            series += [
                uplot.Series(label=name or drawn.name, stroke=LINE_COLOURS[j % len(LINE_COLOURS)], width=1.5)
                for j, name in enumerate(drawn.components)
            ]
            self._add(
                gui.add_uplot(
                    (drawn.time[rows], *np.ascontiguousarray(drawn.values[rows].T)),
                    tuple(series),
                    title=f"{drawn.label} [{drawn.unit}]" + f" ({drawn.left_out})" * bool(drawn.left_out),
                    scales={"x": uplot.Scale(time=False)},
                    aspect=1.9,
                )
            )

    def close(self) -> None:
        """Remove the replay from the page."""
        self._playing = False
        if self._actors:
            self._actors.remove()
        for handle in self._handles:
            handle.remove()

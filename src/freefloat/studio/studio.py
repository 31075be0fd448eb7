"""The studio: one page with a stage, a form, a run button, recent runs and a live view."""

from __future__ import annotations

import ipaddress
import re
import secrets
import threading
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from freefloat.scenarios import SCENARIOS, Scenario, find
from freefloat.scenarios.rehearsed import RehearsedScenario
from freefloat.sim import Run
from freefloat.studio import panels
from freefloat.studio.form import Form
from freefloat.studio.frames import Report
from freefloat.studio.gate import Gate
from freefloat.studio.live import LiveStage
from freefloat.studio.replay import PanelFolders, ReplayStage
from freefloat.studio.viewer import start_viewer
from freefloat.studio.worker import ReadyProcess, Worker

_RECENT = 20


class Studio:
    """Serves the page until closed. Several viewers may be connected, and may leave at any time."""

    def __init__(self, runs: Path, *, host: str = "127.0.0.1", port: int = 8080, token: str | None = None) -> None:
        if token is not None and not re.fullmatch(r"[\w-]{8,}", token, re.ASCII):
            raise ValueError("A token needs at least eight letters, digits, - or _.")
        self.token = token or secrets.token_urlsafe(16)
        self.runs = runs
        mark = secrets.token_urlsafe(32)
        self.server = start_viewer("freefloat studio", mark)
        try:
            self._gate = Gate(host, port, self.token, self.server.get_port(), mark)
        except ValueError:
            self.server.stop()
            raise
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self._gate.port}/?token={self.token}"
        self._source: Worker | None = None
        self._ready: ReadyProcess | None = ReadyProcess()
        self._stage: ReplayStage | LiveStage | None = None
        self._lock = threading.RLock()
        self._closed = threading.Event()
        self._build()
        threading.Thread(target=self._poll_reports, daemon=True).start()

    # ---- the page

    def _build(self) -> None:
        gui = self.server.gui
        self._set_theme(dark=False)
        gui.main_panel.dock_right()
        self.server.scene.set_up_direction("+z")
        time_place = gui.add_folder("Stage")
        with time_place:
            self._empty = gui.add_html(panels.sentence("Empty: run a scenario, or open a recent run."))
        tabs = gui.add_tab_group()
        with tabs.add_tab("Run"):
            names = tuple(SCENARIOS)
            self._offered = set(names)
            self._choice = gui.add_dropdown("scenario", names, initial_value=names[0])
            self._variant = gui.add_dropdown("variant", tuple(find(names[0]).variants()))
            self._choice.on_update(lambda _: self._choose_offered())
            self._variant.on_update(lambda _: self._choose_variant())
            self._form_place = gui.add_folder("Settings")
            self.run_button = gui.add_button("Run", color="green")
            self.live_button = gui.add_button("Run live, in step with the clock")
            self.rehearse_button = gui.add_button("Rehearse live, in the virtual cell", disabled=True)
            self.stop_button = gui.add_button("Abort", color="red", disabled=True)
            self._bar = gui.add_progress_bar(0.0, visible=False)
            self._message = gui.add_html("")
            self.run_button.on_click(lambda _: self.start(live=False))
            self.live_button.on_click(lambda _: self.start(live=True))
            self.rehearse_button.on_click(lambda _: self.start(live=True, rehearsed=True))
            self.stop_button.on_click(lambda _: self.abort())
        with tabs.add_tab("Recent runs"):
            self._recent = gui.add_dropdown("run", self._recent_runs() or ("none yet",))
            gui.add_button("Open").on_click(lambda _: self._open_recent())
            gui.add_button("Look again").on_click(lambda _: self._refresh_recent())
            dark = gui.add_checkbox("dark", False)
            dark.on_update(lambda _: self._set_theme(dark=dark.value))
        self._places = PanelFolders(time_place, gui.add_folder("Results"))
        self._new_form(next(iter(find(self._choice.value).variants().values())))

    def _set_theme(self, *, dark: bool) -> None:
        """Set a light or dark theme; the button that would share the page through a public server is always off."""
        self.server.gui.configure_theme(control_width="large", show_logo=False, show_share_button=False, dark_mode=dark)

    def choose(self, name: str) -> None:
        """Show the form of a scenario."""
        variants = find(name).variants()
        if name not in self._offered:
            self._offered.add(name)  # a user's file
            self._choice.options = (*self._choice.options, name)
        if self._choice.value != name:
            self._choice.value = name
        self._variant.options = tuple(variants)
        self._new_form(next(iter(variants.values())))

    def _choose_offered(self) -> None:
        """Show the scenario that the page selects; only an offered one, since a name may be a file that is run."""
        if self._choice.value in self._offered:
            self.choose(self._choice.value)

    def _choose_variant(self) -> None:
        variants = find(self._choice.value).variants() if self._choice.value in self._offered else {}
        if self._variant.value in variants:
            self._new_form(variants[self._variant.value])

    def _new_form(self, scenario: Scenario) -> None:
        with self._lock:
            for child in tuple(self._form_place._children.values()):
                child.remove()
            with self._form_place:
                self.form = Form(self.server, scenario)
            self._enable_buttons()

    def _enable_buttons(self) -> None:
        """Enable the buttons that can be pressed now."""
        busy = self._source is not None
        self.run_button.disabled = self.live_button.disabled = busy
        self.rehearse_button.disabled = busy or not issubclass(find(self._choice.value), RehearsedScenario)
        self.stop_button.disabled = not busy

    def show_message(self, words: str, good: bool = True) -> None:
        """Show a sentence below the buttons."""
        self._message.content = panels.sentence(words, good)

    # ---- running

    def start(self, *, live: bool, pace: float = 1.0, rehearsed: bool = False) -> None:
        """Run or rehearse the scenario of the form, unless the form has errors or another run is in progress."""
        with self._lock:
            if self._source is not None:
                self.show_message("Something is running already. Abort it first.", good=False)
                return
            scenario = self.form.scenario()
            if scenario is None:
                self.show_message("Some settings cannot be. What is wrong stands below each of them.", good=False)
                return
            if rehearsed and not isinstance(scenario, RehearsedScenario):
                self.show_message("This scenario names no robots to rehearse it with.", good=False)
                return
            folder = self.runs / f"{scenario.name}-{datetime.now():%Y%m%d-%H%M%S}"
            variant = scenario.variant_if_unchanged(self._variant.value)
            self._source = Worker(scenario, variant, folder, pace if live else None, self._ready, rehearsed=rehearsed)
            self._ready = None
            self._live = live
            self._bar.visible, self._bar.value = True, 0.0
            self._enable_buttons()
            self.show_message(f"Preparing {scenario.name} …")

    def abort(self) -> None:
        """Request the present run to stop; everything it recorded is kept and shown."""
        with self._lock:
            if self._source is not None:
                self._source.abort()
                self.show_message("Stopping …")

    def _poll_reports(self) -> None:
        while not self._closed.wait(0.03):
            source = self._source
            if source is None:
                continue
            try:
                for report in source.poll():
                    self._handle_report(report)
            except Exception as fault:  # of one report; the next ones are handled
                self.show_message(f"{type(fault).__name__}: {fault}", good=False)
            if not source.alive:
                self._finish_run()

    def _handle_report(self, report: Report) -> None:
        if report.kind == "progress":
            done, total, title = report.content
            self._bar.value = 100.0 * done / total
            self.show_message(f"{title} {done:.4g} s of {total:.4g} s".lstrip())
        elif report.kind == "making":
            self.show_message(report.content)
        elif report.kind == "started" and self._live:
            self._set_stage(lambda: LiveStage(self.server, self._places, report.content))
        elif report.kind == "frame" and isinstance(self._stage, LiveStage):
            self._stage.show_frame(report.content)
        elif report.kind == "failed":
            self.show_message(report.content, good=False)
        elif report.kind == "done":
            self.open(report.content)

    def _finish_run(self) -> None:
        with self._lock:
            self._source, self._ready = None, ReadyProcess()  # for the next run
            self._bar.visible = False
            self._enable_buttons()
            self._refresh_recent()

    # ---- runs that exist

    def open(self, path: Path) -> None:
        """Show the replay of a saved run."""
        file = path / "run.nc" if path.is_dir() else path
        run = Run.load(file)
        self._set_stage(lambda: ReplayStage(self.server, self._places, run, f"{file.parent.name}: {run.verdict}"))
        self.show_message(f"{file.parent.name}: {run.verdict}", good=run.completed and run.audit.holds)

    def _set_stage(self, make: Any) -> None:
        with self._lock:
            if self._stage is not None:
                self._stage.close()
            self._empty.visible = False
            self._stage = make()

    def _recent_runs(self) -> tuple[str, ...]:
        files = [file for file in self.runs.glob("**/run.nc") if not file.parent.name.startswith(".")]
        newest = sorted(files, key=lambda file: file.stat().st_mtime, reverse=True)
        return tuple(str(file.parent.relative_to(self.runs)) for file in newest[:_RECENT])

    def _refresh_recent(self) -> None:
        self._recent.options = self._recent_runs() or ("none yet",)

    def _open_recent(self) -> None:
        """Open the run that the page selects, only if it lies in the folder of runs."""
        chosen = (self.runs / str(self._recent.value) / "run.nc").resolve()
        if not chosen.is_relative_to(self.runs.resolve()) or not chosen.is_file():
            self.show_message("There is no such run in the folder of runs. Press Look again.", good=False)
            return
        try:
            self.open(chosen)
        except (OSError, ValueError) as fault:
            self.show_message(str(fault), good=False)

    # ---- ending

    def wait(self) -> None:
        """Block until the studio is closed or interrupted."""
        while not self._closed.is_set():
            time.sleep(0.2)

    def close(self) -> None:
        """Stop the present run, then the server."""
        self._closed.set()
        if self._source is not None:
            self._source.close()
        if self._ready is not None:
            self._ready.close()
        self._gate.close()
        self.server.stop()


def is_local(host: str) -> bool:
    """Whether an address is a loopback address, which other machines cannot reach."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

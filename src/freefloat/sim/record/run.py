"""The record of a run: channels with units and frames, what was simulated, with which versions, and its audit."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freefloat.sim.audit.accuracy import RunAccuracy
from freefloat.sim.audit.audit import Audit
from freefloat.sim.audit.conditions import find_conditions
from freefloat.sim.record.description import Description
from freefloat.sim.record.run_file import read_run, write_claims, write_run
from freefloat.sim.record.saved_state import SavedState
from freefloat.values.labelled import LabelledArrays
from freefloat.values.labelled_array import LabelledArray
from freefloat.values.suggestions import did_you_mean

if TYPE_CHECKING:
    import numpy as np
    import xarray

COMPLETED = "completed"
STOPPED = "stopped at "  # and when, and why
INTERRUPTED = "interrupted after "  # so many seconds
DIVERGED = "diverged"  # until it is explained
CUSTOM = "custom"  # the variant of settings that are the user's own


@dataclass(frozen=True)
class Run:
    """A recorded run. `run["base.attitude"]` is an array with its time, unit, frame and label."""

    recorded: LabelledArrays
    audit: Audit
    status: str  # "completed", or what stopped it and when
    scenario: dict[str, Any]  # what was simulated, as plain data
    claims: tuple[dict[str, Any], ...] = ()
    versions: dict[str, str] | None = None
    scene: dict[str, Any] | None = None  # what it looks like: `model.drawing`
    events: tuple[dict[str, Any], ...] = ()  # what happened in between: {"time": [s], "label": text}, `sim.run_events`
    description: Description = field(default_factory=Description)  # what a page shows besides the numbers
    saved: SavedState | None = None  # its end, to go on from
    accuracy: RunAccuracy = field(default_factory=RunAccuracy)  # how far its channels are off because of the step

    def __repr__(self) -> str:
        name = self.scenario.get("scenario") or self.scenario.get("spacecraft") or "unnamed"
        t, held = self.recorded["time"].values, ", audit holds" if self.audit.holds else ""
        size = f"{t[-1]:g} s, {len(t)} records of {len(self.channels)} channels"
        happened = sum("energy_lost" in event or "limit" in event for event in self.events)
        events = f", {happened} event{'s' * (happened != 1)}" if happened else ""
        accuracy = f"; {text}" if (text := self.accuracy.in_short()) else ""
        return f"<Run '{name}': {self.verdict}, {size}{events}{held}{accuracy}>"

    def _repr_html_(self) -> str:
        """The page of the run, for notebooks."""
        import freefloat

        return freefloat.report.run_html(self)

    def plot(self, *channels: str) -> Any:
        """Plot channels over time, `run.plot("hand.position")`, or the usual ones: a `report.ChannelPlot`."""
        import freefloat

        return freefloat.report.plot_channels(self, channels)

    def __getitem__(self, channel: str) -> LabelledArray:
        self._require(channel)
        found = self.recorded[channel]
        return found.coordinate(channel) if channel in found.dims else found

    def values(self, channel: str) -> np.ndarray:
        """The plain numbers of a channel (leading axis: time)."""
        self._require(channel)
        return self.recorded[channel].values

    def _require(self, channel: str) -> None:
        if channel not in self.recorded:
            meant = did_you_mean(channel, self.channels)
            raise KeyError(f"The run has no channel '{channel}'.{meant} Channels: {', '.join(self.channels)}.")

    @cached_property
    def data(self) -> xarray.Dataset:
        """Everything recorded, as an xarray data set."""
        return self.recorded.as_dataset()

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the recorded quantities."""
        return tuple(self.recorded.data_vars)

    @property
    def completed(self) -> bool:
        """True if the run reached its end."""
        return self.status == COMPLETED

    @property
    def stopped(self) -> bool:
        """True if a condition of the experiment ended the run before its time: `status` says which."""
        return self.status.startswith(STOPPED)

    @property
    def interrupted(self) -> bool:
        """True if a user or a signal stopped the run: `status` says when."""
        return self.status.startswith(INTERRUPTED)

    @property
    def verdict(self) -> str:
        """The status as text, which also says if the audit is violated."""
        happened = "ran to its end" if self.completed else self.status
        return self.status if self.audit.holds else f"{happened}, but the audit is VIOLATED"

    @property
    def variant(self) -> str:
        """Name of the variant of its scenario, or `custom`."""
        return str(self.scenario.get("variant", CUSTOM))

    @property
    def conditions(self) -> tuple[str, ...]:
        """Texts of abnormal conditions: `wheels.condition (wheel.y): torque limit, 0.35 s to 31.8 s (61 %)`."""
        remarks = (str(event["label"]) for event in self.events if event.get("condition"))
        return (*map(str, find_conditions(self.recorded)), *remarks)

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the run to one NetCDF file; an existing file is replaced only by force, and never left half written."""
        return write_run(self, Path(path), self.versions or versions(), force=force)

    def save_claims(self, path: Path) -> Path:
        """Write the claims into the file of this run, which `save` wrote before the claims were judged."""
        return write_claims(self, path)

    @staticmethod
    def load(path: str | Path, *, changed: bool = False) -> Run:
        """Read a run that `save` wrote; a file that was changed since raises an error, unless `changed` is true."""
        return Run(**read_run(Path(path), changed=changed))

    def with_claims(self, claims: list[dict[str, Any]]) -> Run:
        """A copy of the run with judged claims."""
        return replace(self, claims=tuple(claims))


class RunFailed(RuntimeError):
    """Raised for a run that did not end well. Nothing is lost: the run so far is in `.run`."""

    def __init__(self, message: str, run: Run, *, interrupted: bool = False) -> None:
        super().__init__(message)
        self.run, self.interrupted = run, interrupted or run.interrupted


def versions() -> dict[str, str]:
    """Versions of freefloat, JAX, NumPy and Python, on which a result depends."""
    import jax
    import numpy as np

    from freefloat import __version__

    return {
        "freefloat": __version__,
        "jax": jax.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }

"""What a live view shows at an instant, and where such instants come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

Light = Literal["good", "waiting", "bad", "off"]


@dataclass(frozen=True)
class LiveFrame:
    """The state of a live run at one instant."""

    time: float  # [s]
    position: np.ndarray  # (bodies, 3) in N [m]
    attitude: np.ndarray  # (bodies, 4) scalar first
    late: float = 0.0  # how long after its deadline it came [s]
    lights: dict[str, Light] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """One message of a source."""

    kind: Literal["started", "making", "progress", "frame", "done", "failed"]
    # started: drawing; making: sentence on code; progress: (done, total, title) [s]; frame: LiveFrame; done: folder;
    # failed: sentence
    content: Any


class Source(Protocol):
    """A run in another process: a simulation now, a rehearsal in a facility just as well."""

    def poll(self) -> list[Report]:
        """What came since the last call; never waits."""
        ...

    def abort(self) -> None:
        """Ask it to stop safely; what was recorded until then is kept."""
        ...

    @property
    def alive(self) -> bool:
        """True until its process has ended."""
        ...

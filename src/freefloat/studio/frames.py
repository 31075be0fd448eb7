"""Data of a live view at an instant, and the messages of the process that sends them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Light = Literal["good", "waiting", "bad", "off"]


@dataclass(frozen=True)
class LiveFrame:
    """The state of a live run at one instant."""

    time: float  # [s]
    position: np.ndarray  # (bodies, 3) in N [m]
    attitude: np.ndarray  # (bodies, 4) scalar first
    late: float = 0.0  # delay after its deadline [s]
    lights: dict[str, Light] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """One message from the process of a run."""

    kind: Literal["started", "making", "progress", "frame", "done", "failed"]
    # started: drawing; making: sentence on code; progress: (done, total, title) [s]; frame: LiveFrame; done: folder;
    # failed: sentence
    content: Any

"""What runs a kernel's text: a card, or the C compiler in its place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from .kernel import Text

Launch = Callable[..., None]  # (instances, arguments of the kernel in order)


class Runner(ABC):
    """Arrays and kernels of one device."""

    xp: Any  # the device's array module: cupy, or numpy for the emulation
    name: str

    @abstractmethod
    def facts(self) -> tuple[str, ...]:
        """Everything that compiled code depends on beside the text."""

    @abstractmethod
    def build(self, text: Text) -> bytes:
        """Compile a text."""

    @abstractmethod
    def load(self, code: bytes, text_name: str, block: int, shared_bytes: int) -> Launch:
        """A kernel out of compiled code."""

    @abstractmethod
    def free_bytes(self) -> int:
        """Memory that arrays may take."""

    @abstractmethod
    def shared_bytes(self) -> int:
        """Shared memory of one multiprocessor."""

    @abstractmethod
    def wait(self) -> None:
        """Return when everything launched is done."""

    @abstractmethod
    def seconds(self, work: Callable[[], None]) -> float:
        """How long the device is busy with some work."""

    @abstractmethod
    def to_host(self, array: Any) -> np.ndarray:
        """An array of the device as numpy's."""

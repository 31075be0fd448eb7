"""Interface of the devices that run a kernel's text: a card, or the C compiler instead."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from .kernel import Text

Launch = Callable[..., None]  # (instances, arguments of the kernel in order)


class Runner(ABC):
    """Compiles and runs kernels, and moves arrays, on one device."""

    xp: Any  # the device's array module: cupy, or numpy for the emulation
    name: str

    @abstractmethod
    def facts(self) -> tuple[str, ...]:
        """Everything that compiled code depends on in addition to the text."""

    @abstractmethod
    def build(self, text: Text) -> bytes:
        """Compile the text of a kernel."""

    @abstractmethod
    def load(self, code: bytes, text_name: str, block: int, shared_bytes: int) -> Launch:
        """Load a kernel from compiled code."""

    @abstractmethod
    def free_bytes(self) -> int:
        """Memory that arrays may take [bytes]."""

    @abstractmethod
    def shared_bytes(self) -> int:
        """Shared memory of one multiprocessor [bytes]."""

    @abstractmethod
    def wait(self) -> None:
        """Return when every launched kernel has ended."""

    @abstractmethod
    def seconds(self, work: Callable[[], None]) -> float:
        """Time that the device takes for some work [s]."""

    @abstractmethod
    def to_host(self, array: Any) -> np.ndarray:
        """Copy an array of the device to a NumPy array."""

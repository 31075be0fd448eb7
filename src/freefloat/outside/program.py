"""Software that is asked and answers, whoever runs it; and what may be wrong with an answer."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from freefloat.outside.contract import Contract
from freefloat.outside.measurements import MeasurementLayout


class SoftwareFault(Exception):
    """Which software failed, and how. In a rehearsal it becomes the reason of a safe stop."""


class Program(ABC):
    """Software under test as its driver sees it: `begin` once, then `ask` and `answer` in turn, and `end`."""

    contract: Contract

    @abstractmethod
    def agree(self, contract: Contract, answers: str) -> None:
        """Tell it the whole contract: shapes and units of all that it will read."""

    def refuse(self, reason: str) -> None:
        """It does not fit: tell it why, and let it go."""
        self.end(reason)

    @abstractmethod
    def begin(self, row: np.ndarray) -> np.ndarray | None:
        """Let it see the start; its first answer, if it gives one."""

    @abstractmethod
    def ask(self, row: np.ndarray) -> None:
        """Hand over measurements."""

    @abstractmethod
    def answer(self, wait: float) -> np.ndarray:
        """What it answers to the last question, within so many seconds."""

    def end(self, reason: str) -> None:
        """Nothing more will be asked; may be called twice."""
        return


class Immediate(Program):
    """Software that runs in this process: it answers at once, and is late if that takes too long."""

    _answer: np.ndarray | None = None
    _took = 0.0

    @abstractmethod
    def step(self, row: np.ndarray) -> np.ndarray:
        """What it answers to measurements."""

    def ask(self, row: np.ndarray) -> None:
        """It computes now."""
        began = time.perf_counter()
        self._answer = self.step(row)
        self._took = time.perf_counter() - began

    def answer(self, wait: float) -> np.ndarray:
        """What it found; if that took longer than it is given, it is late."""
        assert self._answer is not None
        if self._took > wait:
            raise SoftwareFault(
                f"software '{self.contract.name}' answered after {1e3 * self._took:.3g} ms, {1e3 * wait:.3g} ms are "
                "permitted"
            )
        return self._answer


class InProcess(Immediate):
    """An object of this process with `begin(y)` and `step(t, y)`."""

    def __init__(self, software: Any) -> None:
        self.contract = Contract.of(software)
        self._software, self._layout = software, MeasurementLayout(())

    def agree(self, contract: Contract, answers: str) -> None:
        """Shapes are known from now on."""
        self.contract, self._layout = contract, MeasurementLayout(contract.reads)

    def begin(self, row: np.ndarray) -> np.ndarray | None:
        """Its `begin`; what it returns, if anything, are commands."""
        first = self._call("begin", self._layout.read(row))
        return None if first is None else flatten(self.contract, first)

    def step(self, row: np.ndarray) -> np.ndarray:
        """Its `step`."""
        return flatten(self.contract, self._call("step", float(row[0]), self._layout.read(row)))

    def _call(self, method: str, *arguments: Any) -> Any:
        try:
            return getattr(self._software, method)(*arguments)
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            raise SoftwareFault(f"software '{self.contract.name}' failed in {method}: {said}") from error


def flatten(contract: Contract, answer: Any) -> np.ndarray:
    """An answer by name as a row of numbers; whatever is wrong with it is said by name."""
    who = f"software '{contract.name}'"
    if not isinstance(answer, Mapping):
        raise SoftwareFault(f"{who} answered with {type(answer).__name__} in place of numbers by name")
    names = [field.name for field in contract.outputs]
    if missing := [name for name in names if name not in answer]:
        raise SoftwareFault(f"{who} left '{missing[0]}' out of its answer")
    if unknown := [name for name in answer if name not in names]:
        raise SoftwareFault(f"{who} answered '{unknown[0]}', which it has not announced ({', '.join(names)})")
    row, at = np.empty(contract.width), 0
    for field in contract.outputs:
        try:
            values = np.asarray(answer[field.name], dtype=float).reshape(-1)
        except (TypeError, ValueError):
            raise SoftwareFault(f"{who} answered no numbers as '{field.name}'") from None
        if values.size != field.size:
            raise SoftwareFault(f"{who} answered {values.size} numbers as '{field.name}', {field.size} are announced")
        row[at : at + field.size], at = values, at + field.size
    return require_finite(contract, row)


def require_finite(contract: Contract, row: np.ndarray) -> np.ndarray:
    """Refuse an answer with a number that is not finite."""
    if np.isfinite(row).all():
        return row
    bad, at = int(np.argmax(~np.isfinite(row))), 0
    for field in contract.outputs:
        if bad < at + field.size:
            which = f"'{field.name}'" + (f" ({field.parts[bad - at]})" if field.parts else "")
            raise SoftwareFault(f"software '{contract.name}' answered {row[bad]} as {which}")
        at += field.size
    raise AssertionError(bad)

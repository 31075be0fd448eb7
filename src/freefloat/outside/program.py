"""The program interface: every kind of software under test is called in the same way. And the checks of its answers."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from freefloat.outside.contract import Contract
from freefloat.outside.measurements import MeasurementLayout


class SoftwareFault(Exception):
    """A failure of software under test; the text names the software. A rehearsal then stops, with this reason."""


class Program(ABC):
    """Software under test as the package calls it: `agree`, `begin` once, then `ask` and `answer` in turn, and `end`.

    A row is time [s], all measured values, the instant of each measurement [s], and its validity (1 or 0).
    """

    contract: Contract

    @abstractmethod
    def accept_contract(self, contract: Contract, answers: str) -> None:
        """Pass the complete contract to the software: shapes and units of all it will read; `answers`: now or next."""

    def reject_contract(self, reason: str) -> None:
        """End software whose contract does not fit the experiment, and report the reason to it."""
        self.end(reason)

    @abstractmethod
    def begin(self, row: np.ndarray) -> np.ndarray | None:
        """Pass the measurements at the start; returns the first answer, or None where the software gives none."""

    @abstractmethod
    def send_measurements(self, row: np.ndarray) -> None:
        """Pass the measurements of a tick to the software."""

    @abstractmethod
    def receive_answer(self, wait: float) -> np.ndarray:
        """Answer to the last measurements: commands and messages in one row; waits at most `wait` [s]."""

    def end(self, reason: str) -> None:
        """Report to the software that no more measurements will come, and why; may be called twice."""
        return


class InProcessProgram(Program):
    """Base class of software that runs in this process: `step` returns the answer; too slow a step is a fault."""

    _answer: np.ndarray | None = None
    _took = 0.0

    @abstractmethod
    def step(self, row: np.ndarray) -> np.ndarray:
        """Answer of the software to the measurements of a tick."""

    def send_measurements(self, row: np.ndarray) -> None:
        """Compute the answer to these measurements, and measure how long that takes."""
        began = time.perf_counter()
        self._answer = self.step(row)
        self._took = time.perf_counter() - began

    def receive_answer(self, wait: float) -> np.ndarray:
        """The computed answer; an error if the computation took longer than `wait` [s]."""
        assert self._answer is not None
        if self._took > wait:
            raise SoftwareFault(
                f"software '{self.contract.name}' answered after {1e3 * self._took:.3g} ms, {1e3 * wait:.3g} ms are "
                "permitted"
            )
        return self._answer


class InProcess(InProcessProgram):
    """A Python object with `begin(y)` and `step(t, y)`, called in this process."""

    def __init__(self, software: Any) -> None:
        self.contract = Contract.of(software)
        self._software, self._layout = software, MeasurementLayout(())

    def accept_contract(self, contract: Contract, answers: str) -> None:
        """Store the complete contract: it gives the shapes of the measurements."""
        self.contract, self._layout = contract, MeasurementLayout(contract.reads)

    def begin(self, row: np.ndarray) -> np.ndarray | None:
        """Call `begin` of the object; a result, if there is one, is its first answer."""
        first = self._call("begin", self._layout.read(row))
        return None if first is None else flatten_answer(self.contract, first)

    def step(self, row: np.ndarray) -> np.ndarray:
        """Call `step` of the object with time [s] and measurements."""
        return flatten_answer(self.contract, self._call("step", float(row[0]), self._layout.read(row)))

    def _call(self, method: str, *arguments: Any) -> Any:
        try:
            return getattr(self._software, method)(*arguments)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise SoftwareFault(f"software '{self.contract.name}' failed in {method}: {reason}") from error


def flatten_answer(contract: Contract, answer: Any) -> np.ndarray:
    """Row of numbers of an answer that is given by name; a wrong answer raises an error that names the field."""
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
    """Return an answer unchanged; raise an error where one of its numbers is not finite."""
    if np.isfinite(row).all():
        return row
    bad, at = int(np.argmax(~np.isfinite(row))), 0
    for field in contract.outputs:
        if bad < at + field.size:
            which = f"'{field.name}'" + (f" ({field.parts[bad - at]})" if field.parts else "")
            raise SoftwareFault(f"software '{contract.name}' answered {row[bad]} as {which}")
        at += field.size
    raise AssertionError(bad)

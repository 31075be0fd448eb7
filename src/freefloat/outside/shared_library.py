"""Software in a shared library: three C functions, in process by ctypes. The same source serves behind a socket.

    const char *software_contract(void);                             the text of its contract, all shapes said
    int software_begin(const double *measurements);                  0, or what went wrong
    int software_step(const double *measurements, double *commands); 0, or what went wrong

Measurements are a row as on the wire: time, all values, when each was taken, whether each is valid.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

from freefloat.outside.contract import Contract, ContractError
from freefloat.outside.measurements import MeasurementLayout
from freefloat.outside.program import Immediate, SoftwareFault, require_finite

SOURCES = Path(__file__).parent / "c"  # freefloat_software.h, and serve.c, which puts the same functions on a socket


class SharedLibrary(Immediate):
    """Software of a shared library (.so)."""

    def __init__(self, path: str | Path) -> None:
        try:
            self._library = ctypes.CDLL(str(Path(path).resolve()))
            self._library.software_contract.restype = ctypes.c_char_p
            row = np.ctypeslib.ndpointer(float, flags="C_CONTIGUOUS")
            self._library.software_begin.argtypes = [row]
            self._library.software_step.argtypes = [row, row]
        except (OSError, AttributeError) as error:
            raise ContractError(f"{path} is no library of on-board software: {error}.") from None
        self.contract = Contract.parse(self._library.software_contract().decode(errors="replace"))
        if unsaid := [one.name for one in self.contract.reads if one.shape is None]:
            raise ContractError(f"{path} must say the shape of '{unsaid[0]}': its code counts on it.")
        self._width = MeasurementLayout(self.contract.reads).width

    def agree(self, contract: Contract, answers: str) -> None:
        """Its shapes are those it was compiled for."""
        self.contract = contract

    def begin(self, row: np.ndarray) -> np.ndarray | None:
        """Its `software_begin`."""
        self._require(self._library.software_begin(np.ascontiguousarray(row)), "software_begin")
        return None

    def step(self, row: np.ndarray) -> np.ndarray:
        """Its `software_step`."""
        assert row.shape == (self._width,)
        answer = np.zeros(self.contract.width)
        self._require(self._library.software_step(np.ascontiguousarray(row), answer), "software_step")
        return require_finite(self.contract, answer)

    def _require(self, status: int, what: str) -> None:
        if status:
            raise SoftwareFault(f"software '{self.contract.name}': {what} returned {status}")

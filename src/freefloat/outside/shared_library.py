"""Software in a shared library: three C functions, in process by ctypes. The same source serves behind a socket.

    const char *software_contract(void);                             the text of its contract, with all shapes
    int software_begin(const double *measurements);                  0, or the number of an error
    int software_step(const double *measurements, double *commands); 0, or the number of an error

Measurements are a row as on the wire: time, all values, when each was measured, whether each is valid.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

from freefloat.outside.contract import Contract, ContractError
from freefloat.outside.measurements import MeasurementLayout
from freefloat.outside.program import InProcessProgram, SoftwareFault, require_finite

SOURCES = Path(__file__).parent / "c"  # freefloat_software.h, and serve.c, which puts the same functions on a socket


class SharedLibrary(InProcessProgram):
    """Software in a shared library (.so), called in this process."""

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
        if unsaid := [field.name for field in self.contract.reads if field.shape is None]:
            raise ContractError(f"{path} must say the shape of '{unsaid[0]}': its code counts on it.")
        self._width = MeasurementLayout(self.contract.reads).width

    def accept_contract(self, contract: Contract, answers: str) -> None:
        """Store the complete contract; the shapes are those the library was compiled for."""
        self.contract = contract

    def begin(self, row: np.ndarray) -> np.ndarray | None:
        """Call `software_begin` with the measurements at the start."""
        self._require(self._library.software_begin(np.ascontiguousarray(row)), "software_begin")
        return None

    def step(self, row: np.ndarray) -> np.ndarray:
        """Commands and messages that `software_step` computes from the measurements of a tick."""
        assert row.shape == (self._width,)
        answer = np.zeros(self.contract.width)
        self._require(self._library.software_step(np.ascontiguousarray(row), answer), "software_step")
        return require_finite(self.contract, answer)

    def _require(self, status: int, what: str) -> None:
        if status:
            raise SoftwareFault(f"software '{self.contract.name}': {what} returned {status}")

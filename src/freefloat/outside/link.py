"""Software in a process of its own: it connects to a local socket, and is called through it."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from freefloat.outside.connection import SocketConnection, open_listener
from freefloat.outside.contract import Contract
from freefloat.outside.messages import Kind, Message, WireError
from freefloat.outside.program import Program, SoftwareFault, require_finite
from freefloat.outside.server import ADDRESS

_LOOK = 0.02  # [s] between two checks whether a process has connected
_FAREWELL = 0.5  # [s] that a process has to end by itself


class SoftwareLink(Program):
    """Listens at an address for software to connect; with `command` it also starts the process.

    Without an address it is a Unix socket in a folder of its own that only this user may enter, or TCP on this machine
    where there are none. In `command` the word {address} becomes the address, {path} the path of a Unix socket; the
    process also finds it in the environment variable FREEFLOAT_SOFTWARE.
    """

    def __init__(
        self, address: str = "", *, command: Sequence[str] = (), patience: float = 10.0, remote: bool = False
    ) -> None:
        own_folder = not address and hasattr(socket, "AF_UNIX")
        self._folder = Path(tempfile.mkdtemp(prefix="freefloat-")) if own_folder else None
        address = address or (f"unix:{self._folder}/software" if self._folder else "tcp:127.0.0.1:0")
        self._listener, self.address = open_listener(address, remote=remote)
        self._command, self._patience, self._owner = tuple(command), patience, os.getpid()
        self._line: SocketConnection | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._announced: Contract | None = None
        self._sequence = 0

    # ---- connecting

    @property
    def contract(self) -> Contract:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Contract that the software has announced; the first access waits until the software has connected."""
        if self._announced is None:
            self._announced = self._receive_contract()
        return self._announced

    def _receive_contract(self) -> Contract:
        self._start()
        self._line = SocketConnection(self._accept())
        hello = self._receive(Kind.HELLO, 0, self._patience, "did not announce itself")
        return Contract.parse(hello.text)

    def _start(self) -> None:
        if not self._command:
            return
        path = self.address.partition(":")[2]
        words = [word.replace("{address}", self.address).replace("{path}", path) for word in self._command]
        try:
            # In a session of its own: Ctrl-C goes to the simulation, which then sends END to the software.
            environment = {**os.environ, ADDRESS: self.address}
            self._process = subprocess.Popen(words, env=environment, start_new_session=True)
        except OSError as error:
            raise SoftwareFault(f"the software could not be started: {error}") from None

    def _accept(self) -> socket.socket:
        end = time.perf_counter() + self._patience
        self._listener.settimeout(_LOOK)
        while time.perf_counter() < end:
            try:
                return self._listener.accept()[0]
            except TimeoutError:
                if ending := self._ending(0.0):
                    raise SoftwareFault(f"the software did not connect: its process {ending}") from None
        raise SoftwareFault(f"no software connected to {self.address} within {self._patience:g} s")

    def reject_contract(self, reason: str) -> None:
        """Report to the software that its contract does not fit, and why, and close the connection."""
        self._send_text(Kind.REFUSED, reason)
        self.end("it was refused")

    def accept_contract(self, contract: Contract, answers: str) -> None:
        """Send the complete contract to the software."""
        self._announced = contract
        self._send(Kind.WELCOME, 0, f"{contract.text()}answers {answers}\n")

    # ---- running

    def begin(self, row: np.ndarray) -> np.ndarray | None:
        """Send the measurements at the start and wait until the software is ready; returns its first answer, if any."""
        self._send(Kind.BEGIN, 0, row)
        ready = self._receive(Kind.READY, 0, self._patience, "was not ready")
        return self._numbers(ready) if ready.body else None

    def send_measurements(self, row: np.ndarray) -> None:
        """Send measurements under the next sequence number."""
        self._sequence += 1
        self._send(Kind.STEP, self._sequence, row)

    def receive_answer(self, wait: float) -> np.ndarray:
        """Answer to the last measurements; any other message raises an error."""
        return self._numbers(self._receive(Kind.ANSWER, self._sequence, wait, "did not answer"))

    def end(self, reason: str) -> None:
        """Report the end, close the connection, and end a process that was started here."""
        self._send_text(Kind.END, reason)
        if self._line is not None:
            self._line.close()
        self._listener.close()
        if self._process is not None and self._owner == os.getpid():
            for stop in (lambda: None, self._process.terminate, self._process.kill):
                stop()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(_FAREWELL)
                    break
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    # ---- messages

    @property
    def _title(self) -> str:
        return f"software '{self._announced.name}'" if self._announced else "the software"

    def _send_text(self, kind: Kind, sentence: str) -> None:
        if self._line is not None:
            with contextlib.suppress(OSError):
                self._line.send(kind, 0, sentence, wait=1.0)

    def _send(self, kind: Kind, sequence: int, body: str | np.ndarray) -> None:
        assert self._line is not None
        try:
            self._line.send(kind, sequence, body, wait=self._patience)
        except TimeoutError:
            raise SoftwareFault(f"{self._title} takes no messages any more") from None
        except OSError as error:
            raise SoftwareFault(self._disconnection_text(error)) from None

    def _receive(self, kind: Kind, sequence: int, wait: float, silent: str) -> Message:
        assert self._line is not None
        try:
            message = self._line.receive(wait)
        except TimeoutError:
            within = f" within {1e3 * wait:g} ms" if wait else " until its next tick"
            raise SoftwareFault(f"{self._title} {silent}{within}") from None
        except WireError as error:
            raise SoftwareFault(f"{self._title} sent what is no message: {error}") from None
        except OSError as error:
            raise SoftwareFault(self._disconnection_text(error)) from None
        if message.kind is Kind.FAILED:
            reason = message.text[:300]
            raise SoftwareFault(reason if reason.startswith(self._title) else f"{self._title} says: {reason}")
        if message.kind is not kind:
            raise SoftwareFault(f"{self._title} sent {message.kind.name} in place of {kind.name}")
        if message.sequence != sequence:
            raise SoftwareFault(self._out_of_sequence(message.sequence, sequence))
        return message

    def _numbers(self, message: Message) -> np.ndarray:
        numbers, contract = message.numbers, self.contract
        if numbers.size != contract.width:
            raise SoftwareFault(f"{self._title} answered {numbers.size} numbers, {contract.width} are announced")
        return require_finite(contract, numbers)

    def _out_of_sequence(self, came: int, expected: int) -> str:
        if came < expected:
            return f"{self._title} repeated its answer {came}, or it came late: answer {expected} is due"
        return f"{self._title} answered out of sequence: {came} in place of {expected}"

    def _disconnection_text(self, error: OSError) -> str:
        return f"{self._title} is gone: " + (f"its process {e}" if (e := self._ending(0.5)) else str(error))

    def _ending(self, wait: float) -> str:
        """Text of how a process started here has ended; empty while it runs, and for a process started elsewhere."""
        if self._process is None or self._owner != os.getpid():
            return ""
        try:
            code = self._process.wait(wait)
        except subprocess.TimeoutExpired:
            return ""
        return f"ended with {f'signal {-code}' if code < 0 else f'status {code}'}"

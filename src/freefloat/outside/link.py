"""Software in a process of its own: it connects to a local socket of the world, and is asked there."""

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

from freefloat.outside.connection import Connection, listen
from freefloat.outside.contract import Contract
from freefloat.outside.messages import Kind, Message, WireError
from freefloat.outside.program import Program, SoftwareFault, require_finite
from freefloat.outside.server import ADDRESS

_LOOK = 0.02  # [s] between two looks whether somebody has come
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
        self._folder = Path(tempfile.mkdtemp(prefix="freefloat-")) if not address and _has_unix() else None
        address = address or (f"unix:{self._folder}/software" if self._folder else "tcp:127.0.0.1:0")
        self._listener, self.address = listen(address, remote=remote)
        self._command, self._patience, self._owner = tuple(command), patience, os.getpid()
        self._line: Connection | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._announced: Contract | None = None
        self._sequence = 0

    # ---- meeting

    @property
    def contract(self) -> Contract:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What the software has announced; the first look waits until it has connected."""
        if self._announced is None:
            self._announced = self._meet()
        return self._announced

    def _meet(self) -> Contract:
        self._start()
        self._line = Connection(self._accept())
        hello = self._receive(Kind.HELLO, 0, self._patience, "did not announce itself")
        return Contract.parse(hello.text)

    def _start(self) -> None:
        if not self._command:
            return
        path = self.address.partition(":")[2]
        words = [word.replace("{address}", self.address).replace("{path}", path) for word in self._command]
        try:
            # In a session of its own: Ctrl-C is for the flight, which then says that it is over.
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

    def refuse(self, reason: str) -> None:
        """Tell it that it does not fit, and why; and let it go."""
        self._say(Kind.REFUSED, reason)
        self.end("it was refused")

    def agree(self, contract: Contract, answers: str) -> None:
        """Tell it the whole contract."""
        self._announced = contract
        self._send(Kind.WELCOME, 0, f"{contract.text()}answers {answers}\n")

    # ---- working

    def begin(self, row: np.ndarray) -> np.ndarray | None:
        """Let it see the start."""
        self._send(Kind.BEGIN, 0, row)
        ready = self._receive(Kind.READY, 0, self._patience, "was not ready")
        return self._numbers(ready) if ready.body else None

    def ask(self, row: np.ndarray) -> None:
        """Send measurements under the next sequence number."""
        self._sequence += 1
        self._send(Kind.STEP, self._sequence, row)

    def answer(self, wait: float) -> np.ndarray:
        """Its answer to the last question; anything else that comes is a fault."""
        return self._numbers(self._receive(Kind.ANSWER, self._sequence, wait, "did not answer"))

    def end(self, reason: str) -> None:
        """Say so, close, and see to it that a process that was started here is gone."""
        self._say(Kind.END, reason)
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
    def _who(self) -> str:
        return f"software '{self._announced.name}'" if self._announced else "the software"

    def _say(self, kind: Kind, sentence: str) -> None:
        if self._line is not None:
            with contextlib.suppress(OSError):
                self._line.send(kind, 0, sentence, wait=1.0)

    def _send(self, kind: Kind, sequence: int, body: str | np.ndarray) -> None:
        assert self._line is not None
        try:
            self._line.send(kind, sequence, body, wait=self._patience)
        except TimeoutError:
            raise SoftwareFault(f"{self._who} takes no messages any more") from None
        except OSError as error:
            raise SoftwareFault(self._gone(error)) from None

    def _receive(self, kind: Kind, sequence: int, wait: float, silent: str) -> Message:
        assert self._line is not None
        try:
            message = self._line.receive(wait)
        except TimeoutError:
            within = f" within {1e3 * wait:g} ms" if wait else " until its next tick"
            raise SoftwareFault(f"{self._who} {silent}{within}") from None
        except WireError as error:
            raise SoftwareFault(f"{self._who} sent what is no message: {error}") from None
        except OSError as error:
            raise SoftwareFault(self._gone(error)) from None
        if message.kind is Kind.FAILED:
            said = message.text[:300]
            raise SoftwareFault(said if said.startswith(self._who) else f"{self._who} says: {said}")
        if message.kind is not kind:
            raise SoftwareFault(f"{self._who} sent {message.kind.name} in place of {kind.name}")
        if message.sequence != sequence:
            raise SoftwareFault(self._out_of_sequence(message.sequence, sequence))
        return message

    def _numbers(self, message: Message) -> np.ndarray:
        numbers, contract = message.numbers, self.contract
        if numbers.size != contract.width:
            raise SoftwareFault(f"{self._who} answered {numbers.size} numbers, {contract.width} are announced")
        return require_finite(contract, numbers)

    def _out_of_sequence(self, came: int, expected: int) -> str:
        if came < expected:
            return f"{self._who} repeated its answer {came}, or it came late: answer {expected} is due"
        return f"{self._who} answered out of sequence: {came} in place of {expected}"

    def _gone(self, error: OSError) -> str:
        return f"{self._who} is gone: " + (f"its process {e}" if (e := self._ending(0.5)) else str(error))

    def _ending(self, wait: float) -> str:
        """How a process that was started here has ended; empty where it has not, or nobody knows."""
        if self._process is None or self._owner != os.getpid():
            return ""
        try:
            code = self._process.wait(wait)
        except subprocess.TimeoutExpired:
            return ""
        return f"ended with {f'signal {-code}' if code < 0 else f'status {code}'}"


def _has_unix() -> bool:
    return hasattr(socket, "AF_UNIX")

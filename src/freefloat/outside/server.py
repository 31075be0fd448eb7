"""The software's side of the socket. A file that calls `serve(software)` is a complete program of flight software."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from freefloat.outside.connection import SocketConnection, make_socket
from freefloat.outside.contract import Contract, ContractError
from freefloat.outside.messages import Kind, Message
from freefloat.outside.program import InProcess, InProcessProgram, SoftwareFault

ADDRESS = "FREEFLOAT_SOFTWARE"  # environment variable: address for a process that the other side has started
_AGAIN = 0.02  # [s] between two attempts to connect


def serve(software: Any, address: str = "", *, patience: float = 30.0, remote: bool = False) -> str:
    """Connect to an address and answer its messages until END; returns the reason of the end.

    The default address is that of the environment variable FREEFLOAT_SOFTWARE. `patience`: time to connect in [s].
    """
    address = address or os.environ.get(ADDRESS, "")
    if not address:
        raise ContractError(f"Where to? Give an address, unix:/path or tcp:127.0.0.1:PORT, or set {ADDRESS}.")
    program = software if isinstance(software, InProcessProgram) else InProcess(software)
    line = connect(address, patience, remote=remote)
    try:
        line.send(Kind.HELLO, 0, program.contract.text())
        return _answer_messages(program, line)
    finally:
        line.close()


def connect(address: str, patience: float, *, remote: bool = False) -> SocketConnection:
    """A connection to an address; tried again until there is one, or until `patience` [s] has passed."""
    end = time.perf_counter() + patience
    while True:
        client, where = make_socket(address, remote=remote)
        try:
            client.connect(where)
            return SocketConnection(client)
        except OSError as error:
            client.close()
            if time.perf_counter() > end:
                raise ContractError(f"Nobody listens at {address}: {error}.") from None
        time.sleep(_AGAIN)


def _answer_messages(program: InProcessProgram, line: SocketConnection) -> str:
    """Answer messages until END; returns the reason of the end."""
    while True:
        message = line.receive(None)
        if message.kind is Kind.END:
            return message.text
        if message.kind is Kind.REFUSED:
            raise ContractError(message.text)
        try:
            handle_message(program, line, message)
        except SoftwareFault as fault:
            line.send(Kind.FAILED, message.sequence, str(fault))
            raise


def handle_message(program: InProcessProgram, line: SocketConnection, message: Message) -> None:
    """Do what a message asks for, and send the answer."""
    if message.kind is Kind.WELCOME:
        text, _, answers = message.text.rpartition("answers ")
        program.accept_contract(Contract.parse(text), answers.strip())
    elif message.kind is Kind.BEGIN:
        first = program.begin(message.numbers)
        line.send(Kind.READY, 0, np.zeros(0) if first is None else first)
    elif message.kind is Kind.STEP:
        program.send_measurements(message.numbers)
        line.send(Kind.ANSWER, message.sequence, program.receive_answer(np.inf))
    else:
        raise SoftwareFault(f"a message of kind {message.kind.name} came, which software does not take")

"""The side of the software: an object behind a socket. `serve(software)` in a file of its own is a whole program."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from freefloat.outside.connection import Connection, make_socket
from freefloat.outside.contract import Contract, ContractError
from freefloat.outside.messages import Kind, Message
from freefloat.outside.program import Immediate, InProcess, SoftwareFault

ADDRESS = "FREEFLOAT_SOFTWARE"  # where a process that was started by the other side finds its address
_AGAIN = 0.02  # [s] between two attempts to connect


def serve(software: Any, address: str = "", *, patience: float = 30.0, remote: bool = False) -> str:
    """Answer whoever listens at an address until it says that this is the end; why it ended.

    Without an address, that of the environment variable FREEFLOAT_SOFTWARE. `patience`: how long to try to connect [s].
    """
    address = address or os.environ.get(ADDRESS, "")
    if not address:
        raise ContractError(f"Where to? Give an address, unix:/path or tcp:127.0.0.1:PORT, or set {ADDRESS}.")
    program = software if isinstance(software, Immediate) else InProcess(software)
    line = connect(address, patience, remote=remote)
    try:
        line.send(Kind.HELLO, 0, program.contract.text())
        return _attend(program, line)
    finally:
        line.close()


def connect(address: str, patience: float, *, remote: bool = False) -> Connection:
    """A connection to whoever listens at an address, tried again until there is one or patience [s] ends."""
    end = time.perf_counter() + patience
    while True:
        made, where = make_socket(address, remote=remote)
        try:
            made.connect(where)
            return Connection(made)
        except OSError as error:
            made.close()
            if time.perf_counter() > end:
                raise ContractError(f"Nobody listens at {address}: {error}.") from None
        time.sleep(_AGAIN)


def _attend(program: Immediate, line: Connection) -> str:
    """Messages until the end."""
    while True:
        message = line.receive(None)
        if message.kind is Kind.END:
            return message.text
        if message.kind is Kind.REFUSED:
            raise ContractError(message.text)
        try:
            obey(program, line, message)
        except SoftwareFault as fault:
            line.send(Kind.FAILED, message.sequence, str(fault))
            raise


def obey(program: Immediate, line: Connection, message: Message) -> None:
    """Do what a message asks for, and answer."""
    if message.kind is Kind.WELCOME:
        text, _, answers = message.text.rpartition("answers ")
        program.agree(Contract.parse(text), answers.strip())
    elif message.kind is Kind.BEGIN:
        first = program.begin(message.numbers)
        line.send(Kind.READY, 0, np.zeros(0) if first is None else first)
    elif message.kind is Kind.STEP:
        program.ask(message.numbers)
        line.send(Kind.ANSWER, message.sequence, program.answer(np.inf))
    else:
        raise SoftwareFault(f"a message of kind {message.kind.name} came, which software does not take")

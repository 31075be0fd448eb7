"""Software that does one thing wrong at one of its ticks: misbehave.py ADDRESS FAULT TICK PERIOD."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from freefloat.outside.messages import Kind, encode
from freefloat.outside.program import InProcess
from freefloat.outside.server import connect, handle_message
from software.damper import Damper

ANSWER = np.zeros(7)


def die(line, number):
    os.kill(os.getpid(), signal.SIGKILL)


FAULTS = {
    "killed": die,
    "stopped": lambda line, number: os.kill(os.getpid(), signal.SIGSTOP),
    "sleeping": lambda line, number: time.sleep(60.0),
    "not a number": lambda line, number: line.send(Kind.ANSWER, number, np.full(7, np.nan)),
    "infinite": lambda line, number: line.send(Kind.ANSWER, number, np.full(7, np.inf)),
    "too short": lambda line, number: line.send(Kind.ANSWER, number, np.zeros(6)),
    "too long": lambda line, number: line.send(Kind.ANSWER, number, np.zeros(8)),
    "empty": lambda line, number: line.send(Kind.ANSWER, number, np.zeros(0)),
    "old sequence": lambda line, number: line.send(Kind.ANSWER, number - 1, ANSWER),
    "new sequence": lambda line, number: line.send(Kind.ANSWER, number + 1, ANSWER),
    "twice": lambda line, number: [line.send(Kind.ANSWER, number, ANSWER) for _ in range(2)],
    "another kind": lambda line, number: line.send(Kind.READY, number, ANSWER),
    "garbage": lambda line, number: line._socket.sendall(b"\x00\xff not a message, but quite a few bytes"),
    "half a message": lambda line, number: (line._socket.sendall(encode(Kind.ANSWER, number, ANSWER)[:40]), die(0, 0)),
    "another version": lambda line, number: line._socket.sendall(b"FFSW\x02\x00" + bytes(100)),
    "endless": lambda line, number: line._socket.sendall(b"FFSW\x01\x00\x07\x00" + bytes(8) + b"\xff" * 8),
    "closes": lambda line, number: line.close(),
    "says so": lambda line, number: line.send(Kind.FAILED, number, "the star tracker is blind"),
}


def main(address: str, fault: str, tick: int, period: float) -> None:
    Damper.period = period
    program, line = InProcess(Damper()), connect(address, 10.0)
    line.send(Kind.HELLO, 0, program.contract.text())
    while (message := line.receive(None)).kind is not Kind.END:
        if message.kind is Kind.STEP and message.sequence == tick:
            FAULTS[fault](line, tick)
            if fault != "twice":
                time.sleep(60.0)
        else:
            handle_message(program, line, message)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))

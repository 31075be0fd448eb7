"""How long an answer of on-board software takes: in process, and round trip through a local socket.

python benchmarks/software.py [--json] [--quick]

Seconds on the clock, the median of many; the other side is a process of its own on the same machine. The peer is the
same object in process.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import comparison
import numpy as np
from comparison import Row, row

import freefloat as ff
from freefloat.outside.contract import Contract
from freefloat.outside.measurements import MeasurementLayout
from freefloat.outside.program import InProcess, Program

SOFTWARE = """
class Echo:
    name, period, reads, commands = "echo", 0.1, ("base.rate", "joints.position"), {"base.wrench": ()}
    def begin(self, y): pass
    def step(self, t, y): return {"base.wrench": y["joints.position"][:6]}

software = Echo()
"""
CONTRACT = Contract.parse(
    "freefloat software 1\nname echo\nperiod 0.1\nreads base.rate 3\nreads joints.position 7\ngives base.wrench\n"
)


def median(program: Program, count: int) -> float:
    """Of the time from a question to its answer [s]."""
    question = np.arange(float(MeasurementLayout(CONTRACT.reads).width))
    program.accept_contract(CONTRACT, "now")
    program.begin(question)
    times = []
    for _ in range(count):
        began = time.perf_counter()
        program.send_measurements(question)
        program.receive_answer(10.0)
        times.append(time.perf_counter() - began)
    program.end("measured")
    return statistics.median(times)


def rows(quick: bool) -> Iterator[Row]:
    """In process, over a Unix socket, over TCP."""
    count, scope = (50 if quick else 5000), {}
    exec(SOFTWARE, scope)
    near = median(InProcess(scope["software"]), count)
    yield row("object", "answer", near)
    file = Path(tempfile.mkdtemp()) / "echo.py"
    file.write_text(SOFTWARE)
    for kind, address in (("unix", ""), ("tcp", "tcp:127.0.0.1:0")):
        command = (sys.executable, "-m", "freefloat", "software", str(file))
        link = ff.outside.SoftwareLink(address, command=command, patience=60.0)
        assert link.contract.name == "echo"
        yield row(kind, "answer", median(link, count), "in process", near)


if __name__ == "__main__":
    comparison.main(__doc__, rows)

"""Simulation: the pure functions of a system, the drivers around them, the record of a run and its audit."""

from freefloat.sim.audit import Audit
from freefloat.sim.run import Run, RunFailed
from freefloat.sim.simulate import simulate
from freefloat.sim.system import Inputs, Loop, Sampled, System, begin, derivative, sample, step

__all__ = [
    "Audit",
    "Inputs",
    "Loop",
    "Run",
    "RunFailed",
    "Sampled",
    "System",
    "begin",
    "derivative",
    "sample",
    "simulate",
    "step",
]

"""Simulation: the pure functions of a system, the drivers around them, the record of a run and its audit."""

from freefloat.sim.audit import Audit
from freefloat.sim.run import Run, RunFailed
from freefloat.sim.simulate import simulate
from freefloat.sim.system import Inputs, Sampled, System, SystemState, begin, derivative, sample, step

__all__ = [
    "Audit",
    "Inputs",
    "Run",
    "RunFailed",
    "Sampled",
    "System",
    "SystemState",
    "begin",
    "derivative",
    "sample",
    "simulate",
    "step",
]

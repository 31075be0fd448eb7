"""Simulation: the pure functions of a system, the drivers around them, the record of a run and its audit."""

from freefloat.sim.accuracy import RunAccuracy
from freefloat.sim.audit import Audit
from freefloat.sim.balance import derivative
from freefloat.sim.check_software import check_software
from freefloat.sim.experiment import Experiment
from freefloat.sim.loop import step
from freefloat.sim.run import Run, RunFailed
from freefloat.sim.simulate import StartWarning, continue_run, simulate
from freefloat.sim.starting import begin
from freefloat.sim.step_signals import Steps
from freefloat.sim.stepper import Stepper, stepper
from freefloat.sim.system import Inputs, System, SystemState, assemble

__all__ = [
    "Audit",
    "Experiment",
    "Inputs",
    "Run",
    "RunAccuracy",
    "RunFailed",
    "StartWarning",
    "Stepper",
    "Steps",
    "System",
    "SystemState",
    "assemble",
    "begin",
    "check_software",
    "continue_run",
    "derivative",
    "simulate",
    "step",
    "stepper",
]

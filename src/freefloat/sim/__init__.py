"""Simulation: the pure functions of a system, the drivers around them, the record of a run and its audit."""

from freefloat.sim.audit.accuracy import RunAccuracy
from freefloat.sim.audit.audit import Audit
from freefloat.sim.check_software import check_software
from freefloat.sim.experiment import Experiment
from freefloat.sim.kernel import step
from freefloat.sim.motion.accelerations import derivative
from freefloat.sim.record.run import Run, RunFailed
from freefloat.sim.run_driver import StartWarning
from freefloat.sim.simulate import continue_run, simulate
from freefloat.sim.start import begin
from freefloat.sim.stepper import Stepper, stepper
from freefloat.sim.system.input_signals import Steps
from freefloat.sim.system.system import Inputs, System, SystemState, assemble

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

"""From the rows of a rehearsal to its run: the experiment simulated again, with the logged wrenches as its inputs.

The same inputs give the same simulation, bit for bit: so the log of a rehearsal is enough to compute its run, also
after the process that made it was killed.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from freefloat.hil.loop.rows import RowLayout
from freefloat.hil.record.cell_channels import cell_channels
from freefloat.hil.record.facts import rehearsal_figures, rehearsal_tables
from freefloat.hil.record.log import Log
from freefloat.hil.rehearsal import Rehearsal
from freefloat.outside.binding import BoundSoftware, bind_software, recorded_software
from freefloat.outside.runner import answer_field
from freefloat.sim.experiment import Experiment
from freefloat.sim.record.run import COMPLETED, STOPPED, Run
from freefloat.sim.rollout import grid
from freefloat.sim.simulate import run_of_records, states_until
from freefloat.sim.system.sensed_motion import sensed_port


def run_of_log(rehearsal: Rehearsal, log: Log, status: str = "") -> Run:
    """The audited run of a rehearsal as far as its log reaches, with the channels of the cell.

    `rehearsal` must be the one that made the log; `status` is how it ended, where that is known.
    """
    layout, rows, dt = log.layout, log.rows, rehearsal.experiment.dt
    ticks = round(float(log.about["cycle"]) / dt)  # steps to a cycle
    if not len(rows):
        raise ValueError("The rehearsal ended before its first cycle: there is nothing to make a run of.")
    bound_experiment, software = bind_software(rehearsal.experiment, recorded_software(log.about.get("software", ())))
    flown = dataclasses.replace(rehearsal, experiment=bound_experiment)
    experiment = _with_answers(_with_measurements(flown, layout, rows, ticks), software, layout, rows, ticks)
    total = grid(experiment.duration, experiment.dt, experiment.record_dt).steps
    reached = min(ticks * (len(rows) - 1), total)
    status = status or (COMPLETED if reached == total else f"{STOPPED}{reached * dt:g} s: the log ends")
    run = run_of_records(experiment, states_until(experiment, reached, total), status)
    at = np.round(run.recorded["time"].values / dt).astype(int) // ticks
    arrays, coordinates = cell_channels(rehearsal, layout, rows[np.minimum(at, len(rows) - 1)], log.about["robots"])
    description = dataclasses.replace(
        run.description, tables=rehearsal_tables(rehearsal, log, status), figures=rehearsal_figures(rehearsal)
    )
    return dataclasses.replace(
        run, recorded=run.recorded.with_arrays(arrays, coords=coordinates), description=description
    )


def _with_measurements(rehearsal: Rehearsal, layout: RowLayout, rows: np.ndarray, ticks: int) -> Experiment:
    """The experiment with the logged wrenches and motions at its ports; zeros after the last cycle."""
    experiment = rehearsal.in_facility
    steps = grid(experiment.duration, experiment.dt, experiment.record_dt).steps
    inputs = dict(experiment.inputs)
    ports = [(assignment.port, f"{assignment.robot}.felt") for assignment in rehearsal.carried if assignment.port]
    ports += [
        (sensed_port(experiment.world, rehearsal.craft_number(assignment.craft)), f"{assignment.robot}.seen")
        for assignment in rehearsal.carried
    ]
    for port, field in ports:
        if field in layout.places:  # logs of older versions have no measured motion
            logged = np.repeat(layout.column(rows, field), ticks, axis=0)[:steps]
            sound = np.where(np.isfinite(logged), logged, 0.0)  # a faulty last reading acted on nothing
            inputs[port] = np.concatenate([sound, np.zeros((steps - len(logged), logged.shape[1]))])
    return dataclasses.replace(experiment, inputs=inputs)


def _with_answers(
    experiment: Experiment, software: tuple[BoundSoftware, ...], layout: RowLayout, rows: np.ndarray, ticks: int
) -> Experiment:
    """The experiment with the logged answers of external software in each cycle."""
    steps = grid(experiment.duration, experiment.dt, experiment.record_dt).steps
    inputs = dict(experiment.inputs)
    for bound in software:
        logged = np.repeat(layout.column(rows, answer_field(bound.port))[1:], ticks, axis=0)[:steps]
        inputs[bound.port] = np.concatenate([logged, np.zeros((steps - len(logged), logged.shape[1]))])
    return dataclasses.replace(experiment, inputs=inputs)

"""From the rows of a rehearsal to its run: the experiment again, with the wrenches that were felt as its inputs.

A world that is given the same inputs goes the same way, bit for bit: so the log of a rehearsal is enough to have its
run, also after the process that made it was killed.
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
from freefloat.sim.system.sensed_motion import seen_port


def run_of_log(rehearsal: Rehearsal, log: Log, status: str = "") -> Run:
    """The audited run of a rehearsal as far as its log reaches, with what the cell did.

    `rehearsal` must be the one that made the log; `status` says how it ended, where that is known.
    """
    layout, rows, dt = log.layout, log.rows, rehearsal.experiment.dt
    ticks = round(float(log.about["cycle"]) / dt)  # steps to a cycle
    if not len(rows):
        raise ValueError("The rehearsal ended before its first cycle: there is nothing to make a run of.")
    seated, software = bind_software(rehearsal.experiment, recorded_software(log.about.get("software", ())))
    flown = dataclasses.replace(rehearsal, experiment=seated)
    experiment = _with_answers(_with_measured(flown, layout, rows, ticks), software, layout, rows, ticks)
    total = grid(experiment.duration, experiment.dt, experiment.record_dt).steps
    reached = min(ticks * (len(rows) - 1), total)
    status = status or (COMPLETED if reached == total else f"{STOPPED}{reached * dt:g} s: the log ends")
    run = run_of_records(experiment, states_until(experiment, reached, total), status)
    at = np.round(run.recorded["time"].values / dt).astype(int) // ticks
    arrays, coordinates = cell_channels(rehearsal, layout, rows[np.minimum(at, len(rows) - 1)], log.about["robots"])
    told = dataclasses.replace(
        run.description, tables=rehearsal_tables(rehearsal, log, status), figures=rehearsal_figures(rehearsal)
    )
    return dataclasses.replace(run, recorded=run.recorded.joined(arrays, coords=coordinates), description=told)


def _with_measured(rehearsal: Rehearsal, layout: RowLayout, rows: np.ndarray, ticks: int) -> Experiment:
    """The experiment with what was felt at its ports, and seen; nothing after the last cycle."""
    experiment = rehearsal.in_facility
    steps = grid(experiment.duration, experiment.dt, experiment.record_dt).steps
    inputs = dict(experiment.inputs)
    ports = [(one.port, f"{one.robot}.felt") for one in rehearsal.carried if one.port]
    ports += [
        (seen_port(experiment.world, rehearsal.craft_number(one.craft)), f"{one.robot}.seen")
        for one in rehearsal.carried
    ]
    for port, field in ports:
        if field in layout.places:  # a log from before anything was seen has none
            given = np.repeat(layout.column(rows, field), ticks, axis=0)[:steps]
            sound = np.where(np.isfinite(given), given, 0.0)  # a faulty last reading acted on nothing
            inputs[port] = np.concatenate([sound, np.zeros((steps - len(given), given.shape[1]))])
    return dataclasses.replace(experiment, inputs=inputs)


def _with_answers(
    experiment: Experiment, software: tuple[BoundSoftware, ...], layout: RowLayout, rows: np.ndarray, ticks: int
) -> Experiment:
    """The experiment with what software outside answered in each cycle."""
    steps = grid(experiment.duration, experiment.dt, experiment.record_dt).steps
    inputs = dict(experiment.inputs)
    for one in software:
        given = np.repeat(layout.column(rows, answer_field(one.port))[1:], ticks, axis=0)[:steps]
        inputs[one.port] = np.concatenate([given, np.zeros((steps - len(given), given.shape[1]))])
    return dataclasses.replace(experiment, inputs=inputs)

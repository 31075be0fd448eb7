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
from freefloat.outside.binding import bind_software, recorded_software
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
    answers = {bound.port: layout.column(rows, answer_field(bound.port))[1:] for bound in software}
    experiment = _with_inputs(flown.in_facility, _measurements(flown, layout, rows) | answers, ticks)
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


def _measurements(rehearsal: Rehearsal, layout: RowLayout, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Logged wrenches and motions by port; logs of older versions have no measured motion."""
    ports = [(assignment.port, f"{assignment.robot}.felt") for assignment in rehearsal.carried if assignment.port]
    ports += [
        (sensed_port(rehearsal.experiment.world, rehearsal.craft_number(assignment.craft)), f"{assignment.robot}.seen")
        for assignment in rehearsal.carried
    ]
    logged = {port: layout.column(rows, field) for port, field in ports if field in layout.places}
    # A faulty last reading acted on nothing.
    return {port: np.where(np.isfinite(values), values, 0.0) for port, values in logged.items()}


def _with_inputs(experiment: Experiment, logged: dict[str, np.ndarray], ticks: int) -> Experiment:
    """The experiment with a row for each cycle at its ports; zeros after the last cycle."""
    steps = grid(experiment.duration, experiment.dt, experiment.record_dt).steps
    inputs = dict(experiment.inputs)
    for port, values in logged.items():
        held = np.repeat(values, ticks, axis=0)[:steps]
        inputs[port] = np.concatenate([held, np.zeros((steps - len(held), held.shape[1]))])
    return dataclasses.replace(experiment, inputs=inputs)

"""A healthy rehearsal with a contact, everything that it is judged by, and ways to plant a defect in any of it."""

import dataclasses
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

import freefloat as ff
from freefloat.hil import DelayCompensation, ExpectedContact, Passivity, RobotDescription, read_log, rehearse
from freefloat.hil.cell import IdealCell
from freefloat.hil.judging import Evidence
from freefloat.values.claims import OWN_BOUND, Claim
from support.rehearsing import CLIENT, ROBOTS, SERVICER, cell_contact, experiment, rehearsal, sampled_contact, start

STIFFNESS, DAMPING, DELAY = 2e4, 400.0, 8e-3  # [N/m], [N s/m], [s]
DURATION = 0.8  # [s]
SERVICER_ROBOT, CLIENT_ROBOT = ROBOTS


class JointedCell(IdealCell):
    """An ideal cell whose robots have two joints that swing to and fro, far from their limits."""

    def _make_reading(self, cycle, readings):
        t = cycle * self.cycle
        joints = {"joints": np.array([0.2 * np.sin(t), 0.1]), "joint_rates": np.array([0.2 * np.cos(t), 0.0])}
        return super()._make_reading(
            cycle, {name: dataclasses.replace(one, **joints) for name, one in readings.items()}
        )


def jointed_cell(delay=DELAY, stiffness=STIFFNESS):
    limits = [np.full(2, x) for x in (-1.0, 1.0, 1.0, 5.0)]  # [rad], [rad], [rad/s], [rad/s2]
    robots = [RobotDescription(name, ("a1", "a2"), *limits, X_MW=ff.Pose()) for name in ROBOTS]
    return JointedCell(robots, cell_contact(stiffness, DAMPING, both=True) if stiffness else None, delay=delay)


def state():
    return start(gap=0.005, spin=(0.01, 0.04, 0.02))


def contact_rehearsal(**options):
    made = experiment(duration=DURATION, state=state())
    usual = {"passivity": Passivity(), "contact": ExpectedContact(STIFFNESS, DAMPING)}
    return rehearsal(made, **usual | {"compensation": DelayCompensation()} | options)


def rehearsed(made, facility, **options):
    """What a rehearsal is judged by."""
    path = Path(tempfile.mkdtemp()) / "cycles.log"
    run = rehearse(made, facility, log=path)
    return Evidence(made, run, read_log(path), made.experiment.world, **{"simulated": simulated()} | options)


@cache
def simulated():
    """The same contact in orbit, sampled as the cell samples it."""
    parts = sampled_contact(STIFFNESS, DAMPING, 1e-3)
    return ff.simulate(experiment(duration=DURATION, state=state(), parts=parts))


@cache
def healthy():
    claim = Claim("closing speed before the contact", "below", 0.06, 0.05, "m/s", OWN_BOUND)
    return rehearsed(contact_rehearsal(), jointed_cell(), claims=(claim,))


# ---- planting


def with_run(evidence, **fields):
    return dataclasses.replace(evidence, run=dataclasses.replace(evidence.run, **fields))


def with_log(evidence, field, change, **about):
    """The log with one field of its rows (n, width) changed, or what it says of itself."""
    log = evidence.log
    rows = log.rows.copy()
    if field:
        rows[:, log.layout.places[field]] = change(rows[:, log.layout.places[field]])
    return dataclasses.replace(evidence, log=dataclasses.replace(log, rows=rows, about=log.about | about))


def with_simulated(evidence, channel, change):
    run = evidence.simulated
    array = run.recorded[channel]
    recorded = run.recorded.with_arrays({channel: (array.dims, change(array.values), array.attrs)})
    return dataclasses.replace(evidence, simulated=dataclasses.replace(run, recorded=recorded))


def with_declared(evidence, mass=1.0, inertia=(1.0, 1.0, 1.0)):
    """Another client declared: its mass, and its moments about x, y, z, over those that were flown."""
    flown = np.asarray(CLIENT.bodies[0].inertia)
    factors = np.sqrt(np.asarray(inertia))
    client = ff.Spacecraft.from_base(
        "client", mass=mass * float(CLIENT.bodies[0].mass), inertia=flown * factors[:, None] * factors
    )
    return dataclasses.replace(evidence, declared=ff.World(servicer=SERVICER, client=client))

"""The servicer of `rehearsing` grasps its client: by the world's own connection, or by the gripper of a cell."""

import numpy as np

import freefloat as ff
from freefloat.hil import Grasp
from freefloat.hil.cell import Gripper, IdealCell, IdealHold, ideal_robot
from support.rehearsing import FACE, PORTS, ROBOTS, TIP, WORLD, rehearsal, start

AT = 0.02  # [s], when the grasp is asked for
REACH = (10.0, 4.0)  # [m, rad]: whatever is there
GRASP = Grasp("grasp", ROBOTS[0])


def grasp_experiment(duration=1.0, dt=1e-3, *, software=(), state=None, connection=None, **options):
    """Both near each other; the connection is asked for at a time."""
    world = WORLD.connection("grasp", "servicer.tip", "client.base", **{"reach": REACH} | (connection or {}))
    parts = software or (ff.control.TimedGrasp("grasp", at=AT, on="servicer", period=dt),)
    state = start(gap=0.0, approach=0.01) if state is None else state
    return ff.Experiment.of(world, *parts, duration=duration, dt=dt, state=state, inputs=PORTS, **options)


def grasp_rehearsal(made, **options):
    return rehearsal(made, **{"grasps": (GRASP,)} | options)


def holding_cell(gripper=None, **options):
    """Two ideal robots; the first has a gripper at the tip and, where it is given, feels what it holds."""
    hand, ring = ff.Pose((TIP, 0.0, 0.0)), ff.Pose((FACE, 0.0, 0.0))
    hold = None if gripper is None else IdealHold(gripper, ROBOTS[0], hand, ROBOTS[1], ring)
    return IdealCell([ideal_robot(ROBOTS[0], gripper=True), ROBOTS[1]], hold, **options)


def apart(run):
    """Way of the tip from where it was when it was grasped, along the client's x [m], by the simulated motion."""
    p_s, p_c = (run.values(f"{name}.base.position") for name in ("servicer", "client"))
    first = int(np.argmax(run.values("connection.grasp") > 0.0))
    along = (p_s - p_c)[:, 0]
    return along - along[first]


__all__ = ["AT", "GRASP", "REACH", "Gripper", "apart", "grasp_experiment", "grasp_rehearsal", "holding_cell"]

"""On-board software that follows a plan relative to the client, by feed-forward and feedback."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.control import TimedGrasp, measured_state
from freefloat.dynamics import composite_inertia, inverse_dynamics
from freefloat.dynamics.nominal_motion import NominalMotion, unforced_twist_rate
from freefloat.dynamics.relative import nominal_share, nominal_share_rate
from freefloat.hil import DelayCompensation, Grasp, Rehearsal, RobotAssignment
from freefloat.model import (
    BaseWrench,
    Clearance,
    Clock,
    JointTorques,
    Measurements,
    Software,
    Spacecraft,
    State,
    Truth,
    World,
)
from freefloat.planning.charts import PoseChart, RobotChart, relative_motion
from freefloat.planning.covers import with_boxed_drums
from freefloat.planning.curves import Curve
from freefloat.planning.plan import Plan
from freefloat.planning.task import CaptureTask
from freefloat.sim import Experiment
from freefloat.spatial import Pose, angular, linear, six
from freefloat.values import record
from freefloat.values.arrays import Numeric, Vector
from freefloat.values.channels import Channel
from freefloat.values.checks import require_bounds, require_number
from freefloat.values.errors import ModelError

_GRASP = "grasp"  # the connection that a gripper holds
_LEVER = 0.5  # [m]: converts an angle to a length in the reported error


@record
class PlanFlight(Software[tuple[()]]):
    """Follows a plan: forces for the accelerations of the plan, and of a spring and a damper at every coordinate.

    The client's motion is measured, and predicted as free motion. Forces are those of inverse dynamics, so that with
    exact measurements and an exact model feedback only corrects the start.
    """

    craft: Spacecraft  # model in the software
    client: Spacecraft
    chart: PoseChart | RobotChart
    curve: Curve
    bandwidth: Numeric | float = 1.0  # of the base, critically damped [rad/s]
    joint_bandwidth: Numeric | float = 4.0  # of the joints [rad/s]

    def __post_init__(self) -> None:
        require_bounds(self, {"bandwidth": "rad/s", "joint_bandwidth": "rad/s"}, above=0.0)

    @property
    def fastest_rate(self) -> Numeric | float:
        """Bandwidth of the joint loops, the fastest ones [rad/s]."""
        return self.joint_bandwidth

    def command(self, memory: tuple[()], y: Measurements, clock: Clock) -> tuple[BaseWrench, JointTorques]:
        """Wrench of the thrusters and torques of the joints."""
        force = self.force(y, clock)
        return BaseWrench(force[:6]), JointTorques(self.craft.layout.moving_joints, force[6:])

    def force(self, y: Measurements, clock: Clock) -> Vector:
        """Generalised force (nv) [N, N m]."""
        state = measured_state(self.craft, y)
        planned, vdot = self.planned_motion(y, clock)
        X_BW = state.X_NB.inverse() @ planned.X_NB  # W: where the base should be
        w, u = self.bandwidth, self.joint_bandwidth
        on_base = X_BW.twist_to_A(vdot[:6]) + 2.0 * w * (X_BW.twist_to_A(planned.V_NB) - state.V_NB) + w**2 * X_BW.log()
        on_joints = vdot[6:] + 2.0 * u * (planned.v[6:] - state.v[6:]) + u**2 * (planned.q - state.q)
        return inverse_dynamics(self.craft, state.q, state.v, jnp.concatenate([on_base, on_joints]))

    def planned_motion(self, y: Measurements, clock: Clock) -> tuple[State, Vector]:
        """Planned state in orbit at this time, and its acceleration (nv)."""
        twist = six(y["client.base.velocity"], y["client.base.rate"])
        body = composite_inertia(self.client, np.zeros(0))
        p_NT, quat_NT = y["client.base.position"], y["client.base.attitude"]
        Z = NominalMotion(p_NT, quat_NT, twist, unforced_twist_rate(body, twist))
        numbers, rates, accelerations = self.curve.at(clock.t)
        k = self.chart.count
        X_TB, V_TB, Vdot_TB = relative_motion(self.chart, numbers[:k], rates[:k], accelerations[:k])
        relative = State(X_TB.p, X_TB.quaternion, numbers[k:], jnp.concatenate([V_TB, rates[k:]]))
        X_NB = Pose.from_quaternion(jnp.asarray(quat_NT), jnp.asarray(p_NT)) @ X_TB
        v = relative.v.at[:6].add(nominal_share(Z, relative))
        vdot = jnp.concatenate([Vdot_TB + nominal_share_rate(Z, relative), accelerations[k:]])
        return State(X_NB.p, X_NB.quaternion, relative.q, v), vdot

    def channels(self) -> tuple[Channel, ...]:
        """Channels of the commanded force and torque, and of the distance from the plan."""
        xyz = ("x", "y", "z")
        return (
            Channel("flight.force", "Force of the thrusters", "N", "base", "axis", xyz),
            Channel("flight.torque", "Torque of the thrusters", "N m", "base", "axis", xyz),
            Channel("flight.error", f"Base from the plan, a radian counted as {_LEVER:g} m", "m"),
        )

    def observe(self, memory: tuple[()], y: Measurements, clock: Clock, truth: Truth) -> tuple[Numeric, ...]:
        """Values of these channels."""
        force = self.force(y, clock)
        away = (truth.state.X_NB.inverse() @ self.planned_motion(y, clock)[0].X_NB).log()
        size = jnp.sqrt(linear(away) @ linear(away) + _LEVER**2 * (angular(away) @ angular(away)))
        return linear(force[:6]), angular(force[:6]), size


def flight_experiment(
    task: CaptureTask, plan: Plan, *, dt: float = 0.01, watched: bool = True, software: PlanFlight | None = None
) -> Experiment:
    """The plan as an experiment: both spacecraft at their start, software on the servicer, and watched clearances."""
    software = software or PlanFlight(task.servicer, task.client, plan.chart, plan.curve, on="servicer")
    bodies = [name for name in task.servicer.body_names if name not in task.hand_bodies]
    pairs = tuple((f"servicer.{name}", "client.base") for name in bodies)
    client = with_boxed_drums(task.client)
    return Experiment.of(
        World(servicer=task.servicer, client=client),
        software,
        *([Clearance(pairs=pairs)] if watched else []),
        state={"servicer": plan.start, "client": plan.client_start},
        duration=plan.duration,
        dt=dt,
        record_dt=max(dt, round(0.1 / dt) * dt),
    )


def flight_rehearsal(task: CaptureTask, plan: Plan, *, dt: float = 4e-3, hold: float = 0.0) -> Rehearsal:
    """The plan as a rehearsal in the cell it was planned for: robots carry both bases, the arm follows its joints.

    With `hold` [s] the gripper closes on the ring at the plan's end and holds it that long. Its wrench is measured at
    the client's wrist, and acts on the servicer's tool with the opposite sign. The cell itself watches clearances.
    """
    if task.cell is None:
        raise ModelError("The task was planned for no cell: give CaptureTask a cell, CellRoom.of(...), and plan again.")
    require_number("hold", hold, "s", least=0.0)
    ring, tool = f"client.{task.ring}.wrench", f"servicer.{task.tool}.wrench"
    arm = task.servicer.layout.moving_joints
    return Rehearsal(
        _grasping_experiment(task, plan, dt, hold),
        carried=(
            RobotAssignment("client", "client", ring),
            RobotAssignment("servicer", "servicer", tool, reaction_of="client", arm=arm),
        ),
        placement=task.cell.X_FZ,
        nominal="client",
        compensation=DelayCompensation(measured=True),
        grasps=(Grasp(_GRASP, "servicer"),),
    )


def _grasping_experiment(task: CaptureTask, plan: Plan, dt: float, hold: float) -> Experiment:
    """Experiment that follows the plan and then holds, with input ports for the wrenches that the facility measures."""
    world = World(servicer=task.servicer, client=task.client)
    return Experiment.of(
        world.connection(_GRASP, f"servicer.{task.tool}", f"client.{task.ring}"),
        PlanFlight(task.servicer, task.client, plan.chart, plan.curve, on="servicer"),
        *([TimedGrasp(_GRASP, at=plan.duration, on="servicer", period=dt)] if hold else []),
        state={"servicer": plan.start, "client": plan.client_start},
        duration=plan.duration + hold,
        dt=dt,
        record_dt=max(dt, round(0.1 / dt) * dt),
        inputs={f"client.{task.ring}.wrench": np.zeros(6), f"servicer.{task.tool}.wrench": np.zeros(6)},
    )

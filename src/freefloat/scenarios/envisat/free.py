"""Envisat tumbles, a servicer floats before it, no force acts: the paper's verification of its relative dynamics.

Both start co-rotating, joints free. In the cell two robots make the motion relative to Envisat's own, so that Envisat's
robot stands still; in the absolute formulation, for comparison, they make all of it and run out of room.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from freefloat.scenarios.rehearsed import RehearsedScenario
from freefloat.scenarios.settings import NotNegative, Positive, Seconds, Unit
from freefloat.sim.record.description import Figure

if TYPE_CHECKING:
    from freefloat.hil import Rehearsal
    from freefloat.hil.cell import VirtualCell
    from freefloat.hil.judging import Acceptance
    from freefloat.sim import Experiment, Run
    from freefloat.values.claims import Claim


@dataclass(frozen=True)
class EnvisatFree(RehearsedScenario):
    """Envisat tumbles freely before an uncontrolled servicer, in orbit and relative to its own motion in a cell."""

    name = "envisat-free"
    title = "Envisat: free motion in orbit and in a cell of two robots"
    source = "Relative dynamics for hardware-in-the-loop simulation of on-orbit missions, figures 8 and 9"
    note = (
        "Numbers of the servicer, the cell's layout and its robots' servos are assumed: the paper prints none. Nothing "
        "touches, so no wrist sensor is used. Claims of the cell come from a rehearsal in lockstep."
    )
    figures = (
        Figure("servicer.base.position", title="Servicer, inertial"),
        Figure("servicer.base.roll_pitch_yaw", "deg", title="Rotation of the servicer"),
        Figure("client.base.rate", "deg/s", title="Rate of Envisat, its own axes"),
        Figure("servicer.joints.position", "deg", title="Joints, free"),
    )

    spin_deg_s: Annotated[float, Unit("deg/s")] = -1.0  # of Envisat about its y axis
    formulation: Literal["relative", "absolute"] = "relative"  # how the robots of the cell make the motion
    bandwidth_hz: Annotated[Positive, Unit("Hz")] = 10.0  # of the robots' servos
    delay_ms: Annotated[NotNegative, Unit("ms")] = 8.0  # of the robots' controllers
    duration: Seconds = 15.0
    dt: Seconds = 0.004  # also a cycle of the cell

    @classmethod
    def variants(cls) -> Mapping[str, EnvisatFree]:
        """Variants: the paper's verification; the spin of its capture; and that spin in the absolute formulation."""
        fast = cls(spin_deg_s=-2.5, duration=14.0)
        return {
            "paper": cls(),
            "capture-spin": fast,
            "absolute": replace(fast, formulation="absolute"),
        }

    def build(self) -> Experiment:
        """Experiment with two spacecraft in orbit and no forces."""
        from freefloat.library import envisat, envisat_start, servicer, servicer_start
        from freefloat.model import World
        from freefloat.sim import Experiment

        client = envisat_start(spin_deg_s=self.spin_deg_s)
        return Experiment.of(
            World(servicer=servicer(), client=envisat()),
            state={"servicer": servicer_start(client), "client": client},
            duration=self.duration,
            dt=self.dt,
            record_dt=5 * self.dt,
        )

    def rehearsal(self) -> Rehearsal:
        """Rehearsal: robots carry base frames, the servicer's with the arm; their delay is measured and compensated."""
        from freefloat.hil import DelayCompensation, Rehearsal, RobotAssignment, SensorCheck
        from freefloat.hil.cell import envisat_start

        experiment = self.build()
        arm = experiment.world.craft("servicer").layout.moving_joints
        return Rehearsal(
            experiment,
            carried=(RobotAssignment("client", "client"), RobotAssignment("servicer", "servicer", arm=arm)),
            placement=envisat_start()["client"],
            formulation=self.formulation,
            nominal="client",
            compensation=DelayCompensation(measured=True),
            passivity=None,  # nothing touches
            sensor_check=SensorCheck(),
            grasp_point="client.ring",
        )

    def facility(self) -> VirtualCell:
        """Virtual cell: two KR120-class robots face each other."""
        from freefloat.hil.cell import CellSettings, ServoSettings, envisat_cell

        servo = ServoSettings(lag="second", bandwidth=self.bandwidth_hz, delay=1e-3 * self.delay_ms)
        # The arm follows by a position loop of its own [N m/rad, N m s/rad], in addition to the commanded torques.
        return envisat_cell(CellSettings(cycle=self.dt, servo=servo, arm_stiffness=500.0, arm_damping=20.0))

    def acceptance(self) -> Acceptance:
        """Limits of a go: the paper's largest error of its verification, of both robots together."""
        from freefloat.hil.judging import Acceptance

        return Acceptance(relative_position=1e-3, relative_angle=2e-3, given_by=f"scenario {self.name}, the paper")

    def claims(self, variant: str, run: Run, others: Mapping[str, Run]) -> list[Claim]:
        """Claims of the motion in orbit, relative to Envisat, and in the virtual cell."""
        from freefloat.scenarios.envisat.free_claims import absolute_claims, cell_claims, motion_claims

        if self.formulation == "absolute":
            return absolute_claims(self)
        return [*motion_claims(self, run), *cell_claims(self, run)]

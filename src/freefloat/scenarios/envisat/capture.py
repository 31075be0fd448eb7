"""A servicer captures tumbling Envisat: synchronise, approach, grasp, rigidise; in orbit and in a cell.

The on-board software is compliant: joint torques and thrust act on base and arm like springs and dampers to Envisat. In
a pure simulation the grasp is a connection of the world; in the cell a gripper closes on a ring, and only the wrenches
that wrist sensors measure hold both together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from freefloat.scenarios.envisat.capture_parts import (
    CLIENT_PORT,
    FLOOR_DISTANCE,
    GRASP,
    NARROWEST_HALF_RANGE,
    SERVICER_PORT,
    TARE_SAMPLES,
    Sensors,
    StartError,
    Times,
)
from freefloat.scenarios.rehearsed import RehearsedScenario
from freefloat.scenarios.settings import NotNegative, Positive, Seconds, Unit
from freefloat.sim.record.description import Figure

if TYPE_CHECKING:
    from freefloat.control import CompliantCapture
    from freefloat.hil import Rehearsal
    from freefloat.hil.cell import VirtualCell
    from freefloat.hil.judging import Acceptance
    from freefloat.model import Part, World
    from freefloat.sim import Experiment, Run
    from freefloat.values.claims import Claim


@dataclass(frozen=True)
class EnvisatCapture(RehearsedScenario):
    """A compliant servicer turns with tumbling Envisat, reaches for its ring, grasps it and makes its arm stiff."""

    name = "envisat-capture"
    title = "Envisat: capture by a compliant servicer, in orbit and in a cell of two robots"
    source = "Relative dynamics for hardware-in-the-loop simulation of on-orbit missions, figures 11 to 13"
    note = (
        "Times of the phases and the spin are the paper's. Start errors, gains, limits, sensors and the cell are "
        "assumed: it prints none. Its own run ends at 35 s, before anything is rigidised. The arm alone could not "
        "reach as far as the gap: the base comes nearer too."
    )
    figures = (
        Figure("servicer.capture.phase", title="Phase: synchronise, approach, grasp, rigidise, done"),
        Figure("servicer.capture.tool.position_error", "mm", title="Tool from its set point"),
        Figure("servicer.capture.base.position_error", "mm", title="Base from its set point"),
        Figure("servicer.capture.relative_rate", "deg/s", title="Rate of the servicer relative to Envisat"),
        Figure("servicer.capture.relative_velocity", "mm/s", title="Velocity of the servicer relative to Envisat"),
        Figure("servicer.joints.motor_torque", title="Joint torques"),
        Figure("servicer.capture.thrust", title="Thrust"),
        Figure("servicer.capture.thrust_torque", title="Torque of the thrusters"),
        Figure("servicer.capture.energy", title="Energy of the compliant loop"),
    )

    spin_deg_s: Annotated[float, Unit("deg/s")] = -2.5  # of Envisat about its y axis
    times: Times = field(default_factory=Times)
    gap: Annotated[Positive, Unit("m")] = 0.15  # between tool and ring before the approach
    arm_share: Annotated[float, Field(ge=0.0, le=1.0)] = 0.4  # of the approach that the arm makes, the base the rest
    start_error: StartError = field(default_factory=StartError)
    base_frequency: Annotated[Positive, Unit("rad/s")] = 0.5  # of the springs to Envisat, critically damped
    tool_frequency: Annotated[Positive, Unit("rad/s")] = 3.0
    held_frequency: Annotated[Positive, Unit("rad/s")] = 10.0  # of the joints once Envisat is held
    thrust_limit: Annotated[Positive, Unit("N")] = 50.0  # along each axis
    thrust_torque_limit: Annotated[Positive, Unit("N m")] = 50.0  # about each axis
    joint_torque_limit: Annotated[Positive, Unit("N m")] = 100.0
    software_ms: Annotated[Positive, Unit("ms")] = 4.0  # period of the on-board software
    sensors: Sensors | None = field(default_factory=Sensors)  # None: everything is known exactly
    bandwidth_hz: Annotated[Positive, Unit("Hz")] = 25.0  # of the robots' servos
    delay_ms: Annotated[NotNegative, Unit("ms")] = 8.0  # of the robots' controllers
    compensate_delay: bool = True  # commands are made ahead of the delay, found by a small motion before
    gripper_stiffness: Annotated[Positive, Unit("N/m")] = 2000.0
    gripper_damping: Annotated[NotNegative, Unit("N s/m")] = 100.0
    gripper_turn_stiffness: Annotated[Positive, Unit("N m/rad")] = 20.0
    gripper_turn_damping: Annotated[NotNegative, Unit("N m s/rad")] = 1.0
    force_noise: Annotated[NotNegative, Unit("N")] = 0.05  # of a sample of a wrist sensor, one sigma
    torque_noise: Annotated[NotNegative, Unit("N m")] = 0.003
    workspace_scale: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0  # of the robots' joint ranges
    client_inertia_error: Annotated[float, Field(gt=-0.5, lt=1.0)] = 0.0  # of what the cell flies, about Envisat's x
    duration: Seconds = 45.0
    dt: Seconds = 0.004  # also a cycle of the cell

    @classmethod
    def variants(cls) -> Mapping[str, EnvisatCapture]:
        """Variants with realistic and with ideal sensors."""
        return {"paper": cls(), "ideal-sensors": replace(cls(), sensors=None)}

    # ---- in orbit

    def world(self) -> World:
        """World with servicer and client, and the connection of the grasp between them."""
        from freefloat.library import envisat
        from freefloat.model import World
        from freefloat.scenarios.envisat.capture_parts import servicer_with_camera

        world = World(servicer=servicer_with_camera(), client=envisat())
        return world.connection(GRASP, "servicer.tool", "client.ring")

    def software(self) -> CompliantCapture:
        """Capture software, with exact models of both spacecraft."""
        from freefloat.control import CaptureGains, CaptureLimits, CaptureSchedule, CompliantCapture
        from freefloat.library.servicer import SERVICER_CAPTURE

        world = self.world()
        craft = world.craft("servicer")
        gains = CaptureGains.of_model(
            craft,
            SERVICER_CAPTURE,
            base_frequency=self.base_frequency,
            tool_frequency=self.tool_frequency,
            held_frequency=self.held_frequency,
        )
        return CompliantCapture(
            craft,
            world.craft("client"),
            gains,
            SERVICER_CAPTURE,
            gap=self.gap,
            arm_share=self.arm_share,
            schedule=CaptureSchedule(**dataclasses.asdict(self.times)),
            limits=CaptureLimits(self.thrust_limit, self.thrust_torque_limit, self.joint_torque_limit),
            on="servicer",
            period=1e-3 * self.software_ms,
        )

    def parts(self) -> tuple[Part, ...]:
        """Sensors and software, in the order in which they run."""
        if self.sensors is None:
            return (self.software(),)
        period, world = 1e-3 * self.software_ms, self.world()
        filters = self.sensors.filters(world.craft("servicer"), world.craft("client"), self.spin_deg_s, period)
        return (*self.sensors.parts(period), *filters, self.software())

    def build(self) -> Experiment:
        """Experiment in orbit: both co-rotate at the start, except for the start error of the servicer."""
        from freefloat.library import envisat_start, servicer_start
        from freefloat.library.servicer import SERVICER_CAPTURE
        from freefloat.sim import Experiment

        world, client = self.world(), envisat_start(spin_deg_s=self.spin_deg_s)
        aligned = servicer_start(client, joints=SERVICER_CAPTURE, gap=self.gap)
        state = {"servicer": self.start_error.apply(world.craft("servicer"), aligned, client), "client": client}
        return Experiment.of(
            world, *self.parts(), state=state, duration=self.duration, dt=self.dt, record_dt=5 * self.dt
        )

    # ---- in the cell

    def rehearsal(self) -> Rehearsal:
        """Rehearsal: the client's wrist sensor measures the grasp; the opposite wrench acts on the servicer's tool."""
        from freefloat.hil import (
            DelayCompensation,
            ExpectedContact,
            Grasp,
            Limits,
            Rehearsal,
            RobotAssignment,
            SensorCheck,
        )
        from freefloat.hil.cell import envisat_start

        experiment = self.rehearsed_experiment()
        arm = experiment.world.craft("servicer").layout.moving_joints
        return Rehearsal(
            experiment,
            carried=(
                RobotAssignment("client", "client", CLIENT_PORT),
                RobotAssignment("servicer", "servicer", SERVICER_PORT, reaction_of="client", arm=arm),
            ),
            placement=envisat_start()["client"],
            nominal="client",
            compensation=DelayCompensation(measured=True) if self.compensate_delay else None,
            limits=Limits(joint_margin=(1.0 - self.workspace_scale) * NARROWEST_HALF_RANGE),
            contact=ExpectedContact(self.gripper_stiffness, self.gripper_damping),
            grasps=(Grasp(GRASP, "servicer"),),
            sensor_check=SensorCheck(),
            grasp_point="client.ring",
        )

    def rehearsed_experiment(self) -> Experiment:
        """Experiment as in orbit, with input ports for the wrenches and the client inertia of the cell."""
        import numpy as np

        experiment = self.build()
        inertia = np.array(experiment.world.craft("client").bodies[0].inertia)
        inertia[0, 0] *= 1.0 + self.client_inertia_error
        world = experiment.world.with_value("client.base.inertia", inertia)
        system = dataclasses.replace(experiment.system, world=world, ports=(CLIENT_PORT, SERVICER_PORT))
        return dataclasses.replace(
            experiment, system=system, inputs={CLIENT_PORT: np.zeros(6), SERVICER_PORT: np.zeros(6)}
        )

    def facility(self) -> VirtualCell:
        """Virtual cell: two KR120-class robots face each other, one with a ring, one with an arm and its gripper."""
        from freefloat.hil.cell import CellSettings, Gripper, SensorSettings, ServoSettings, envisat_cell

        sensor = SensorSettings(
            noise=(self.force_noise, self.torque_noise),
            bias=(2.0, 0.1),  # [N], [N m], assumed; tared
            range=(500.0, 200.0),  # [N], [N m], assumed: the arm hangs on one of them
            tare_samples=TARE_SAMPLES,
        )
        servo = ServoSettings(lag="second", bandwidth=self.bandwidth_hz, delay=1e-3 * self.delay_ms)
        # The arm follows by a position loop of its own [N m/rad, N m s/rad], in addition to the commanded torques.
        settings = CellSettings(
            cycle=self.dt,
            servo=servo,
            sensor=sensor,
            arm_stiffness=500.0,
            arm_damping=20.0,
            clearance=0.005,  # [m]: the palm comes up to 20 mm to the ring
        )
        gripper = Gripper(
            self.gripper_stiffness, self.gripper_damping, self.gripper_turn_stiffness, self.gripper_turn_damping
        )
        return envisat_cell(settings, gripper=gripper, distance=FLOOR_DISTANCE)

    def acceptance(self) -> Acceptance:
        """Limits of a go: four sigma of sensor noise, the claims' overlay; Envisat's inertia must be identified."""
        from freefloat.hil.judging import Acceptance

        return Acceptance(
            simulation_position=0.01,  # [m]
            simulation_angle=0.00873,  # [rad], half a degree
            relative_position=0.01,  # [m], as the claims' overlay: the contact in the cell is another than in orbit
            relative_angle=0.00873,  # [rad]
            sensor_force=4.0 * self.force_noise,
            sensor_torque=4.0 * self.torque_noise,
            must_tell=("mass of client", "inertia of client"),
            given_by=f"scenario {self.name}",
        )

    def mission_claims(self, run: Run, simulated: Run) -> list[Claim]:
        """Claims about phases, rates before the grasp and rest after it, from the encoders."""
        from freefloat.scenarios.envisat.capture_claims import mission_claims

        return mission_claims(self, run)

    def claims(self, variant: str, run: Run, others: Mapping[str, Run]) -> list[Claim]:
        """Claims of the capture in orbit and in the virtual cell."""
        from freefloat.scenarios.envisat.capture_claims import cell_claims, orbit_claims

        return [*orbit_claims(self, run), *cell_claims(self, run)]

"""A servicer captures Envisat as it tumbles: synchronise, approach, grasp, rigidise; in orbit and in a cell.

The on-board software is compliant: base and arm are held to Envisat by springs and dampers, made of joint torques and
thrust. Purely simulated, the grasp is a connection of the world; in the cell a gripper closes on a ring, and what wrist
sensors feel is all that holds both together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from freefloat.scenarios.envisat.capture_parts import GRASP, NotNegative, Positive, Sensors, StartError
from freefloat.scenarios.rehearsed import RehearsedScenario
from freefloat.scenarios.settings import Unit
from freefloat.sim.description import Figure

if TYPE_CHECKING:
    from freefloat.control import CompliantCapture
    from freefloat.model import Part, World
    from freefloat.sim import Experiment, Run
    from freefloat.sim.claims import Claim


@dataclass(frozen=True)
class EnvisatCapture(RehearsedScenario):
    """A compliant servicer turns with tumbling Envisat, reaches for its ring, grasps it and makes its arm stiff."""

    name = "envisat-capture"
    title = "Envisat: capture by a compliant servicer, in orbit and in a cell of two robots"
    source = "Relative dynamics for hardware-in-the-loop simulation of on-orbit missions, figures 11 to 13"
    note = (
        "Times of the phases and the spin are the paper's. Start errors, gains, limits, sensors and the cell are "
        "assumed: it prints none. Its own run ends at 35 s, before anything is rigidised. The arm alone could not reach "
        "as far as the gap: the base comes nearer too."
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
    duration: Annotated[Positive, Unit("s")] = 45.0  # [s]
    dt: Annotated[Positive, Unit("s")] = 0.004  # [s], also a cycle of the cell

    @classmethod
    def variants(cls) -> Mapping[str, EnvisatCapture]:
        """With sensors as they are, and with ideal ones."""
        return {"paper": cls(), "ideal-sensors": replace(cls(), sensors=None)}

    # ---- in orbit

    def world(self) -> World:
        """Servicer and client, and the grasp that may hold them together."""
        from freefloat.library import envisat
        from freefloat.model import World
        from freefloat.scenarios.envisat.capture_parts import servicer_with_camera

        world = World(servicer=servicer_with_camera(), client=envisat())
        return world.connection(GRASP, "servicer.tool", "client.ring")

    def law(self) -> CompliantCapture:
        """The capture itself, with models of both that are exact."""
        from freefloat.control import CaptureGains, CaptureLimits, CompliantCapture
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
            limits=CaptureLimits(self.thrust_limit, self.thrust_torque_limit, self.joint_torque_limit),
            on="servicer",
            period=1e-3 * self.software_ms,
        )

    def parts(self) -> tuple[Part, ...]:
        """Sensors and software, in their order."""
        if self.sensors is None:
            return (self.law(),)
        period, world = 1e-3 * self.software_ms, self.world()
        filters = self.sensors.filters(world.craft("servicer"), world.craft("client"), self.spin_deg_s, period)
        return (*self.sensors.parts(period), *filters, self.law())

    def claims(self, variant: str, run: Run, others: Mapping[str, Run]) -> list[Claim]:
        return []

    def rehearsal(self):
        raise NotImplementedError

    def facility(self):
        raise NotImplementedError

    def build(self) -> Experiment:
        """Both co-rotating but for the start error."""
        from freefloat.library import envisat_start, servicer_start
        from freefloat.library.servicer import SERVICER_CAPTURE
        from freefloat.sim import Experiment

        world, client = self.world(), envisat_start(spin_deg_s=self.spin_deg_s)
        aligned = servicer_start(client, joints=SERVICER_CAPTURE, gap=self.gap)
        state = {"servicer": self.start_error.apply(world.craft("servicer"), aligned, client), "client": client}
        return Experiment.of(
            world, *self.parts(), state=state, duration=self.duration, dt=self.dt, record_dt=5 * self.dt
        )

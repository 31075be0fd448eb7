"""Standard actuators: every spacecraft has them without being given them."""

from __future__ import annotations

from freefloat.actuators.ideal_forces import IdealBaseWrench, IdealFrameForces
from freefloat.actuators.joint_motors import JointMotors, RateDrives
from freefloat.actuators.switches import switches_of
from freefloat.actuators.wheel_motors import WheelMotors
from freefloat.model import Actuator, World

_PLAIN = (JointMotors(), WheelMotors(), IdealBaseWrench(), IdealFrameForces(), RateDrives())


def standard_actuators(world: World, c: int) -> tuple[Actuator, ...]:
    """Actuators that spacecraft number c has by itself: motors, drives, ideal forces, latches and brakes."""
    return (*_PLAIN, *switches_of(world, c))

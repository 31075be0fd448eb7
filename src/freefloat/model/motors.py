"""Motors of flexible joints as rotors of the bodies that carry them: about an axis, geared to a coordinate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from freefloat.model.modal import ModalBody
from freefloat.model.parts import Joint
from freefloat.model.physical_checks import Rotor, require_rotors_fit
from freefloat.values.arrays import Numeric, Vec3

if TYPE_CHECKING:
    from freefloat.model.spacecraft import Spacecraft


class Motor(NamedTuple):
    """A rotor on the parent of a flexible joint; its rate is that of its coordinate times the gear ratio."""

    name: str  # of its coordinate
    node: str  # of a flexible carrier; empty: the carrier's own frame
    axis: Vec3  # in the frame of the carrier or its node
    rotor: Numeric | float  # inertia about the axis [kg m2]
    ratio: Numeric | float  # of the gear

    @property
    def inertia(self) -> Numeric | float:
        """Inertia of the rotor, referred to the motor's coordinate [kg m2]."""
        return self.rotor * self.ratio**2

    @property
    def coupling(self) -> Numeric | float:
        """Angular momentum along its axis per unit rate of its coordinate [kg m2]."""
        return self.rotor * self.ratio


def motors_on(joints: Iterable[Joint], body: str) -> tuple[Motor, ...]:
    """The motors that a body carries: those of the flexible joints of which it is the parent."""
    return tuple(
        Motor(joint.motor, joint.node, joint.X_PJ.R @ joint.axis, flexible.motor_inertia, flexible.ratio)
        for joint in joints
        if joint.parent == body and (flexible := joint.flexibility) is not None
    )


def require_rotors(craft: Spacecraft, body: str) -> None:
    """Raise an error for wheels and motors that have more inertia than the rigid body that carries them."""
    carrier = craft.body(body)
    if isinstance(carrier, ModalBody):
        return
    rotors = [Rotor(f"Wheel '{wheel.name}'", wheel.axis, wheel.inertia) for wheel in craft.wheels_on(body)]
    rotors += [Rotor(f"Motor '{motor.name}'", motor.axis, motor.rotor) for motor in craft.motors_on(body)]
    require_rotors_fit(body, carrier.inertia, rotors)

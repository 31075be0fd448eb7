"""Names of version 0.1, which still work in version 0.2 and warn. They, and this file, are gone in version 0.3."""

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

# Both without `freefloat.`.
RENAMED = {
    "Carried": "RobotAssignment",
    "LawError": "SoftwareError",
    "OnBoard": "ExternalSoftware",
    "onboard": "outside",
    "campaign.Correlated": "campaign.CorrelatedDispersion",
    "campaign.Listed": "campaign.ListedDispersion",
    "control.Held": "control.CompliantCaptureMemory",
    "control.RateLaw": "control.RateSoftware",
    "control.Meeting": "control.MeetingState",
    "control.measured_meeting": "control.measured_meeting_state",
    "control.lqr.DesignRefused": "control.lqr.DesignError",
    "control.lqr.Reduction": "control.lqr.TruncatedModel",
    "control.lqr.move": "control.lqr.simulate_linear",
    "control.lqr.period_of": "control.lqr.mean_period",
    "dynamics.Return": "dynamics.ReturnedStates",
    "effects.Pulses": "actuators.ValveState",
    "effects.BlindSensor": "actuators.BlindSensor",
    "effects.DeadWheel": "actuators.DeadWheel",
    "effects.Failure": "model.Failure",
    "effects.OpenThruster": "actuators.OpenThruster",
    "effects.StuckJoint": "actuators.StuckJoint",
    "effects.Thruster": "actuators.Thruster",
    "effects.Thrusters": "actuators.Thrusters",
    "effects.ValveState": "actuators.ValveState",
    "effects.joint_motor_channels": "actuators.joint_motor_channels",
    "effects.limit_joint_torques": "actuators.limit_joint_torques",
    "effects.limit_wheel_torques": "actuators.limit_wheel_torques",
    "effects.torque_pairs": "actuators.torque_pairs",
    "effects.wheel_channel": "actuators.wheel_channel",
    "effects.contact.Box": "effects.contact.ContactBox",
    "effects.contact.Capsule": "effects.contact.ContactCapsule",
    "effects.contact.Cone": "effects.contact.ContactCone",
    "effects.contact.Touching": "effects.contact.ContactPoints",
    "flex.Place": "flex.StructurePlace",
    "hil.Carried": "hil.RobotAssignment",
    "hil.OnBoard": "outside.ExternalSoftware",
    "hil.SoftwareLink": "outside.SoftwareLink",
    "hil.fly": "outside.fly",
    "hil.host": "outside.host",
    "model.ReadingNote": "readers.ReadingNote",
    "model.read_mjcf": "readers.read_mjcf",
    "model.read_sdf": "readers.read_sdf",
    "model.read_urdf": "readers.read_urdf",
    "model.write_urdf": "readers.write_urdf",
    "sensors.measurable": "sensors.measurable_text",
    "values.LawError": "values.SoftwareError",
}


def renamed_names(package: str, *, calls: int = 2) -> Callable[[str], Any]:
    """`__getattr__` of a package for its old names; `calls` is how far up the user's line is."""
    prefix = package.removeprefix("freefloat").lstrip(".")

    def get(name: str) -> Any:
        old = f"{prefix}.{name}" if prefix else name
        if old not in RENAMED:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        home, _, new = f"freefloat.{RENAMED[old]}".rpartition(".")
        warnings.warn(f"{package}.{name} is now {home}.{new}.", FutureWarning, stacklevel=calls)
        return getattr(import_module(home), new)

    return get

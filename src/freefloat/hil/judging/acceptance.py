"""Limits that a rehearsal must keep to be a go: numbers with defaults, which a scenario or a user replaces."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from freefloat.values.checks import require_bounds
from freefloat.values.errors import ModelError
from freefloat.values.verdicts import UNCHOSEN

# Each field with its unit.
_UNITS = {
    "joint_range": "",
    "joint_rate": "",
    "joint_acceleration": "",
    "workspace": "",
    "tracking_position": "m",
    "tracking_angle": "rad",
    "simulation_position": "m",
    "simulation_angle": "rad",
    "simulation_impulse": "",
    "delay": "",
    "compensation": "",
    "damping_left": "",
    "damping_error": "",
    "growth": "",
    "sensor_gain": "",
    "sensor_turn": "rad",
    "wrench_delay": "s",
    "sensor_bias": "N",
    "energy_taken": "",
    "energy_given": "",
    "sensor_force": "N",
    "sensor_torque": "N m",
    "sensor_range": "",
    "mass": "",
    "inertia": "",
    "relative_position": "m",
    "relative_angle": "rad",
    "lateness": "",
}

NEVER_EXCUSED = ("delay left", "damping left in the loop", "damping against the loop model", "growth of the force")


@dataclass(frozen=True)
class Acceptance:
    """Limits of a go. Shares are relative to what the facility, the mission or the contact permits."""

    joint_range: float = 0.98  # of the way from the middle of a joint's range to its end, at most
    joint_rate: float = 0.9  # of a joint's rate limit, at most
    joint_acceleration: float = 0.95  # of a joint's acceleration limit, at most
    workspace: float = 0.95  # of the way from the middle of the permitted box to its edge, at most
    tracking_position: float = 5e-3  # [m] between where a robot was and where it should have been
    tracking_angle: float = 5e-3  # [rad]
    simulation_position: float = 0.02  # [m] between rehearsal and simulation, of the relative pose
    simulation_angle: float = 0.02  # [rad]
    relative_position: float = (
        5e-3  # [m] between both robots, by their encoders, and the simulation, at the grasp point
    )
    relative_angle: float = 5e-3  # [rad]
    simulation_impulse: float = 0.2  # of the largest simulated impulse of the contact
    delay: float = 0.8  # of the critical delay of the expected contact, at most left
    compensation: float = 0.1  # of the observed delay, by which what is made up for may differ
    damping_left: float = 0.1  # of the damping that a vibration has with a perfect robot, at least seen
    damping_error: float = 0.1  # of that damping, by which the damping seen may differ from the one predicted
    growth: float = 1.25  # of a swinging force: its last swing over its first
    sensor_gain: float = 0.05  # by which the gain of a wrist sensor may differ from one
    sensor_turn: float = 0.02  # [rad] by which its axes may be turned
    sensor_bias: float = 1.0  # [N] that it may read where nothing acts
    wrench_delay: float = 4e-3  # [s] by which the measured wrench may be late or early
    energy_taken: float = 0.2  # of the energy in the contact, that the passivity controller may take out
    energy_given: float = 0.05  # of the energy in the contact, that the delay may have given
    sensor_force: float = 2.0  # [N], accuracy of the wrist sensors, bias included
    sensor_torque: float = 1.0  # [N m], besides the error of the force times its lever
    sensor_range: float = 0.9  # of the range of the wrist sensors, at most used
    mass: float = 0.05  # by which the mass that explains the motion may differ from the declared one
    inertia: float = 0.05  # likewise for moments of inertia and their ratios
    lateness: float = 1.0  # of a cycle, by which one may begin late in real time
    must_tell: tuple[str, ...] = ()  # criteria that the motion must be able to judge, such as `inertia of client`
    excused: Mapping[str, str] = field(default_factory=dict)  # criteria that need not be judged, and why
    chosen: tuple[str, ...] = ()  # limits that are defaults and were chosen all the same
    given_by: str = "the user"  # who set what differs from the defaults, and what was chosen

    def __post_init__(self) -> None:
        require_bounds(self, _UNITS, least=0.0)
        object.__setattr__(self, "must_tell", tuple(self.must_tell))
        object.__setattr__(self, "chosen", tuple(self.chosen))
        if unknown := [name for name in self.chosen if name not in _UNITS]:
            raise ModelError(f"There is no limit '{unknown[0]}' of a go to choose. Limits: {', '.join(_UNITS)}.")
        if not isinstance(self.excused, Mapping) or not all(self.excused.values()):
            raise ModelError(
                "Acceptance.excused maps the name of a criterion to the reason why it need not be answered."
            )
        if unstable := [name for name in self.excused if name in NEVER_EXCUSED]:
            raise ModelError(
                f"Acceptance.excused names '{unstable[0]}': stability is never excused. State what is in the loop: "
                "Rehearsal(contact=ExpectedContact(...)) or Rehearsal(vibration=ExpectedVibration(...))."
            )

    def limit_from(self, name: str) -> str:
        """Who set a limit: a default that nobody chose, or `given_by`."""
        return UNCHOSEN if name not in self.chosen and getattr(self, name) == _DEFAULTS[name] else self.given_by


_DEFAULTS = {limit.name: limit.default for limit in dataclasses.fields(Acceptance)}

"""A vibration that hangs on a robot for the whole run, such as beams on its flange, and the linear loop that it closes.

A contact begins and ends; a vibration is always in the loop. The robot's lag and delay take damping from it, or give it
energy until it grows. The loop is judged by the robot's own motion: what it makes of a command at the vibration's pole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from freefloat.values.checks import require_number
from freefloat.values.errors import ModelError


class LinearLoop(Protocol):
    """Simulated spacecraft, robot and vibrating part as one linear loop in one direction."""

    def first_mode(self) -> complex:
        """Pole of the lowest vibration [rad/s]."""
        ...

    def critical_delay(self) -> float:
        """Shortest delay at which a vibration grows [s]; infinite if there is none."""
        ...

    def with_robot(self, gain: float, delay: float) -> LinearLoop:
        """The loop with a robot of a gain and a delay [s] and no other lag, as it was measured at one frequency."""
        ...

    def open_loop(self, s: complex, robot: complex) -> complex:
        """Transfer around the loop at s, with the robot's own transfer there; minus one at a pole."""
        ...


@dataclass(frozen=True)
class ExpectedVibration:
    """The vibration that a rehearsal is expected to have in its loop."""

    loop: LinearLoop
    robot: str  # on whose flange the part vibrates
    component: int  # of its wrench and of its motion, in which it does: 0..2 along x, y, z, 3..5 about them
    begins: float = 1.0  # [s]; from then on the lowest mode is alone

    def __post_init__(self) -> None:
        if self.component not in range(6):
            raise ModelError(f"ExpectedVibration.component must be 0 to 5, got {self.component!r}.")
        require_number("ExpectedVibration.begins", self.begins, "s", least=0.0)

    @property
    def natural_damping(self) -> float:
        """Damping ratio of the lowest vibration with a robot that follows perfectly."""
        s = self.loop.with_robot(1.0, 0.0).first_mode()
        return -s.real / abs(s)

"""What sensors of accelerations and forces ask for; a simulation answers."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from freefloat.model.state import State
from freefloat.values.arrays import Vec3, Vec6, Vector


@runtime_checkable
class Forces(Protocol):
    """Motion and forces of all spacecraft just before an instant: before anything of its tick has run."""

    def motion(self, craft: int) -> tuple[State, Vector]:
        """State and acceleration (nv) of spacecraft number `craft`, prescribed joints at their rates."""
        ...

    def gravity(self, p: Vec3, velocity: Vec3) -> Vec3:
        """Acceleration that the fields of the world give a small mass at p with this velocity; all in N [m/s2]."""
        ...

    def outside_wrench(self, craft: int, bodies: tuple[str, ...]) -> Vec6:
        """Wrench from outside on some bodies of a spacecraft together, about the base origin, base axes [N, N m].

        An error names what pushes where it is not known on which bodies it does.
        """
        ...

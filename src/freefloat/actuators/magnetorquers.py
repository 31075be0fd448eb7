"""Magnetorquers: rods or coils on the base. A dipole m makes the torque m x B in a magnetic field B, and no force."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import spd_solve
from freefloat.model import Actuator, Clock, CommandPort, PortCommands, Spacecraft, Truth
from freefloat.model.magnetic_field import MagneticField
from freefloat.model.physical_checks import unit_axis
from freefloat.spatial.rotations import cross
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import ArrayLike, Numeric, Vec3, Vector, is_traced
from freefloat.values.channels import Channel, flag, vector
from freefloat.values.checks import require_array, require_quantity, set_fields
from freefloat.values.errors import require_name

DIPOLE_LIMIT = 1.0


@record
class Magnetorquers(Actuator):
    """Magnetorquers on the base; they accept the dipole of each rod, within its largest one.

    The dipole follows its command at once: rods need some milliseconds. What they do to a magnetometer is left out.
    """

    magnetic_field: MagneticField
    axes: ArrayLike = dataclasses.field(default_factory=lambda: np.eye(3))  # (rods, 3), base axes; unit vectors
    max_dipole: Numeric | float = np.inf  # of each rod, or one for all [A m2]
    rods: tuple[str, ...] = static(default=("x", "y", "z"))  # what commands and channels call them
    name: str = static(default="torquers", kw_only=True)

    def __post_init__(self) -> None:
        require_name("Magnetorquers", self.name)
        count = len(self.rods)
        axes = require_array("Magnetorquers.axes", self.axes, "", (count, 3), f"one axis for each of {count} rods")
        if not is_traced(axes):
            pairs = zip(self.rods, axes, strict=True)
            axes = np.stack([unit_axis(f"Magnetorquers: axis of rod '{rod}'", axis) for rod, axis in pairs])
        most = require_quantity("Magnetorquers.max_dipole", self.max_dipole, "A m2", least=0.0, allow_infinite=True)
        if np.shape(most) not in ((), (count,)):
            raise ModelError(f"Magnetorquers.max_dipole must be one number, or one for each of {count} rods.")
        set_fields(self, axes=axes)

    @property
    def port(self) -> str:
        """Name of the port that takes the dipoles."""
        return f"{self.name}.dipole"

    def accepts(self, craft: Spacecraft) -> tuple[CommandPort, ...]:
        """The port of the dipoles."""
        return (CommandPort(self.port, "A m2", self.rods, noun="rod"),)

    def limited_commands(self, truth: Truth, memory: Any, u: PortCommands, clock: Clock) -> PortCommands:
        """Dipoles within the largest of each rod."""
        most = jnp.broadcast_to(jnp.asarray(self.max_dipole, dtype=float), (len(self.rods),))
        return u.with_changes(
            self.port, lambda rod, dipole: jnp.clip(dipole, -most[self.rods.index(rod)], most[self.rods.index(rod)])
        )

    def pushed_frames(self, craft: Spacecraft, parts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """The base."""
        return ("base",)

    def force(self, truth: Truth, memory: Any, u: PortCommands, clock: Clock) -> Vector:
        """Generalised force: a torque on the base."""
        return jnp.zeros(truth.craft.layout.nv).at[3:6].set(self.torque(truth, u, clock))

    def torque(self, truth: Truth, u: PortCommands, clock: Clock) -> Vec3:
        """Torque m x B on the base, base axes [N m]."""
        return cross(self.dipole(u), self.flux_density(truth, clock))

    def dipole(self, u: PortCommands) -> Vec3:
        """Dipole of all rods together, base axes [A m2]."""
        return jnp.asarray(self.axes).T @ u[self.port]

    def flux_density(self, truth: Truth, clock: Clock) -> Vec3:
        """Flux density at the base, base axes [T]."""
        return self.magnetic_field.seen_from(truth.state.X_NB, clock.t)

    def allocate(self, dipole: Vec3) -> Vector:
        """Dipole of each rod [A m2] for one of all together, base axes; the smallest, if there are more than three."""
        axes = jnp.asarray(self.axes)
        return axes @ spd_solve(axes.T @ axes, dipole)

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """Channels for dipoles, torque, field and the limit that each rod has met."""
        rods = self.channel_name("rod")
        return (
            Channel(self.channel_name("dipole"), "Dipole of each magnetorquer", "A m2", "", rods, self.rods),
            vector(self.channel_name("torque"), "Torque of the magnetorquers", "N m", "B"),
            vector(self.channel_name("magnetic_field"), "Magnetic field at the base", "T", "B"),
            flag(self.channel_name("condition"), "Magnetorquers", ("within limits", "dipole limit"), rods, self.rods),
        )

    def observe(self, truth: Truth, memory: Any, u: PortCommands, clock: Clock) -> tuple[Numeric, ...]:
        """Values of the channels."""
        limited = self.limited_commands(truth, memory, u, clock)
        asked, given = u[self.port], limited[self.port]
        condition = jnp.where(jnp.abs(asked) > jnp.abs(given), DIPOLE_LIMIT, 0.0)
        return given, self.torque(truth, limited, clock), self.flux_density(truth, clock), condition

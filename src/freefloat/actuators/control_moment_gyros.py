"""Control-moment gyros: wheels on gimbals. Turning a gimbal turns the spin, and the base gets what the spin loses.

With spin momentum h, spin axis s and gimbal axis g, a gimbal rate gives the base the torque -h rate (g x s), besides
what the gimbal's own inertia and the turning of the base add (tests/physics/test_gyro_torque.py has all of it).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.actuators.wheel_motors import limit_torques_now, limited_port_torques, spin_momentum
from freefloat.dynamics.gyro_axes import gyro_directions, singularity_measure, spin_axes
from freefloat.model import Actuator, Clock, CommandPort, PortCommands, Spacecraft, State, Truth
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Matrix, Numeric, Vec3, Vector, is_traced
from freefloat.values.channels import Channel, flag, vector
from freefloat.values.errors import require_name

RATE_LIMIT = 1.0


@record
class ControlMomentGyros(Actuator):
    """A cluster of gyros: the gimbals follow commanded rates within their joints' `limits.rate`, the wheels torques.

    A gimbal whose rate nobody commands turns freely. Of gyros with constant speed leave the wheel torques out: motors
    then give none, and the speeds change a little as the base turns.
    """

    gimbals: tuple[str, ...] = static()  # joints
    wheels: tuple[str, ...] = static()  # one on each gimbal
    name: str = static(default="gyros", kw_only=True)  # what commands and channels call the cluster

    def __post_init__(self) -> None:
        require_name("ControlMomentGyros", self.name)
        if not self.gimbals or len(self.gimbals) != len(self.wheels):
            raise ModelError(
                f"{self.title} has {len(self.gimbals)} gimbals and {len(self.wheels)} wheels. Give each gimbal's joint "
                "and the wheel on it: ControlMomentGyros.of(craft) finds them."
            )

    @staticmethod
    def of(craft: Spacecraft, prefix: str = "", name: str = "gyros") -> ControlMomentGyros:
        """Cluster of all revolute joints whose body carries one wheel; only those whose name begins so."""
        found = [
            (joint.name, wheels[0].name)
            for joint, body in zip(craft.joints, craft.bodies[1:], strict=True)
            if joint.kind == "revolute"
            and joint.name.startswith(prefix)
            and len(wheels := craft.wheels_on(body.name)) == 1
        ]
        if not found:
            raise ModelError(
                f"Spacecraft '{craft.name}' has no gyro '{prefix}': no revolute joint carries a body with one wheel. "
                "Add some: library.with_gyro_pyramid(craft)."
            )
        return ControlMomentGyros(tuple(g for g, _ in found), tuple(w for _, w in found), name=name)

    def check(self, craft: Spacecraft) -> None:
        """Reject gimbals and wheels that the spacecraft does not have, and wheels that sit elsewhere."""
        self.require_moving(craft, self.gimbals)
        self.require_known(craft, "wheel", self.wheels, craft.wheel_names)
        for gimbal, wheel in zip(self.gimbals, self.wheels, strict=True):
            carrier = craft.bodies[craft.joint_names.index(gimbal) + 1].name
            body = craft.wheels[craft.wheel_names.index(wheel)].body
            if body != carrier:
                raise ModelError(
                    f"{self.title}: wheel '{wheel}' is on '{body}', not on '{carrier}', which gimbal '{gimbal}' turns. "
                    "Give gimbals and wheels in the same order."
                )

    # ---- ports

    @property
    def rate_port(self) -> str:
        """Name of the port that takes the gimbals' rates."""
        return f"{self.name}.gimbal_rate"

    @property
    def torque_port(self) -> str:
        """Name of the port that takes the torques of the wheels' motors."""
        return f"{self.name}.spin_torque"

    def accepts(self, craft: Spacecraft) -> tuple[CommandPort, ...]:
        """The ports of gimbal rates and wheel torques."""
        return (
            CommandPort(self.rate_port, "rad/s", self.gimbals, drives=self.gimbals, noun="gimbal"),
            CommandPort(self.torque_port, "N m", self.wheels, drives=self.wheels, noun="wheel"),
        )

    def limited_commands(self, truth: Truth, memory: Any, u: PortCommands, clock: Clock) -> PortCommands:
        """Gimbal rates within their limits, wheel torques within those of the wheels."""
        gimbals, rates = u.commanded_parts(self.rate_port), u.commanded_numbers(self.rate_port)
        torques, _ = limited_port_torques(truth, u, self.torque_port)
        limited = limit_gimbal_rates(truth.craft, gimbals, rates)[0]
        return u.with_numbers(self.rate_port, limited).with_numbers(self.torque_port, torques)

    # ---- motion

    def prescribes(self, craft: Spacecraft, parts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """The commanded gimbals."""
        return parts[self.rate_port]

    def rates(self, craft: Spacecraft, memory: Any, u: PortCommands, clock: Clock) -> Vector:
        """Gimbal rates within their limits."""
        return limit_gimbal_rates(craft, u.commanded_parts(self.rate_port), u.commanded_numbers(self.rate_port))[0]

    def pushed_frames(self, craft: Spacecraft, parts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """No frame: motors act between two bodies."""
        return ()

    def force(self, truth: Truth, memory: Any, u: PortCommands, clock: Clock) -> Vector:
        """Generalised force of the wheels' motors."""
        layout = truth.craft.layout
        places = np.array(layout.indices(self.wheels), dtype=int)
        return jnp.zeros(layout.nv).at[places].set(u[self.torque_port])

    # ---- geometry

    def momentum(self, craft: Spacecraft, state: State) -> Vec3:
        """Spin momentum of all gyros relative to their gimbals, base axes [N m s]."""
        return spin_axes(craft, state.q, self.wheels) @ spin_momentum(craft, state, self.wheels)

    def directions(self, craft: Spacecraft, q: Vector) -> Matrix:
        """Rate of each spin axis per unit gimbal rate as a column, base axes."""
        return gyro_directions(craft, q, self.gimbals, self.wheels)

    # ---- what is recorded

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """Channels for the momentum of the cluster, how far it is from singular, and the limits that are met."""
        rates, torques = ("within limits", "rate limit"), ("within limits", "torque limit", "momentum limit")
        gimbal, wheel = self.channel_name("gimbal"), self.channel_name("wheel")
        return (
            vector(self.channel_name("momentum"), "Spin momentum of the gyros", "N m s", "B"),
            Channel(self.channel_name("singularity"), "det(A A^T) of the gyros' directions; 0: singular", "1"),
            flag(self.channel_name("gimbal_condition"), "Gimbals of the gyros", rates, gimbal, self.gimbals),
            flag(self.channel_name("spin_condition"), "Wheels of the gyros", torques, wheel, self.wheels),
        )

    def observe(self, truth: Truth, memory: Any, u: PortCommands, clock: Clock) -> tuple[Numeric, ...]:
        """Values of the channels."""
        craft, state = truth.craft, truth.state
        return (
            self.momentum(craft, state),
            singularity_measure(self.directions(craft, state.q)),
            limit_gimbal_rates(craft, self.gimbals, u[self.rate_port])[1],
            limit_torques_now(truth, self.wheels, u[self.torque_port])[1],
        )


def limit_gimbal_rates(craft: Spacecraft, gimbals: tuple[str, ...], rates: Vector) -> tuple[Vector, Vector]:
    """Rates within each joint's `limits.rate`, and the limit that each has reached."""
    limits = [craft.joint(name).limits.rate for name in gimbals]
    if not limits or (not is_traced(*limits) and not np.isfinite(np.array(limits, float)).any()):
        return rates, jnp.zeros(len(gimbals))
    most = jnp.stack([jnp.asarray(limit, dtype=float) for limit in limits])
    return jnp.clip(rates, -most, most), jnp.where(jnp.abs(rates) > most, RATE_LIMIT, 0.0)

"""Motion and forces just before an instant, for sensors and quantities that ask for them: see `Forces`.

Sensors of a tick measure what acts until the tick begins: its state, and the commands that were held until then.
Recorded forces are the same ones. Inputs at ports are those of the tick.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import inertial_frame_pose
from freefloat.dynamics.kinematics import frame_pose
from freefloat.dynamics.relative_rows import FrameRows, relative_pose
from freefloat.model import Clock, Field, Part, RigidBody, Spacecraft, State
from freefloat.model.failure import sound_part
from freefloat.model.forces import Forces
from freefloat.sim.motion.accelerations import Balance, balances
from freefloat.sim.motion.actuation import Actuation, has_force
from freefloat.sim.motion.constraint_rows import rows_of
from freefloat.sim.motion.port_bus import PortBus
from freefloat.sim.system.constraint_state import row_slices
from freefloat.sim.system.software_checks import checked_call
from freefloat.sim.system.system import Inputs, System, SystemState, Tick, Wiring
from freefloat.spatial import Pose
from freefloat.values import SoftwareError
from freefloat.values.arrays import Scalar, Vec3, Vec6, Vector

# Forces are those just before a tick: this far before it, as a fraction of a step.
_BEFORE = 1e-9


class ForcesBefore:
    """Motion and forces of all spacecraft just before time t; `last`: the tick that was then under way."""

    def __init__(
        self,
        system: System,
        state: SystemState,
        inputs: Inputs,
        last: Tick,
        t: Scalar,
        now: tuple[Balance, ...] | None = None,
    ) -> None:
        self._system, self._state, self._inputs, self._last, self._t = system, state, inputs, last, t
        self._now = balances_before(system, state, inputs, last, t) if now is None else now

    def motion(self, craft: int) -> tuple[State, Vector]:
        """State and acceleration (nv) of a spacecraft."""
        return self._now[craft].state, self._now[craft].vdot

    def gravity(self, p: Vec3, velocity: Vec3) -> Vec3:
        """Acceleration that the fields of the world give a small mass at p with this velocity; all in N [m/s2]."""
        state = State(p, np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(0), jnp.concatenate([velocity, jnp.zeros(3)]))
        fields = (effect for effect in self._system.effects if isinstance(effect, Field))
        return sum((field.force(_SMALL_MASS, state, self._clock)[:3] for field in fields), jnp.zeros(3))

    def outside_wrench(self, craft: int, bodies: tuple[str, ...]) -> Vec6:
        """Wrench from outside on some bodies of a spacecraft together, about the base origin, base axes [N, N m]."""
        return (
            self._wrench_of_effects(craft, bodies)
            + self._wrench_of_actuators(craft, bodies)
            + self._wrench_of_ports(craft, bodies)
            + self._wrench_of_rows(craft, bodies)
            + self._wrench_of_interactions(craft, bodies)
        )

    # ---- each kind of push

    @property
    def _clock(self) -> Clock:
        return Clock(t=self._t - _BEFORE * self._system.dt, tick=self._last.number, dt=self._system.dt)

    def _wrench_of_effects(self, c: int, bodies: tuple[str, ...]) -> Vec6:
        system, total = self._system, jnp.zeros(6)
        model, state = system.world.crafts[c], self._now[c].state
        for effect in system.effects:
            if not system.acts_on(effect, c):
                continue
            pushed = model
            if isinstance(effect, Field):
                pushed = _with_mass_only_in(model, bodies, effect)
            elif not _push_inside(effect, effect.pushed_frames(model), model, bodies):
                continue
            with checked_call(effect, "force"):
                total = total + effect.force(pushed, state, self._clock)[:6]
        return total

    def _wrench_of_ports(self, c: int, bodies: tuple[str, ...]) -> Vec6:
        """Wrenches at input ports."""
        world, total = self._system.world, jnp.zeros(6)
        for port in self._system.ports:
            number, rest = world.locate(port, 0)
            frame = rest.removesuffix(".wrench")
            if number == c and frame != rest and "command." not in rest and _is_on(world.crafts[c], frame, bodies):
                X_BF = frame_pose(world.crafts[c], self._now[c].state.q, frame)
                total = total + X_BF.wrench_to_A(jnp.asarray(self._inputs[port]))
        return total

    def _wrench_of_rows(self, c: int, bodies: tuple[str, ...]) -> Vec6:
        """Wrenches of connections and contacts that hold; brakes act between bodies of one spacecraft."""
        world, states, total = self._system.world, tuple(now.state for now in self._now), jnp.zeros(6)
        share = self._now[0].connection
        if share is None:
            return total
        for rows, at in zip(rows_of(world, states, self._state.modes), row_slices(world), strict=True):
            if not isinstance(rows, FrameRows):
                continue
            wrench = np.array(rows.directions).T @ share.multipliers[at]  # on the second, axes of the first
            X_12 = relative_pose(world.crafts, states, rows.first, rows.second)
            at_second = Pose(position=X_12.p)  # where it acts, in axes of the first
            for (number, frame), sign in ((rows.first, -1.0), (rows.second, 1.0)):
                if number != c or not _is_on(world.crafts[c], frame, bodies):
                    continue
                X_NB = states[c].X_NB
                X_N1 = Pose() if rows.first[0] < 0 else self._frame_in_N(*rows.first)
                total = total + sign * (X_NB.inverse() @ (X_N1 @ at_second)).wrench_to_A(wrench)
        return total

    def _frame_in_N(self, number: int, frame: str) -> Pose:
        return inertial_frame_pose(self._system.world.crafts[number], self._now[number].state, frame)

    def _wrench_of_interactions(self, c: int, bodies: tuple[str, ...]) -> Vec6:
        world, touch, inside = self._system.world, self._now[c].touch, False
        for interaction in self._system.interactions:
            places = interaction.pushed_frames(world)
            own = None if places is None else tuple(frame for number, frame in places if number == c)
            inside = _push_inside(interaction, own, world.crafts[c], bodies) or inside
        others = [i for i in self._system.interactions if inside and not self._pushes_only(i, c, bodies)]
        if others:
            raise SoftwareError(
                f"{others[0].title} pushes '{world.names[c]}' elsewhere than on {', '.join(bodies)}, and another "
                "interaction pushes these: what each of them does is not known separately. Move the sensor."
            )
        return jnp.zeros(6) if touch is None or not inside else touch[:6]

    def _pushes_only(self, interaction: Part, c: int, bodies: tuple[str, ...]) -> bool:
        places = interaction.pushed_frames(self._system.world)  # pyright: ignore[reportAttributeAccessIssue]
        craft = self._system.world.crafts[c]
        return all(_is_on(craft, frame, bodies) for number, frame in places if number == c)

    def _wrench_of_actuators(self, c: int, bodies: tuple[str, ...]) -> Vec6:
        system, craft, total = self._system, self._system.world.crafts[c], jnp.zeros(6)
        states = tuple(now.state for now in self._now)
        here = PortBus(system, self._state, states, self._inputs, self._clock.t, self._last.number)
        actuation = Actuation(here, c, self._last.t)
        for actuator, memory, u in actuation.actuators(has_force):
            frames = actuator.pushed_frames(craft, u.parts_by_port)
            if _push_inside(sound_part(actuator), frames, craft, bodies):
                total = total + actuation.force_of(actuator, memory, u)[:6]
        return total


def _push_inside(part: Part, frames: tuple[str, ...] | None, craft: Spacecraft, bodies: tuple[str, ...]) -> bool:
    """Whether a part pushes on some bodies and on no other; an error where that is not known, or on others too."""
    if frames is None:
        raise SoftwareError(
            f"It is not known on which bodies {part.title} pushes, so its share of the force at a joint is not either. "
            "Write pushed_frames in its class: the frames at which it pushes, () if it acts between bodies only."
        )
    on = {_is_on(craft, frame, bodies) for frame in frames}
    if len(on) == 2:
        raise SoftwareError(
            f"{part.title} pushes on both sides of the joint at which a force is measured, at {', '.join(frames)}: its "
            "share is not known. Divide it into one part for each side."
        )
    return True in on


def _is_on(craft: Spacecraft, frame: str, bodies: tuple[str, ...]) -> bool:
    return craft.frame(frame).body in bodies


_SMALL_MASS = Spacecraft(
    name="small-mass", bodies=(RigidBody(name="base", mass=1.0, com=np.zeros(3), inertia=np.zeros(3)),)
)


def _with_mass_only_in(craft: Spacecraft, bodies: tuple[str, ...], field: Field) -> Spacecraft:
    """The spacecraft without the mass of other bodies: a field pushes what is left of it."""
    if other := [body.name for body in craft.bodies if body.name not in bodies and not isinstance(body, RigidBody)]:
        raise SoftwareError(
            f"The share of {field.title} beyond a joint is not known where '{other[0]}', before it, is flexible. "
            "Leave one of the two out, or measure at another joint."
        )
    left = (body if body.name in bodies else RigidBody.without_mass(body.name) for body in craft.bodies)
    return dataclasses.replace(craft, bodies=tuple(left))


# ---- at which instants


def balances_before(system: System, state: SystemState, inputs: Inputs, last: Tick, t: Scalar) -> tuple[Balance, ...]:
    """Balances of all spacecraft just before time t, in the tick that was then under way."""
    return balances(system, state.states, state, inputs, last, t, t - _BEFORE * system.dt).crafts


def tick_before(system: System, tick: Tick) -> Tick:
    """The tick that was under way just before a tick; at the start the first one."""
    return Tick(jnp.maximum(tick.t - system.dt, 0.0), jnp.maximum(tick.number - 1, 0))


def forces_before_tick(system: System, state: SystemState, inputs: Inputs, tick: Tick) -> Callable[[], Forces]:
    """Forces just before a tick, from its state and the commands held until then; computed when it is called."""
    return lambda: ForcesBefore(system, state, inputs, tick_before(system, tick), tick.t)


def forces_at_start(system: System, state: SystemState) -> Callable[[], Forces]:
    """Forces before the first tick of a start, when nothing has been commanded yet."""
    alone = tuple(() for _ in system.world.crafts)
    quiet = dataclasses.replace(
        system, software=(), actuators=(), sensors=(), failures=(), ports=(), wiring=Wiring(prescribed=alone)
    )
    before = dataclasses.replace(state, software=(), sensors=(), actuators=())
    return forces_before_tick(quiet, before, {}, Tick(jnp.zeros(()), before.tick))

"""What a law is: a pure function of what it sees and of time. Laws are records, so their numbers can be varied too.

A law may be continuous (evaluated inside the integrator's stages) or sampled and held; the simulation decides
which, so a law does not know. `hold` is the time for which its answer will be held, 0 when it is continuous.

A law may report on itself: `channels()` and `observe(craft, state, t)` add recorded quantities, and `fastest_rate`
[rad/s] is the speed of its own loop: a step that cannot follow it is reported before the run.
"""

from typing import Any, Protocol, runtime_checkable

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import momentum_about_origin, wheel_momentum
from freefloat.dynamics.state_rate import component_rates, state_rate
from freefloat.model import Spacecraft, State
from freefloat.spatial import Pose
from freefloat.values import LawError, record
from freefloat.values.arrays import Quaternion, Scalar, Vec3, Vec6, Vector


@record
class Motion:
    """What a motion law sees: where everything is and what momentum there is, not the joint rates.

    The rates that a motion law asks for are differentiated along the motion to find the accelerations, and the
    rates of all these quantities are known beforehand: those of the velocities are not.
    """

    p_NB: Vec3  # base origin in N [m]
    quat_NB: Quaternion
    q: Vector  # joint positions [rad, m]
    momentum: Vec6  # (P, L_0) of the whole, about the inertial origin, N axes [N s, N m s]
    wheel_momentum: Vector  # axial, absolute: I (speed + axis . rate) of each wheel [N m s]

    @property
    def X_NB(self) -> Pose:
        """Pose of the base in N."""
        return Pose.from_quaternion(self.quat_NB, self.p_NB)


def motion_of(craft: Spacecraft, state: State) -> Motion:
    """What a motion law sees of a state."""
    return Motion(
        p_NB=state.p_NB,
        quat_NB=state.quat_NB,
        q=state.q,
        momentum=momentum_about_origin(craft, state),
        wheel_momentum=wheel_momentum(craft, state.q, state.v),
    )


def motion_rate(craft: Spacecraft, state: State, force: Vector) -> Motion:
    """Rates of what a motion law sees; momentum changes by external wrenches, a wheel's by its motor."""
    rates = component_rates(state, state_rate(craft, state, jnp.zeros_like(state.v)))  # no law sees accelerations
    return Motion(
        p_NB=rates.p_NB,
        quat_NB=rates.quat_NB,
        q=rates.q,
        momentum=state.X_NB.wrench_to_A(force[:6]),
        wheel_momentum=force[np.array(craft.layout.wheel_velocities, dtype=int)],
    )


@runtime_checkable
class MotionLaw(Protocol):
    """Prescribes the rates of some joints."""

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints it moves."""
        ...

    def begin(self, state: State) -> Any:
        """The law with whatever it must know of the state at the start."""
        ...

    def rates(self, motion: Motion, t: Scalar, hold: float) -> Vector:
        """Joint rates [rad/s, m/s] at time t, in the order of `joints`."""
        ...


def require_motion_law(what: str, law: object) -> None:
    """Refuse what does not move joints."""
    if isinstance(law, type) or not isinstance(law, MotionLaw):
        kind = law.__name__ if isinstance(law, type) else type(law).__name__
        raise LawError(f"{what} must be a motion law, an instance with `joints` and `rates`, got {kind}.")


@runtime_checkable
class ForceLaw(Protocol):
    """Gives generalised forces: joint and wheel-motor torques, or a wrench on the base in base axes."""

    def begin(self, state: State) -> Any:
        """The law with whatever it must know of the state at the start."""
        ...

    def force(self, state: State, t: Scalar, hold: float) -> Vector:
        """Generalised force (nv) at time t."""
        ...


@runtime_checkable
class MemoryLaw(Protocol):
    """A force law that remembers (an integral, a filter, a mode): it can only be sampled."""

    def begin(self, state: State) -> Any:
        """The law with whatever it must know of the state at the start."""
        ...

    def memory(self) -> Any:
        """What it remembers before the first sample: any pytree of arrays."""
        ...

    def sample(self, memory: Any, state: State, t: Scalar, hold: float) -> tuple[Any, Vector]:
        """New memory and the generalised force (nv) to hold until the next sample."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """A motion or force law with a memory: a mode, a filter, an integral, a sensor's delay line.

    Its memory is renewed at its ticks (a continuous law's at every step of the simulation) and stands still in
    between, while `rates` or `force` of the law that recalls it may still be evaluated continuously.
    """

    def memory(self) -> Any:
        """What it remembers before the first tick: any pytree of arrays."""
        ...

    def remember(self, memory: Any, state: State, t: Scalar, hold: float) -> Any:
        """The memory after the tick at time t; the next one comes after `hold` seconds."""
        ...

    def recall(self, memory: Any) -> Any:
        """The law that acts on this memory."""
        ...

"""Books across events: momentum, energy and heat close to 1e-10 over brakes that slip and bounces on rough corners.

The step itself is looked at, without the audit: momentum less impulse, and energy less work plus heat, must not change.
What is left of them is the integrator's and falls with the fourth power of the step, so steps are short here; events
leave rounding.
"""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat import engine
from freefloat.dynamics import kinetic_energy, momentum_about_origin
from freefloat.sim.kernel import step
from freefloat.sim.system.event_log import KINDS

G = 9.81  # [m/s2]


@dataclasses.dataclass(frozen=True)
class Record:
    """Every state of a world of one spacecraft."""

    state: ff.State
    ledger: object
    modes: object  # what is held and what happened, see `ConstraintState`
    momentum: np.ndarray  # (n, 6) about the origin of N
    energy: np.ndarray  # kinetic [J]

    @property
    def open_ends(self) -> np.ndarray:
        """What the books are off by at every record: momentum about the origin (6), energy."""
        momentum = self.momentum - self.ledger.impulse
        energy = self.energy - self.ledger.work + self.ledger.dissipated
        balance = np.hstack([momentum, energy[:, None]])
        return balance - balance[0]

    @property
    def events(self) -> list[tuple[float, str]]:
        """Time and kind."""
        rows = self.modes.log.rows[-1]
        return [(row[0], KINDS[int(row[2])]) for row in rows[: self.modes.log.count[-1]]]


def play(world: ff.World, *parts, state: ff.State, duration: float, dt: float) -> Record:
    system, loop = ff.Experiment.of(world, *parts, state=state, duration=duration, dt=dt).begin()
    program = engine.compile(lambda loop, ticks: step(system, loop, {}, ticks), loop, np.int32(1))
    loops = program.rollout(loop, np.int32(1), steps=round(duration / dt), record_every=1).record
    craft, states = world.crafts[0], loops.plants[0].state
    momentum = engine.compile(lambda s: momentum_about_origin(craft, s), state).batch(states)
    energy = engine.compile(lambda s: kinetic_energy(craft, s.q, s.v), state).batch(states)
    return Record(states, loops.plants[0].ledger, loops.constraints, momentum, energy)


# ---- a brake

ARM = ff.Spacecraft.from_base("arm", mass=100.0, inertia=(20.0, 25.0, 30.0)).with_link(
    "rod", parent="base", joint="revolute", at=(0.8, 0.0, 0.1), axis=(0.0, 0.6, 0.8),
    mass=15.0, com=(0.6, 0.05, 0.0), inertia=(0.02, 2.0, 2.0),
)  # fmt: skip
MOVING = dataclasses.replace(ARM.at_rest(), v=np.array([0.05, -0.02, 0.03, 0.02, 0.01, -0.03, 0.6]))
SLIP = 4.0  # [N m]


@ff.record
class Stop(ff.Software):
    """Brakes the joint after a while; a motor pulls at it later on, harder than the brake holds."""

    def command(self, memory, y, clock):
        on = jnp.where((clock.t >= 0.2) & (clock.t < 3.5), 1.0, 0.0)
        pull = jnp.where(clock.t >= 2.5, 1.25 * SLIP, 0.0)
        return ff.Brake(("rod",), on[None]), ff.JointTorques(("rod",), pull[None])


@pytest.fixture(scope="module")
def braked() -> Record:
    """A joint that slips, stops, gives way to a motor, and is let go, on a base that drifts and turns."""
    world = ff.World.of(ARM).brake("rod", slip_torque=SLIP)
    return play(world, Stop(period=0.1), state=MOVING, duration=4.0, dt=1e-3)


def test_brake_slip_conserves_the_books(braked):
    """Nothing from outside: momentum stays; what the motion loses is heat less the motor's work."""
    assert [kind for _, kind in braked.events] == ["brake on", "brake holds", "brake slips", "brake off"]
    np.testing.assert_allclose(braked.ledger.impulse, 0.0, atol=1e-15)
    print("off by (momentum, energy):", np.max(np.abs(braked.open_ends), axis=0))  # noqa: T201
    assert np.max(np.abs(braked.open_ends)) < 1e-10


def test_heat_is_what_the_brake_rubs(braked):
    """Before the motor pulls: energy lost = heat = slip torque times the angle slipped; nothing goes at once."""
    heat, on, quiet = braked.ledger.dissipated, 200 - 1, 2400
    assert heat[quiet] > 0.1
    assert braked.energy[0] - braked.energy[quiet] == pytest.approx(heat[quiet], abs=1e-10)
    assert heat[quiet] == pytest.approx(SLIP * (braked.state.q[quiet, 0] - braked.state.q[on, 0]), abs=1e-10)
    assert braked.modes.lost[quiet] == pytest.approx(0.0, abs=1e-10)
    assert np.min(np.diff(heat)) > -1e-15  # heat does not come back


# ---- contacts with friction


@ff.record
class Uniform(ff.Effect):
    """A uniform field along -z of N."""

    def force(self, craft, state, clock):
        down = state.X_NB.R.T @ jnp.array([0.0, 0.0, -G])
        return jnp.zeros(craft.layout.nv).at[:3].set(craft.mass * down)


@pytest.fixture(scope="module")
def landing() -> Record:
    """A tilted box that slides and turns comes down on three rough corners, one after the other."""
    craft = ff.Spacecraft.from_base("box", mass=4.0, inertia=(0.3, 0.35, 0.3))
    corners = {f"corner.{k}": at for k, at in enumerate(((-0.5, -0.5, -0.5), (-0.5, 0.5, -0.5), (0.5, -0.5, -0.5)))}
    for name, at in corners.items():
        craft = craft.with_frame(name, body="base", at=at)
    world = ff.World.of(craft)
    for name in corners:
        world = world.contact(name, name, "N", restitution=0.3, friction=0.3)
    quat = np.array([1.0, 0.1, 0.07, 0.02])
    start = dataclasses.replace(
        craft.at_rest(),
        p_NB=np.array([0.0, 0.0, 0.7]),
        quat_NB=quat / np.linalg.norm(quat),
        v=np.array([0.3, 0.1, -1.0, 0.2, 0.0, 0.3]),
    )
    return play(world, Uniform(), state=start, duration=0.6, dt=5e-4)


@pytest.mark.slow
def test_a_tilted_box_on_rough_corners_closes_its_books(landing):
    assert landing.modes.log.count[-1] > 10
    sideways = np.abs(np.diff(landing.ledger.impulse[:, :2], axis=0))
    assert np.max(sideways) > 0.1  # it rubs [N s]
    print("off by (momentum, energy):", np.max(np.abs(landing.open_ends), axis=0))  # noqa: T201
    assert np.max(np.abs(landing.open_ends)) < 1e-10


def test_events_leave_nothing_but_rounding(landing):
    """The books change no more in steps with bounces than in those without."""
    change = np.max(np.abs(np.diff(landing.open_ends, axis=0)), axis=1)
    eventful = np.diff(landing.modes.log.count) > 0
    assert np.sum(eventful) > 5
    assert np.max(change[eventful]) < 1e-14 + 2.0 * np.max(change[~eventful])

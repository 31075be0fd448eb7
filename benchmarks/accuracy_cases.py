"""Thirty runs whose accuracy is compared with the truth: smooth motion, software, limits, contact and events."""

import dataclasses
from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import freefloat as ff
from freefloat.effects.contact import Bristles, CompliantContact, HuntCrossley, KelvinVoigt, Plane, Sphere

UP = (0.0, 0.0, 1.0)


@ff.record
class Gravity(ff.Effect):
    """Uniform, N axes."""

    acceleration: float  # [m/s2], downwards

    def force(self, craft, state, clock):
        pull = craft.mass * (state.X_NB.R.T @ jnp.array([0.0, 0.0, -self.acceleration]))
        return jnp.zeros(craft.layout.nv).at[:3].set(pull)


@ff.record
class LimitedHold(ff.Software):
    """Holds a joint with a torque that is limited."""

    stiffness: float  # [N m/rad]
    most: float  # [N m]

    def command(self, memory, y, clock):
        wanted = -self.stiffness * y["joints.position"] - 2.0 * y["joints.rate"]
        return ff.JointTorques(("rod",), jnp.clip(wanted, -self.most, self.most))


def hub(links: int = 1) -> ff.Spacecraft:
    """A hub with free rods, one on the other, that turn about z and y in turn."""
    craft = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 25.0, 30.0))  # [kg], [kg m2]
    parent = "base"
    for k in range(links):
        name = "rod" if k == 0 else f"rod{k + 1}"
        axis, at = (UP, (0.5, 0.0, 0.0)) if k % 2 == 0 else ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
        craft = craft.with_link(
            name, parent=parent, joint="revolute", at=ff.Pose(at), axis=axis, mass=5.0, com=(0.5, 0.0, 0.0),
            inertia=(0.01, 0.42, 0.42),
        )  # fmt: skip
        parent = name
    return craft.with_frame("hand", body=parent, at=(1.0, 0.0, 0.0))


def moving(craft: ff.Spacecraft, rng: np.random.Generator, rate: float, joints: float = 0.5) -> ff.State:
    """A random motion: rates of the base and of the joints [rad/s]."""
    start = craft.at_rest(joints=rng.uniform(-1.0, 1.0, len(craft.layout.moving_joints)))
    v = np.zeros(craft.layout.nv)
    v[3:6] = rate * rng.normal(size=3)
    v[6:] = joints * rng.normal(size=craft.layout.nv - 6)
    return dataclasses.replace(start, v=v)


def cases(seed: int) -> Iterator[tuple[str, bool, ff.Experiment]]:
    """Name, whether there is contact or an event, and the experiment."""
    rng = np.random.default_rng(seed)
    yield from ((name, False, made) for name, made in _smooth(rng))
    yield from ((name, True, made) for name, made in _touching(rng))


def _smooth(rng: np.random.Generator) -> Iterator[tuple[str, ff.Experiment]]:
    of = ff.Experiment.of
    one, two, bare = hub(), hub(2), hub(0)
    for k in range(5):
        yield f"rod {k}", of(one, state=moving(one, rng, 1.0), duration=18.0, dt=0.05)
    for k in range(4):
        fast = 2.0 if k == 0 else 0.5
        yield f"two rods {k}", of(two, state=moving(two, rng, 0.5 * fast, fast), duration=30.0, dt=0.03)
    yield "chaos", of(two, state=moving(two, rng, 1.0, 2.0), duration=60.0, dt=0.005)
    for k in range(2):
        yield f"rigid body {k}", of(bare, state=moving(bare, rng, 1.0), duration=20.0, dt=0.1)
    beam = ff.flex.beam(length=3.0, mass=4.0, bending_stiffness=200.0, modes={"y": 1, "z": 1})
    bent = ff.Spacecraft.from_base("bent", mass=50.0, inertia=(8.0, 9.0, 10.0)).mount(beam, name="beam")
    for k in range(3):
        start = dataclasses.replace(bent.at_rest(q=0.02 * rng.normal(size=2)), v=0.05 * rng.normal(size=8))
        yield f"flexible beam {k}", of(bent, state=start, duration=5.0, dt=0.005)
    arm = ff.library.ets7()
    for k in range(2):
        yield f"ETS-VII {k}", of(arm, state=moving(arm, rng, 0.02, 0.1), duration=20.0, dt=0.1)
    line = ff.ResolvedMotion(craft=arm, frame="hand", path=ff.Line(direction=(1, 0, 0), length=0.2, speed=0.01))
    yield "resolved motion", of(arm, line, joints_deg=(0, 0, 10, -32.8, 0, 0), duration=20.0, dt=0.25)
    for k in range(2):
        hold = LimitedHold(stiffness=20.0, most=50.0, period=0.1)
        yield f"sampled hold {k}", of(one, hold, state=moving(one, rng, 0.3), duration=10.0, dt=0.05)


def _touching(rng: np.random.Generator) -> Iterator[tuple[str, ff.Experiment]]:
    of, one = ff.Experiment.of, hub()
    floor = ff.World.of(one).contact("floor", "hand", "N", restitution=0.8)
    for k in range(3):
        start = dataclasses.replace(moving(one, rng, 0.5), p_NB=np.array([0.0, 0.0, 1.5]))
        yield f"bounces {k}", of(floor, Gravity(0.5), state=start, duration=5.0, dt=0.05)
    other = ff.Spacecraft.from_base("client", mass=60.0, inertia=(8.0, 9.0, 10.0))
    other = other.with_frame("grip", body="base", at=(-0.5, 0.0, 0.0))
    pair = ff.World(servicer=one, client=other)
    pair = pair.connection("grasp", "servicer.hand", "client.grip", automatic=True, reach=(0.15, 3.0))
    for k in range(2):
        coming = dataclasses.replace(
            other.at_rest(),
            p_NB=np.array([2.2, 0.0, 0.0]),
            v=np.array([-0.3, 0, 0, *(rng.normal(size=3) * (0.5, 0.05, 0.05))]),
        )
        start = dataclasses.replace(one.at_rest(), v=np.array([0, 0, 0, 0.1 * rng.normal(), 0, 0, 0]))
        yield f"grasp {k}", of(pair, state={"servicer": start, "client": coming}, duration=10.0, dt=0.1)
    braked = ff.World.of(one).brake("rod", slip_torque=2.0, on=True)
    for k in range(2):
        yield f"brake {k}", of(braked, state=moving(one, rng, 0.5, 0.0), duration=10.0, dt=0.05)
    for k in range(2):
        law = (KelvinVoigt(2e4, 50.0), HuntCrossley(1e5, 0.5))[k]
        rub = CompliantContact("hand", Sphere(0.1), "N", Plane(), law, Bristles(0.3, 1e4, 1e2))
        start = dataclasses.replace(moving(one, rng, 0.1), p_NB=np.array([0.0, 0.0, 0.2]))
        yield f"soft contact {k}", of(one, Gravity(0.5), rub, state=start, duration=2.0, dt=0.01)
    limited = LimitedHold(stiffness=20.0, most=0.3)
    yield "limited torque", of(one, limited, state=moving(one, rng, 0.3), duration=10.0, dt=0.05)

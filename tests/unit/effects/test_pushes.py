"""Friction, springs and pushes: forces by hand, and energies that fit them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.actuators.failures import DeadWheel
from freefloat.dynamics import frame_jacobian
from freefloat.effects import Friction, GravityGradient, JointFriction, JointSpring, WrenchPulse
from freefloat.effects.circular_orbit import CircularOrbit
from freefloat.library import ets7
from freefloat.model import Follow, Spacecraft, State
from freefloat.model.part_kinds import Effect
from freefloat.values import ModelError
from support.ports import clock_at

CRAFT = ets7(wheels=True)
NAMES = CRAFT.layout.moving_joints
NOW = clock_at(0.0)


def random_state(rng: np.random.Generator) -> State:
    upright = np.array([1.0, 0.0, 0.0, 0.0])
    return State(np.zeros(3), upright, rng.normal(size=CRAFT.layout.nq), 0.01 * rng.normal(size=CRAFT.layout.nv))


def test_friction_acts_against_each_of_its_joints(rng: np.random.Generator) -> None:
    state, friction = random_state(rng), Friction(coulomb=0.5, viscous=2.0)
    rates = state.v[np.array(CRAFT.layout.joint_velocities)]
    expected = -0.5 * np.tanh(rates / 1e-3) - 2.0 * rates
    force = np.asarray(JointFriction(friction).force(CRAFT, state, NOW))
    np.testing.assert_allclose(force[np.array(CRAFT.layout.joint_velocities)], expected, rtol=1e-15)
    assert np.count_nonzero(force) == len(NAMES)
    assert force @ state.v < 0.0  # it only takes energy
    some = JointFriction(friction, joints=NAMES[1:3], name="stiff")
    np.testing.assert_allclose(some.observe(CRAFT, state, NOW)[0], expected[1:3], rtol=1e-15)
    assert np.count_nonzero(np.asarray(some.force(CRAFT, state, NOW))) == 2


def test_two_kinds_of_friction_have_channels_of_their_own() -> None:
    every, some = JointFriction(Friction()), JointFriction(Friction(), joints=NAMES[:2], name="stiff")
    one, other = every.channels(CRAFT)[0], some.channels(CRAFT)[0]
    assert (one.name, one.components) == ("joints.friction", NAMES)
    assert (other.name, other.components) == ("stiff.joints.friction", NAMES[:2])
    assert one.axis != other.axis


def test_a_spring_gives_back_what_it_stores(rng: np.random.Generator) -> None:
    state, joint = random_state(rng), NAMES[3]
    spring = JointSpring(joint=joint, stiffness=7.0, rest=0.4)
    place, speed = CRAFT.layout.position(joint).start, CRAFT.layout.velocity(joint).start
    force = np.asarray(spring.force(CRAFT, state, NOW))
    assert np.count_nonzero(force) == 1
    np.testing.assert_allclose(force[speed], -7.0 * (state.q[place] - 0.4), rtol=1e-15)

    def energy(q):
        return spring.energy(CRAFT, State(state.p_NB, state.quat_NB, q, state.v))

    slope = np.asarray(jax.grad(energy)(jnp.asarray(state.q)))
    np.testing.assert_allclose(force[np.array(CRAFT.layout.joint_velocities)], -slope, rtol=1e-14)
    np.testing.assert_allclose(spring.observe(CRAFT, state, NOW)[0], 3.5 * (state.q[place] - 0.4) ** 2, rtol=1e-15)
    assert spring.channels(CRAFT)[0].name == f"{joint}.spring_energy"


def test_friction_and_spring_of_a_follower_work_at_its_own_rate() -> None:
    """What reaches the leader does the work that the follower's own torque does at the follower's own rate."""
    link = {"joint": "revolute", "mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
    craft = Spacecraft.from_base("arm", mass=9.0, inertia=(3.0, 3.0, 3.0)).with_link("upper", parent="base", **link)
    craft = craft.with_link("lower", parent="upper", follows=Follow("upper", -2.5, 0.1), **link)
    state = craft.in_motion(craft.at_rest(joints={"upper": 0.3}), joints={"upper": 0.2})
    position, rate = -2.5 * 0.3 + 0.1, -2.5 * 0.2  # of the follower
    friction, spring = Friction(viscous=2.0), JointSpring("lower", stiffness=7.0, rest=0.4)
    for effect, torque in ((JointFriction(friction, ("lower",)), -2.0 * rate), (spring, -7.0 * (position - 0.4))):
        force = np.asarray(effect.force(craft, state, NOW))
        np.testing.assert_allclose(force[6], -2.5 * torque, rtol=1e-14)
        np.testing.assert_allclose(force @ state.v, torque * rate, rtol=1e-14)


def test_a_failure_is_present_from_its_tick_until_that_of_its_recovery() -> None:
    fault = DeadWheel(wheel="wheel.x", at=0.3, until=0.6)
    ticks = jnp.asarray(0.1 * np.arange(9))  # 0.30000000000000004 among them
    assert [bool(fault.present(t)) for t in ticks] == [False] * 3 + [True] * 3 + [False] * 3


def test_a_push_acts_from_its_start_to_its_stop(rng: np.random.Generator) -> None:
    state, wrench = random_state(rng), rng.normal(size=6)
    push = WrenchPulse(frame="hand", wrench=wrench, start=1.0, stop=2.0)
    expected = np.asarray(frame_jacobian(CRAFT, state.q, "hand")).T @ wrench
    for t, factor in ((0.99, 0.0), (1.0, 1.0), (1.99, 1.0), (2.0, 0.0)):
        np.testing.assert_allclose(push.force(CRAFT, state, clock_at(t)), factor * expected, atol=1e-13)


def test_channels_and_values_agree(rng: np.random.Generator) -> None:
    effects = (
        GravityGradient(orbit=CircularOrbit(altitude=550e3)),
        JointFriction(Friction(coulomb=1.0)),
        JointSpring(joint=NAMES[0], stiffness=1.0),
        WrenchPulse(frame="hand", wrench=np.ones(6)),
    )
    for effect in effects:
        channels, values = effect.channels(CRAFT), effect.observe(CRAFT, random_state(rng), NOW)
        shapes = [(len(channel.components),) if channel.axis else () for channel in channels]
        assert [np.shape(value) for value in values] == shapes


WRONG: list[tuple[Effect, str]] = [
    (WrenchPulse(frame="hnd", wrench=np.zeros(6)), "WrenchPulse: Spacecraft 'ets7' has no frame 'hnd'. Frames: base,"),
    (JointSpring(joint="elbw", stiffness=1.0), "JointSpring: Spacecraft 'ets7' has no moving joint 'elbw'. Moving"),
    (
        JointFriction(Friction(), joints=("a",), name="dry"),
        "JointFriction 'dry': Spacecraft 'ets7' has no moving joint",
    ),
]


@pytest.mark.parametrize(("effect", "words"), WRONG, ids=lambda value: type(value).__name__)
def test_unknown_names_are_refused_when_a_system_is_built(effect: Effect, words: str) -> None:
    with pytest.raises(ModelError) as error:
        effect.check(CRAFT)
    assert words in str(error.value)


def test_what_fits_is_not_refused() -> None:
    hub = Spacecraft.from_base("hub", mass=1.0, inertia=(1.0, 1.0, 1.0))
    GravityGradient(orbit=CircularOrbit(altitude=550e3)).check(hub)
    WrenchPulse(frame="base", wrench=np.zeros(6)).check(hub)

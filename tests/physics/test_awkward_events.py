"""Events that are awkward: at one instant, without velocity, against what cannot give way. Handled, and said."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.dynamics import INERTIAL, FrameRows, contact, contact_impact
from support.compiling import compiled

BOX = ff.Spacecraft.from_base("box", mass=10.0, inertia=(1.0, 2.0, 1.5))
for _name, _x in (("left", -0.5), ("right", 0.5)):
    BOX = BOX.with_frame(_name, body="base", at=(_x, 0.0, 0.0))


@pytest.mark.slow
def test_two_latches_that_close_at_one_instant_are_one_impact():
    """Boxes come from both sides at 0.1 and 0.3 m/s and meet the middle one together: all three go on as one."""
    world = ff.World(west=BOX, middle=BOX, east=BOX)
    world = world.connection("first", "west.right", "middle.left", automatic=True, reach=(0.05, 0.1))
    world = world.connection("second", "middle.right", "east.left", automatic=True, reach=(0.05, 0.1))
    states = {}
    for name, x, vx in (("west", -1.15, 0.1), ("east", 1.35, -0.3)):  # 0.1 m and 0.3 m from their reach
        states[name] = dataclasses.replace(BOX.at_rest(), p_NB=np.array([x, 0.0, 0.0]), v=vx * np.eye(6)[0])
    run = ff.simulate(world, state=states, duration=2.0, record_dt=0.1)
    latches = [event for event in run.events if event["kind"] == "latched"]
    assert [event["name"] for event in latches] == ["first", "second"]
    np.testing.assert_allclose([event["time"] for event in latches], 1.0, atol=1e-9)
    together = (0.1 - 0.3) / 3.0  # [m/s]
    for name in world.names:
        np.testing.assert_allclose(run[f"{name}.base.velocity"].values[-1], [together, 0.0, 0.0], atol=1e-13)
    lost = 0.5 * 10.0 * (0.1**2 + 0.3**2) - 0.5 * 30.0 * together**2
    assert sum(event["energy_lost"] for event in latches) == pytest.approx(lost, rel=1e-10)
    assert run.audit.holds


@ff.record
class TurnAndLatch(ff.Software):
    """Turns a joint at a prescribed rate and latches its tip to a berth all the same."""

    def command(self, memory, y, clock):
        return ff.JointRates(("rod",), jnp.full(1, 0.2)), ff.Latch("berth", clock.t >= 0.5)


def test_a_latch_against_a_prescribed_motion_is_said():
    """Base held, joint driven: nothing can give way. The motion stays as prescribed, and the run tells it."""
    hub = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0)).with_link(
        "rod", parent="base", joint="revolute", mass=5.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42)
    )
    hub = hub.with_frame("tip", body="rod", at=(1.0, 0.0, 0.0))
    world = ff.World.of(hub).hold_base()
    world = world.connection("berth", ff.Pose(position=(1.0, 0.0, 0.0)), "tip", reach=(0.5, 4.0))
    run = ff.simulate(world, TurnAndLatch(period=0.1), duration=1.0, record_dt=0.1)
    np.testing.assert_allclose(run["joints.rate"].values[1:], 0.2, atol=1e-12)
    # 0.5 s at 0.2 rad/s after it latched.
    assert any("berth is latched but not kept: at the end it is off by 0.1 (m, rad)" in x for x in run.conditions)
    assert not any("the motion is right" in x for x in run.conditions)


def test_a_contact_without_approach_gives_no_impulse():
    """At rest or only sliding: a contact that does not close does nothing, however rough; and none a second time."""
    rows = (FrameRows(INERTIAL, (0, "left"), contact((0, 0, 1))), FrameRows(INERTIAL, (0, "right"), contact((0, 0, 1))))
    program = compiled(lambda v: contact_impact((BOX,), (dataclasses.replace(BOX.at_rest(), v=v),), rows, 0.0, 0.8))
    for v in (np.zeros(6), np.array([1.0, -2.0, 0.0, 0.0, 0.0, 0.0]), np.array([0.3, 0.0, 0.5, 0.0, 0.0, 0.0])):
        found = program(v)
        np.testing.assert_array_equal(found.impulse, 0.0)
        np.testing.assert_array_equal(found.speeds[0], v)
        assert found.energy_lost == 0.0
    once = program(np.array([0.3, 0.1, -1.0, 0.0, 0.2, 0.1]))
    assert once.energy_lost > 1.0
    again = program(once.speeds[0])
    np.testing.assert_allclose(again.speeds[0], once.speeds[0], atol=1e-13)

"""Brakes that hold and slip, prescribed joints in a grasp, closed chains, several latches at once."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.dynamics import inertial_frame_pose

I_BASE, I_ROD = 20.0, 0.42  # [kg m2]; the rod's about its centre of mass
HUB = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, I_BASE)).with_link(
    "rod", parent="base", joint="revolute", mass=5.0, com=(0.0, 0.0, 0.0), inertia=(0.01, 0.42, I_ROD)
)
RATE = 0.5  # [rad/s]
TURNING = dataclasses.replace(HUB.at_rest(), v=RATE * np.eye(7)[6])
REDUCED = I_BASE * I_ROD / (I_BASE + I_ROD)  # inertia of the joint in free space [kg m2]


@ff.record
class BrakeAt(ff.Software):
    """Brakes the rod from a time on."""

    at: float = 1.0
    until: float = np.inf

    def command(self, memory, y, clock):
        return ff.Brake(("rod",), jnp.where((clock.t >= self.at) & (clock.t < self.until), 1.0, 0.0)[None])


@ff.record
class Drive(ff.Software):
    """A torque that grows."""

    slope: float = 0.1  # [N m/s]

    def command(self, memory, y, clock):
        return ff.JointTorques(("rod",), (self.slope * clock.t)[None])


def test_a_brake_that_never_slips_is_a_plastic_impact():
    world = ff.World.of(HUB).brake("rod")
    run = ff.simulate(world, BrakeAt(period=0.1), state=TURNING, duration=2.0)
    (event,) = run.events
    assert (event["time"], event["kind"], event["name"]) == (1.0, "brake on", "rod")
    assert event["energy_lost"] == pytest.approx(0.5 * REDUCED * RATE**2, rel=1e-12)
    assert event["joint_impulse"] == pytest.approx(-REDUCED * RATE, rel=1e-12)
    held = run["time"].values > 1.0
    np.testing.assert_allclose(run["joints.rate"].values[held], 0.0, atol=1e-15)
    angles = run["joints.position"].values[held, 0]
    assert np.ptp(angles) < 1e-15
    assert run["connections.energy_lost"].values[-1] == pytest.approx(event["energy_lost"], rel=1e-12)


def test_a_brake_that_slips_takes_the_energy_as_heat():
    """Constant torque: the rate falls in a straight line, and the joint stops after REDUCED RATE / torque."""
    torque = 0.2  # [N m]
    world = ff.World.of(HUB).brake("rod", slip_torque=torque)
    run = ff.simulate(world, BrakeAt(period=0.1), state=TURNING, duration=4.0, dt=0.01)
    assert [event["kind"] for event in run.events] == ["brake on", "brake holds"]
    assert run.events[1]["time"] == pytest.approx(1.0 + REDUCED * RATE / torque, abs=1e-9)
    assert run["energy.dissipated"].values[-1] == pytest.approx(0.5 * REDUCED * RATE**2, rel=1e-10)
    assert run["connections.energy_lost"].values[-1] == pytest.approx(0.0, abs=1e-15)
    slipping = run["brake.rod"].values == 2
    assert slipping.any()
    assert run.audit.holds


def test_a_brake_gives_way_at_its_slip_torque():
    """A motor that pulls 0.1 t against 0.25 N m: it gives way at 2.5 s, exactly, and moves by the difference."""
    world = ff.World.of(HUB).brake("rod", slip_torque=0.25, on=True)
    run = ff.simulate(world, Drive(), duration=4.0, dt=0.01)
    assert [event["kind"] for event in run.events] == ["brake slips"]
    assert [line.split(",")[0] for line in run.conditions] == ["brake.rod: slips"]
    slips = run.events[0]["time"]
    assert slips == pytest.approx(2.5, abs=1e-9)
    assert run["joints.rate"].values[-1, 0] == pytest.approx(0.1 * (4.0 - slips) ** 2 / 2.0 / REDUCED, rel=1e-9)
    assert run["brake.rod.torque"].values[100] == pytest.approx(-0.1, rel=1e-9)
    assert run.audit.holds


def test_a_brake_can_be_let_go():
    world = ff.World.of(HUB).brake("rod")
    run = ff.simulate(world, BrakeAt(1.0, 2.0, period=0.1), Drive(period=0.1), duration=3.0)
    assert [event["kind"] for event in run.events] == ["brake on", "brake off"]
    assert abs(run["joints.rate"].values[-1, 0]) > 0.1


def test_a_brake_on_a_prescribed_joint_is_refused():
    @ff.record
    class Turn(ff.Software):
        def command(self, memory, y, clock):
            return ff.JointRates(("rod",), jnp.ones(1))

    with pytest.raises(ff.ModelError, match="software prescribes its rate"):
        ff.simulate(ff.World.of(HUB).brake("rod"), Turn(), duration=1.0)


# ---- closed chains


def two_arms() -> ff.Spacecraft:
    craft = ff.Spacecraft.from_base("servicer", mass=500.0, inertia=(100.0, 120.0, 90.0))
    for side, y in (("left", 0.5), ("right", -0.5)):
        parent = "base"
        for k, (axis, at) in enumerate((((0, 0, 1), (0.5, y, 0)), ((0, 1, 0), (0.8, 0, 0)), ((0, 0, 1), (0.8, 0, 0)))):
            name = f"{side}.{k + 1}"
            craft = craft.with_link(
                name,
                parent=parent,
                joint="revolute",
                at=at,
                axis=axis,
                mass=10.0,
                com=(0.4, 0, 0),
                inertia=(0.05, 0.6, 0.6),
            )
            parent = name
        craft = craft.with_frame(f"{side}.hand", body=parent, at=(0.4, 0.0, 0.0))
    return craft


HALF = 0.5 + 1.6 * np.sin(0.3)  # between the hands, with the arms spread by 0.3 rad [m]


def grasped(half: float = HALF, off: float = 0.0, **more) -> tuple[ff.World, dict]:
    """Two hands that hold a box from the start; the box is `off` from where they are [m]."""
    craft = two_arms()
    box = ff.Spacecraft.from_base("box", mass=100.0, inertia=(10.0, 12.0, 9.0))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        box = box.with_frame(side, body="base", at=(0.0, sign * half, 0.0))
    world = ff.World(servicer=craft, box=box)
    for side in ("left", "right"):
        world = world.connection(f"{side}.grasp", f"servicer.{side}.hand", f"box.{side}", on=True, **more)
    bent = {"left.1": 0.3, "left.3": -0.3, "right.1": -0.3, "right.3": 0.3}
    start = craft.at_rest(joints=bent)
    hands = [np.asarray(inertial_frame_pose(craft, start, f"{side}.hand").p) for side in ("left", "right")]
    there = 0.5 * (hands[0] + hands[1]) + np.array([off, 0.0, 0.0])
    moves = np.array([0.01, 0.02, -0.01, 0.01, 0.02, 0.03])
    return world, {"servicer": start, "box": dataclasses.replace(box.at_rest(), p_NB=there, v=moves)}


@pytest.mark.slow
def test_two_arms_on_one_box_keep_their_books_and_their_grip():
    """A dual-arm grasp from the start: the start is solved, redundant rows are told, and nothing drifts."""
    world, states = grasped(off=0.01)
    run = ff.simulate(world, state=states, duration=10.0)
    assert run.audit.holds
    for side in ("left", "right"):
        apart = run[f"box.{side}.position"].values - run[f"servicer.{side}.hand.position"].values
        assert np.max(np.abs(apart)) < 1e-11
    assert any("left.grasp, right.grasp" in text and "depend on others" in text for text in run.conditions)


def test_connections_that_contradict_one_another_are_refused():
    world, states = grasped()
    world = world.connection("third", "servicer.left.hand", "box.left", on=True, at=(0.02, 0.0, 0.0))
    with pytest.raises(ff.ModelError, match=r"left\.grasp, right\.grasp, third contradict one another"):
        ff.simulate(world, state=states, duration=1.0)


def test_a_start_that_is_too_far_apart_is_refused():
    world, states = grasped(off=0.2)
    with pytest.raises(ff.ModelError, match=r"'left.grasp' is on from the start, but its frames are 0\.2 m"):
        ff.simulate(world, state=states, duration=1.0)

"""Grasp mechanisms: where they can take hold, how long closing takes, and what they miss."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.control import MechanicalGrasp, ParallelJaw, ProbeAndDrogue, ThreeWireSnare
from freefloat.spatial.rotations import rotation_about
from freefloat.values import ModelError

X, Y, Z = np.eye(3)


def at(position, axis=Z, angle=0.0):
    return ff.Pose(
        position=np.array(position, dtype=float), rotation=np.asarray(rotation_about(axis, np.float64(angle)))
    )


def test_a_snare_takes_a_pin_in_its_tube_however_it_is_turned_about_its_axis():
    snare = ThreeWireSnare(0.2, 1.5, radius=0.1, depth=0.08)
    assert snare.inside(at((0.07, -0.07, -0.01)))
    assert snare.inside(at((0.0, 0.0, -0.079), Z, 3.0))
    assert snare.inside(at((0.0, 0.0, -0.01), X, 0.199))
    for outside in (((0.08, -0.07, -0.01),), ((0, 0, 0.001),), ((0, 0, -0.081),), ((0, 0, -0.01), Y, 0.201)):
        assert not snare.inside(at(*outside))


def test_jaws_take_what_is_between_them_and_aligned():
    jaw = ParallelJaw(0.1, 1.0, opening=0.06, width=0.02, depth=0.04)
    assert jaw.inside(at((0.009, 0.029, -0.019), X, 0.099))
    for outside in (((0.011, 0, 0),), ((0, 0.031, 0),), ((0, 0, 0.021),), ((0, 0, 0), Z, 0.101)):
        assert not jaw.inside(at(*outside))


def test_a_drogue_guides_the_tip_in_its_cone_and_latches_it_near_the_floor():
    drogue = ProbeAndDrogue(0.3, 0.5, mouth=0.15, depth=0.2, throat=0.03, latches=0.05)
    about = np.array([np.cos(0.7), np.sin(0.7), 0.0])  # half a turn about it: the probe points to the floor
    assert drogue.guides(at((0.08, 0.0, 0.1)))  # there the cone is 0.09 m wide
    assert not drogue.inside(at((0.08, 0.0, 0.1)))  # too far from the latches
    assert not drogue.guides(at((0.1, 0.0, 0.1)))
    assert not drogue.guides(at((0.0, 0.0, 0.21)))
    assert drogue.inside(at((0.02, 0.0, 0.04), about, np.pi))
    assert drogue.inside(at((0.02, 0.0, 0.04), X, np.pi - 0.29))
    assert not drogue.inside(at((0.02, 0.0, 0.04), X, np.pi - 0.31))
    assert not drogue.inside(at((0.02, 0.0, 0.04)))


def test_impossible_mechanisms_are_refused():
    with pytest.raises(ModelError, match="closing_time"):
        ParallelJaw(0.1, -1.0)
    with pytest.raises(ModelError, match="radius"):
        ThreeWireSnare(0.1, 1.0, radius=0.0)


SERVICER = ff.Spacecraft.from_base("servicer", mass=100.0, inertia=(9.0, 9.0, 9.0)).with_frame("snare", body="base")
CLIENT = ff.Spacecraft.from_base("client", mass=50.0, inertia=(4.0, 4.0, 4.0)).with_frame("pin", body="base")
WORLD = ff.World(servicer=SERVICER, client=CLIENT).connection("latch", "servicer.snare", "client.pin", reach=(0.2, 0.3))


def passing(speed, release_after=100.0):
    """A pin that crosses the snare's tube along x, 0.2 m wide, from 0.115 m off its axis on."""
    snare = ThreeWireSnare(0.2, 1.0, 0.3, radius=0.1, depth=0.1)
    grasp = MechanicalGrasp(
        "latch", snare, "snare", "client.pin", release_after=release_after, period=0.1, on="servicer"
    )
    start = dataclasses.replace(
        CLIENT.at_rest(), p_NB=np.array([-0.115, 0.0, -0.05]), v=np.array([speed, 0.0, 0.0, 0.0, 0.0, 0.0])
    )
    return ff.simulate(WORLD, grasp, state={"client": start}, duration=4.0, dt=0.1)


class Told(dict):
    """Measurements by name."""

    def valid(self, name):
        return jnp.asarray(True)

    def taken(self, name):
        return jnp.zeros(())


def sequence(places, mechanism, **fields):
    """States after each of several ticks, 0.1 s apart, of a pin at places along x."""
    software = MechanicalGrasp("latch", mechanism, "snare", "client.pin", period=0.1, **fields)
    memory, found = software.begin(Told()), []
    for tick, x in enumerate(places):
        y = Told({"snare.position": jnp.zeros(3), "client.pin.position": jnp.array([x, 0.0, -0.05])})
        y.update({f"{name}.attitude": jnp.array([1.0, 0.0, 0.0, 0.0]) for name in ("snare", "client.pin")})
        memory = software.remember(memory, y, ff.Clock(t=np.float64(0.1 * tick), tick=np.array(tick), dt=0.1, hold=0.1))
        found.append(int(memory.state))
    latch, release = software.command(memory, y, ff.Clock(t=np.float64(0.0), tick=np.array(0), dt=0.1))
    return found, bool(latch.now), bool(release.now), int(memory.misses)


def test_the_sequence_of_a_grasp():
    """Open, closing for 0.3 s, holds for 0.2 s, lets go."""
    snare = ThreeWireSnare(0.2, 0.3, 0.2, radius=0.1, depth=0.1)
    assert sequence([0.2, 0.05, 0.05, 0.0, 0.0], snare) == ([0, 1, 1, 1, 2], True, False, 0)
    assert sequence([0.05] * 6, snare, release_after=0.2) == ([1, 1, 1, 2, 2, 4], False, True, 0)
    # It leaves after 0.2 s: missed; 0.2 s later it is open, and tries again.
    assert sequence([0.05, 0.05, 0.2, 0.2, 0.05, 0.05], snare) == ([1, 1, 3, 3, 1, 1], False, False, 1)
    instant = ThreeWireSnare(0.2, 0.0, radius=0.1, depth=0.1)
    assert sequence([0.2, 0.05], instant) == ([0, 2], True, False, 0)


@pytest.mark.slow
def test_a_slow_pin_is_held_after_the_time_of_closing():
    run = passing(0.1, release_after=0.5)  # in the tube from 0.15 s on
    kinds = [(event["kind"], round(event["time"], 9)) for event in run.events]
    assert kinds == [("latched", 1.2), ("released", 1.7)]
    states = run["servicer.latch.mechanism"].values
    assert [int(x) for x in states[[0, 5, 14, 20]]] == [0, 1, 2, 4]
    assert run["servicer.latch.misses"].values[-1] == 0


@pytest.mark.slow
def test_a_fast_pin_is_missed():
    run = passing(0.3)  # in the tube for 0.67 s
    assert len(run.events) == 0
    assert run["servicer.latch.misses"].values[-1] == 1
    states = run["servicer.latch.mechanism"].values
    assert 3 in states
    assert states[-1] == 0  # open again

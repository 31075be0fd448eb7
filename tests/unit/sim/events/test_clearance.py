"""Clearance in runs: pairs, the channel, events inside the step, the end of a run, meshes; and what is refused."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat import engine
from freefloat.control import HoldJoints
from freefloat.model.shapes import Box, Cone, Cylinder, Mesh, Shape
from freefloat.sim.events.clearance_pairs import compiled_distances, watched_pairs, with_chosen_pairs
from freefloat.sim.kernel import step

BALL = 0.4  # radius of the client [m]
REACH = 2.55  # of the stretched arm from the origin [m]
CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
SIDES = [(0, 1, 3), (0, 3, 2), (4, 7, 5), (4, 6, 7), (0, 5, 1), (0, 4, 5)]
FACES = np.array([*SIDES, (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)])


def servicer(body=None):
    """A box with an arm of two capsules along x."""
    link = {"joint": "revolute", "mass": 2.0, "inertia": (0.1, 0.1, 0.1)}
    craft = ff.Spacecraft.from_base("servicer", mass=100.0, inertia=(20.0, 20.0, 20.0))
    craft = craft.with_shapes("base", Shape(Box((1.0, 1.0, 1.0)) if body is None else body))
    craft = craft.with_link("arm", parent="base", at=(0.7, 0.0, 0.0), **link)
    craft = craft.with_shapes("arm", Shape.capsule((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 0.05))
    craft = craft.with_link("hand", parent="arm", at=(1.0, 0.0, 0.0), **link)
    return craft.with_shapes("hand", Shape.capsule((0.0, 0.0, 0.0), (0.8, 0.0, 0.0), 0.05))


def client():
    craft = ff.Spacecraft.from_base("client", mass=40.0, inertia=(3.0, 3.0, 2.0))
    return craft.with_shapes("base", Shape.ball((0.0, 0.0, 0.0), BALL))


def approaching(speed):
    return dataclasses.replace(client().at_rest(), p_NB=np.array([5.0, 0.0, 0.0]), v=-speed * np.eye(6)[0])


@ff.record
class Turn(ff.control.RateSoftware):
    """Turns a joint at a constant rate."""

    joints: tuple[str, ...] = ff.static()
    rate: float = 0.25  # [rad/s]

    def rates(self, memory, y, clock):
        return jnp.full(len(self.joints), self.rate)


# ---- pairs


def test_pairs_are_chosen_but_for_neighbours_and_what_touches():
    world = ff.World(servicer=servicer(), client=client())
    near = {"client": dataclasses.replace(client().at_rest(), p_NB=np.array([0.0, 0.0, 0.8]))}
    one = ff.Experiment.of(world, ff.Clearance(), state=near, duration=1.0).system.clearances[0]
    # base and arm, arm and hand share a joint; the client begins inside the base.
    assert one.pairs == (
        ("servicer.base", "servicer.hand"),
        ("servicer.arm", "client.base"),
        ("servicer.hand", "client.base"),
    )
    kept = ff.Clearance(ignore=(("client.base", "servicer.arm"),))
    far = {"client": approaching(0.5)}
    some = ff.Experiment.of(world, kept, state=far, duration=1.0).system.clearances[0]
    assert len(some.pairs) == 3
    assert ("servicer.arm", "client.base") not in some.pairs
    own = ff.Experiment.of(world, ff.Clearance(on="servicer"), state=far, duration=1.0).system.clearances[0]
    assert own.pairs == (("servicer.base", "servicer.hand"),)


def test_bodies_that_are_fixed_together_count_as_one():
    lamp = {"parent": "base", "joint": "fixed", "mass": 1.0, "inertia": (0.1, 0.1, 0.1), "at": (0.0, 3.0, 0.0)}
    craft = servicer().with_link("lamp", **lamp).with_shapes("lamp", Shape.ball((0.0, 0.0, 0.0), 0.1))
    part = ff.Experiment.of(craft, ff.Clearance(), duration=1.0).system.clearances[0]
    assert part.pairs == (("base", "hand"), ("hand", "lamp"))  # neither with the base nor with its other neighbour


# ---- events


@pytest.fixture(scope="module")
def stopped():
    """The client comes straight at the hand; the run ends when it is 0.1 m away."""
    world = ff.World(servicer=servicer(), client=client())
    part = ff.Clearance(limit=0.1, stop=True)
    return ff.simulate(world, part, state={"client": approaching(0.31)}, duration=20.0, record_dt=0.5)


def test_a_run_ends_where_a_clearance_closes_and_says_why(stopped):
    closes = (5.0 - BALL - REACH - 0.1) / 0.31
    assert stopped.events[0]["time"] == pytest.approx(closes, abs=1e-9)
    assert stopped.events[0]["kind"] == "clearance closed"
    assert stopped.status == f"stopped at {closes:.9g} s: clearance of servicer.hand - client.base closed"
    assert stopped.stopped
    assert not stopped.completed
    assert stopped["time"].values[-1] == pytest.approx(6.5)  # the record after it, of those that were asked for
    assert "stopped" in repr(stopped)


def test_the_channel_has_every_pair(stopped):
    distance, t = stopped["clearance"], stopped["time"].values
    assert distance.units == "m"
    assert list(distance.pair.values)[-1] == "servicer.hand - client.base"
    assert np.max(np.abs(distance.values[:, -1] - (5.0 - BALL - REACH - 0.31 * t))) < 1e-12
    assert np.max(np.abs(distance.values[:, 0] - (1.7 - 0.5 - 0.05))) < 1e-12  # base and hand


def swinging(craft, *parts, **options):
    """The hand turns about its joint at 0.25 rad/s, on a base that is held: its tip passes a wall."""
    held = ff.World.of(craft).hold_base()
    return ff.simulate(held, Turn(("hand",)), HoldJoints(("arm",)), *parts, duration=20.0, dt=0.05, **options)


@pytest.fixture(scope="module")
def passing():
    return swinging(servicer(), ff.Clearance((("base", "hand"),), limit=0.4), record_dt=0.5)


def test_closing_and_opening_are_found_to_a_billionth_of_a_second(passing):
    """The tip of the hand, at 1.7 - 0.8 cos from the origin along x, is 0.45 from the face at x = 0.5 twice.

    Near that instant the tip is beside the face: its height 0.8 sin is below half the width of the box.
    """
    angle = np.pi - np.arccos((1.7 - 0.5 - 0.45) / 0.8)
    assert 0.8 * np.sin(angle) < 0.5
    expected = [angle / 0.25, (2.0 * np.pi - angle) / 0.25]
    assert [event["time"] for event in passing.events] == pytest.approx(expected, abs=1e-9)
    assert [event["kind"] for event in passing.events] == ["clearance closed", "clearance opened"]
    assert passing.completed
    assert passing.audit.holds


@pytest.mark.slow  # the world with a contact is a long program
def test_events_that_move_the_world_do_not_hide_a_clearance():
    """With a bounce in between, found by the other search of the same step."""
    ball = ff.Spacecraft.from_base("ball", mass=2.0, inertia=(0.1, 0.1, 0.1)).with_shapes(
        "base", Shape.ball((0, 0, 0), 0.1)
    )
    world = ff.World(ball=ball, wall=client()).contact("floor", "ball.base", "N", radius=0.1, restitution=1.0)
    start = {
        "ball": dataclasses.replace(ball.at_rest(), p_NB=np.array([0.0, 0.0, 1.1]), v=-np.eye(6)[2]),
        "wall": dataclasses.replace(client().at_rest(), p_NB=np.array([0.0, 0.0, 3.0])),
    }
    run = ff.simulate(world, ff.Clearance(limit=0.0), state=start, duration=4.0, dt=0.5)
    assert [event["kind"] for event in run.events] == ["bounced", "clearance closed"]
    assert run.events[1]["time"] == pytest.approx(1.0 + 2.4, abs=1e-9)  # up from 0.1 to 3 - 0.4 - 0.1


def test_each_instance_of_a_batch_has_its_own_instant():
    world = ff.World(servicer=servicer(), client=client())
    part = ff.Clearance((("servicer.hand", "client.base"),), limit=0.1)
    experiment = ff.Experiment.of(world, part, state={"client": approaching(0.5)}, duration=1.0, dt=0.05)
    system, loop = experiment.begin()
    program = engine.compile(lambda loop: step(system, loop, {}), loop)
    speeds = np.linspace(0.3, 0.4, 32)  # none is through before the end
    loops = jax.tree.map(lambda x: np.repeat(np.asarray(x)[None], 32, axis=0), loop)
    loops.plants[1].state.v[:, 0] = -speeds
    end = program.rollout_batch(loops, steps=160).state.clearances
    assert np.max(np.abs(end.closed_at[:, 0] - (5.0 - BALL - REACH - 0.1) / speeds)) < 1e-9
    assert np.all(end.closed == 1)


# ---- meshes and cylinders


def test_convex_meshes_are_measured_in_the_record(passing):
    """A cube as a mesh, by coal, against the box in compiled code."""
    run = swinging(servicer(Mesh(CORNERS, FACES)), ff.Clearance((("base", "hand"),)), record_dt=0.5)
    assert np.max(np.abs(run["clearance"].values - passing["clearance"].values)) < 1e-9


@pytest.mark.parametrize("place", [(0.0, 0.0, -0.5), (0.0, 0.0, 2.5), (1.5, 0.0, 2.0)])
def test_a_cone_has_its_tip_at_the_origin_and_opens_along_z(place):
    """A view of 2 m, 1 m wide: half a metre from its tip, from its open end, and from the rim there."""
    craft = ff.Spacecraft.from_base("servicer", mass=100.0, inertia=(20.0, 20.0, 20.0))
    world = ff.World(servicer=craft.with_shapes("base", Shape(Cone(1.0, 2.0))), client=client())
    there = dataclasses.replace(client().at_rest(), p_NB=np.array(place))
    clearance = ff.Clearance((("servicer.base", "client.base"),))
    run = ff.simulate(world, clearance, state={"client": there}, duration=0.02)
    assert float(run["clearance"].values[0, 0]) == pytest.approx(0.5 - BALL, abs=1e-9)


def test_a_cylinder_counts_as_the_capsule_around_it():
    craft = servicer(Cylinder(0.1, 1.0))
    system = ff.Experiment.of(craft, ff.Clearance((("base", "hand"),)), duration=1.0).system
    pairs = watched_pairs(system, system.clearances[0])
    assert compiled_distances(system.world, pairs, (craft.at_rest(),))[0] == pytest.approx(1.7 - 0.05 - 0.1, abs=1e-12)


def test_what_only_coal_can_measure_may_be_left_out():
    """A view that is drawn is no body."""
    craft = servicer().with_shapes("base", Shape(Box((1.0, 1.0, 1.0))), Shape(Cone(1.0, 5.0)))
    for part in (ff.Clearance(simple=True, limit=0.1), ff.Clearance((("base", "hand"),), simple=True, limit=0.1)):
        system = ff.Experiment.of(craft, part, duration=1.0).system
        pairs = watched_pairs(system, system.clearances[0])
        assert system.clearances[0].pairs == (("base", "hand"),)
        assert compiled_distances(system.world, pairs, (craft.at_rest(),))[0] == pytest.approx(1.15, abs=1e-12)


# ---- what is refused


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ff.Clearance((("base", "hnd"),)), "has no body 'hnd'. Bodies: base, arm, hand"),
        (lambda: ff.Clearance((("base", "base"),)), "'base' with itself"),
        (lambda: ff.Clearance(limit=-1.0), "Clearance.limit must be at least 0, got -1 m"),
        (lambda: ff.Clearance(stop=True), "it stops at a limit, and none is given"),
        (lambda: ff.Clearance((("base", "hand"),), ignore=(("base", "arm"),)), "Leave it out with `pairs`"),
        (lambda: ff.Clearance(ignore=(("base", "hand"),)), "there is no pair of bodies with shapes"),
        (
            lambda: ff.Clearance(limit=2.0, stop=True),
            "base - hand are 1.15 m apart at the start, within the limit of 2 m",
        ),
    ],
)
def test_bad_clearances_are_refused_by_name(make, words):
    with pytest.raises(ff.ModelError) as caught:
        ff.Experiment.of(servicer(), make(), duration=1.0).begin()
    assert words in str(caught.value)


def test_more_that_is_refused():
    bare = ff.Spacecraft.from_base("bare", mass=1.0, inertia=(1.0, 1.0, 1.0))
    world = ff.World(servicer=servicer(), bare=bare)
    with pytest.raises(ff.ModelError, match=r"body 'base' of 'bare' has no shapes. Give it some: craft.with_shapes"):
        ff.Experiment.of(world, ff.Clearance((("servicer.hand", "bare.base"),)), duration=1.0)
    with pytest.raises(ff.ModelError, match="say of which spacecraft 'hand' is"):
        ff.Experiment.of(world, ff.Clearance((("hand", "bare.base"),)), duration=1.0)
    mesh = servicer(Mesh(CORNERS, FACES))
    with pytest.raises(ff.ModelError, match="'base' has a Mesh, which compiled code does not measure"):
        ff.Experiment.of(mesh, ff.Clearance((("base", "hand"),), limit=0.1), duration=1.0)
    with pytest.raises(ff.ModelError, match="body 'base' of 'servicer' has no shapes"):
        ff.Experiment.of(mesh, ff.Clearance((("base", "hand"),), limit=0.1, simple=True), duration=1.0)
    with pytest.raises(ff.ModelError, match="a limit needs integrator='rk4'"):
        ff.Experiment.of(servicer(), ff.Clearance(limit=0.1), duration=1.0, integrator="adaptive").begin()
    assert with_chosen_pairs(ff.Experiment.of(bare, duration=1.0).system, ()).clearances == ()

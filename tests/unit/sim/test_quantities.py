"""Quantities of a user: channels, ideal measurements, contracts, ports, continuous rates; and what a clash says."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.dynamics import inertial_frame_pose, momentum_about_origin
from freefloat.outside import host
from freefloat.sensors import Distance, Ideal, SpecificForce
from freefloat.spatial import linear
from freefloat.spatial.rotations import rotation_matrix

HUB = (
    ff.Spacecraft.from_base("hub", mass=20.0, inertia=(3.0, 3.0, 3.0))
    .with_link("rod", parent="base", joint="revolute", mass=2.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.2, 0.2))
    .with_frame("tip", body="rod", at=(1.0, 0.0, 0.0))
)
OTHER = ff.Spacecraft.from_base("other", mass=5.0, inertia=(1.0, 1.0, 1.0)).with_frame("ring", body="base")
TWO = ff.World(servicer=HUB, client=OTHER).connection("grasp", "servicer.tip", "client.ring")


@ff.record
class Reach(ff.Quantity):
    """Distance of a frame from the base origin, squared, and that of the base from N."""

    frame: str = ff.static(default="tip")

    def channels(self, craft: ff.Spacecraft) -> tuple[ff.Channel, ...]:
        return (ff.Channel("reach", "Reach squared", "m2"), ff.Channel("away", "Away from N, squared", "m2"))

    def value(self, truth: Any, name: str) -> Any:
        away = jnp.asarray(truth.state.p_NB)
        line = inertial_frame_pose(truth.craft, truth.state, self.frame).p - away
        return line @ line if name == "reach" else away @ away

    def has_rate(self, name: str) -> bool:
        return name == "away"

    def rate(self, y: Any, name: str) -> Any:
        R_NB = rotation_matrix(y["base.attitude"])
        return 2.0 * y["base.position"] @ (R_NB @ y["base.velocity"])


@ff.record
class Speed(ff.Quantity):
    """Velocity of the centre of mass: only forces from outside change it."""

    def channels(self, craft: ff.Spacecraft) -> tuple[ff.Channel, ...]:
        return (ff.Channel("com.speed", "Velocity of the centre of mass", "m/s", "N", "xyz", ("x", "y", "z")),)

    def value(self, truth: Any, name: str) -> Any:
        return linear(momentum_about_origin(truth.craft, truth.state)) / truth.craft.mass

    def rate_from_forces(self, truth: Any, force: Any, name: str) -> Any:
        return linear(truth.state.X_NB.wrench_to_A(force[:6])) / truth.craft.mass


@ff.record
class Reader(ff.Software[Any]):
    """Remembers a number that it reads, and records it."""

    reads: str = ff.static(default="reach")

    def begin(self, y: Any) -> Any:
        return jnp.sum(y[self.reads])

    def remember(self, memory: Any, y: Any, clock: ff.Clock) -> Any:
        return jnp.sum(y[self.reads])

    def channels(self) -> tuple[ff.Channel, ...]:
        return (ff.Channel(self.channel_name("read"), "What it read", "1"),)

    def observe(self, memory: Any, y: Any, clock: ff.Clock, truth: Any) -> tuple[Any, ...]:
        return (memory,)


@ff.record
class Mover(ff.control.RateSoftware):
    """Prescribes a joint rate from what it reads."""

    joints: tuple[str, ...] = ff.static(default=("rod",))
    reads: str = ff.static(default="away")

    def rates(self, memory: Any, y: Any, clock: ff.Clock) -> Any:
        return jnp.sum(y[self.reads])[None]


def test_a_quantity_is_a_channel_and_software_reads_it_by_its_name() -> None:
    run = ff.simulate(HUB, Reach(), Reader(period=0.1), state=HUB.in_motion(rate=(0, 0, 1.0)), duration=0.3, dt=0.1)
    assert (run["reach"].units, run["away"].units) == ("m2", "m2")
    np.testing.assert_allclose(run.values("reach"), 1.0, atol=1e-14)
    np.testing.assert_allclose(run.values("read"), 1.0, atol=1e-14)


def test_its_unit_stands_in_the_contract_of_software_outside_and_its_name_is_a_port() -> None:
    experiment = ff.Experiment.of(HUB, Reach(), Reader(period=0.1), duration=0.2, dt=0.1)
    assert "m2" in host(experiment, "Reader").contract.text()
    replaced = ff.simulate(HUB, Reach(), Reader(period=0.1), inputs={"reach": 7.0}, duration=0.2, dt=0.1)
    assert replaced.values("read")[-1] == 7.0


def test_in_a_world_of_two_it_is_on_one_of_them() -> None:
    parts = (
        Reach(on="servicer"),
        Reach("ring", on="client"),
        Distance("tip", "client.ring", on="servicer"),
        Reader("client.away", on="servicer", name="far", period=0.1),
        Reader("range.range_rate", on="servicer", name="near", period=0.1),
    )
    states = {"client": OTHER.in_motion(OTHER.at_rest(at=(3.0, 0.0, 0.0)), velocity=(0.5, 0.0, 0.0))}
    run = ff.simulate(TWO, *parts, state=states, duration=0.2, dt=0.1)
    assert {"servicer.reach", "client.reach", "servicer.range.distance"} <= set(run.channels)
    np.testing.assert_allclose(run.values("servicer.range.distance"), [2.0, 2.05, 2.1], atol=1e-13)
    np.testing.assert_allclose(run.values("servicer.near.read"), 0.5, atol=1e-13)
    np.testing.assert_allclose(run.values("servicer.far.read")[1:], [9.0, 9.3025], atol=1e-12)
    with pytest.raises(ff.ModelError, match=r"Reach: The world has several spacecraft: say which one with on="):
        ff.simulate(TWO, Reach(), duration=0.1, dt=0.1)


@pytest.mark.parametrize("reads", ["away", "com.speed"])
def test_continuous_rates_may_follow_what_has_a_rate(reads: str) -> None:
    """The recorded torque of the joint belongs to its acceleration: the equations of motion close."""
    push = ff.WrenchPulse("base", (3.0, 1.0, 0.0, 0.0, 0.0, 0.0))
    start = HUB.in_motion(HUB.at_rest(at=(0.3, 0.2, 0.0)), velocity=(0.4, -0.1, 0.0))
    run = ff.simulate(
        HUB, Reach(), Speed(), SpecificForce("tip"), Mover(reads=reads), push, state=start, duration=0.4, dt=0.01
    )
    rates, t, felt = run.values("joints.rate")[1:, 0], run.values("time")[1:], run.values("tip.specific_force")[1:]
    # From the second record on: the joint takes its rate at the first tick, after the record.
    np.testing.assert_allclose(rates, np.sum(run.values(reads)[1:].reshape(len(t), -1), axis=1), atol=1e-12)
    # With a wrong rate of what is read the joint's acceleration would be wrong, but not its rates: the difference shows
    # between accelerations and differences of velocities (central: third order of the step, 1e-5 here).
    R_NT = np.stack([np.asarray(rotation_matrix(jnp.asarray(quat))) for quat in run.values("tip.attitude")[1:]])
    speed = run.values("tip.velocity")[1:]
    differences = (speed[2:] - speed[:-2]) / 0.02
    np.testing.assert_allclose(np.einsum("kij,kj->ki", R_NT, felt)[1:-1], differences, atol=1e-4)
    assert np.max(np.abs(np.gradient(rates, t))) > 0.05  # negative control: a rate of zero would be seen
    assert run.audit.holds


def test_continuous_rates_must_not_follow_what_they_change() -> None:
    for reads in ("reach", "com.speed"):
        world = ff.World.of(HUB).hold_base() if reads == "com.speed" else HUB
        with pytest.raises(ff.SoftwareError, match=f"reads '{reads}', which those rates change. Sample it"):
            ff.simulate(world, Reach(), Speed(), Mover(reads=reads), duration=0.1, dt=0.1)


def test_software_reads_whether_a_connection_holds() -> None:
    @ff.record
    class Grasp(ff.Software):
        """Latches at 0.2 s."""

        def command(self, memory: Any, y: Any, clock: ff.Clock) -> Any:
            return ff.Latch("grasp", clock.t > 0.15)

    states = {"client": OTHER.at_rest(at=(1.0, 0.0, 0.0))}
    for ideal in ((), (Ideal(("connection.grasp",), on="client"), ff.sensors.Gyro(on="client"))):
        reader = Reader("connection.grasp", on="client", period=0.1)
        run = ff.simulate(TWO, Grasp(on="servicer", period=0.1), reader, *ideal, state=states, duration=0.6, dt=0.1)
        held = run.values("connection.grasp")
        assert (held[0], held[-1]) == (0.0, 1.0)
        # A record precedes the software of its tick: what is recorded was read one tick before.
        np.testing.assert_array_equal(run.values("client.read")[1:], held[:-1])
    on = ff.World(servicer=HUB, client=OTHER).connection("grasp", "servicer.tip", "client.ring", on=True)
    run = ff.simulate(on, Reader("connection.grasp", on="client"), state=states, duration=0.1, dt=0.1)
    assert run.values("client.read")[0] == 1.0  # at its begin already


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((Reach(), Reach()), "Reach: 'reach' is measured already, by Reach."),
        ((Distance("tip", "base", name="joints"), Distance("base", "tip", name="joints")), "'joints.distance'"),
        ((Reach("hnd"),), "no frame 'hnd'"),
    ],
)
def test_faulty_quantities_are_refused_by_name(parts: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ff.ModelError, match=message):
        ff.simulate(HUB, *parts, duration=0.1, dt=0.1)


@ff.record
class Base(Reach):
    """A quantity with a name of the library's."""

    def channels(self, craft: ff.Spacecraft) -> tuple[ff.Channel, ...]:
        return (ff.Channel("base.rate", "Its own", "1"),)


@ff.record
class Wide(Reach):
    """A quantity of another size than its channel."""

    def value(self, truth: Any, name: str) -> Any:
        return jnp.zeros(2)


def test_names_of_the_library_are_taken_and_sizes_are_checked() -> None:
    with pytest.raises(ff.ModelError, match=r"Base: 'base.rate' is measured already, by QuantityRow"):
        ff.simulate(HUB, Base(), duration=0.1, dt=0.1)
    with pytest.raises(
        ff.SoftwareError, match=r"Wide.value must return shape \(\) for the channel 'reach', got \(2,\)"
    ):
        ff.simulate(HUB, Wide(), duration=0.1, dt=0.1)


def test_an_unknown_name_lists_what_was_added() -> None:
    with pytest.raises(ff.SoftwareError, match=r"(?s)'rech' is nothing that can be measured.*reach, away"):
        ff.simulate(HUB, Reach(), Reader("rech", period=0.1), duration=0.1, dt=0.1)

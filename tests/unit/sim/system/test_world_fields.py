"""Fields in a world of several: given once or for each, always one; anything else is rejected by name."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.effects import EARTH_J2, CircularOrbit, EllipticOrbit, GravityGradient
from freefloat.sim.system.system import assemble

LOW, HIGH = CircularOrbit(altitude=550e3), CircularOrbit(altitude=600e3)
ELLIPSE = EllipticOrbit(semi_major_axis=7e6)
BALL = ff.Spacecraft.from_base("ball", mass=10.0, inertia=(1.0, 1.0, 1.0))
WORLD = ff.World(one=BALL, two=BALL)


def test_a_field_is_one_however_it_is_given() -> None:
    once = assemble(WORLD, (GravityGradient(LOW),), 1.0)
    each = assemble(WORLD, (GravityGradient(LOW, on="two"), GravityGradient(LOW, on="one")), 1.0)
    alone = assemble(ff.World.of(BALL), (GravityGradient(LOW),), 1.0)
    for system in (once, each, alone):
        (field,) = system.effects
        assert isinstance(field, GravityGradient)
        assert field.on == ""
        assert all(system.acts_on(field, c) for c in range(len(system.world.crafts)))
    again = ff.Experiment.of(WORLD, GravityGradient(LOW), duration=1.0).with_parts(
        ff.WrenchPulse("base", np.ones(6), on="one")
    )
    assert len(again.system.effects) == 2


def test_channels_are_those_of_every_spacecraft() -> None:
    names = [channel.name for channel in ff.Experiment.of(WORLD, GravityGradient(LOW), duration=1.0).channels()]
    for spacecraft in ("one", "two"):
        for name in ("torque", "roll_pitch_yaw", "position", "neglected"):
            assert f"{spacecraft}.orbit.{name}" in names


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ((GravityGradient(LOW, on="one"),), "is on one, but not on two. .* without on="),
        ((GravityGradient(LOW), GravityGradient(HIGH)), "given 2 times"),
        ((GravityGradient(LOW), GravityGradient(LOW, on="one")), "given 2 times"),
        ((GravityGradient(LOW, on="one"), GravityGradient(LOW, on="one")), "given 2 times for 'one'"),
        (
            (GravityGradient(LOW, on="one"), GravityGradient(HIGH, on="two")),
            "on 'one' and on 'two' differ: orbit.altitude is 550000.0 and 600000.0",
        ),
        ((GravityGradient(LOW, on="one"), GravityGradient(ELLIPSE, on="two")), "differ: another kind of orbit"),
        ((GravityGradient(LOW, on="three"),), "GravityGradient: The world has no spacecraft 'three'"),
        (
            (GravityGradient(dataclasses.replace(ELLIPSE, j2=EARTH_J2)),),
            "j2 = 0.00108263 .* one, two .* Leave j2 out",
        ),
    ],
)
def test_part_of_a_field_or_two_of_them_are_rejected(fields, said) -> None:
    with pytest.raises(ff.ModelError, match=said):
        assemble(WORLD, fields, 1.0)


def test_one_spacecraft_may_have_j2_and_one_field() -> None:
    assemble(ff.World.of(BALL), (GravityGradient(dataclasses.replace(ELLIPSE, j2=EARTH_J2)),), 1.0)
    with pytest.raises(ff.ModelError, match="given 2 times"):
        assemble(ff.World.of(BALL), (GravityGradient(LOW), GravityGradient(LOW)), 1.0)


def test_settings_that_cannot_be_are_rejected() -> None:
    with pytest.raises(ff.ModelError, match=r"no field 'exact'\. Choose one of: linear, full"):
        GravityGradient(LOW, field="exact")
    with pytest.raises(ValueError, match="accuracy"):
        GravityGradient(LOW, accuracy=0.0)


@ff.record
class Wind(ff.Field):
    """A field of a user's own: the same push on every base."""

    def force(self, craft, state, clock):
        return jnp.zeros(craft.layout.nv).at[0].set(2.0)


def test_a_field_of_a_users_own_acts_on_all() -> None:
    run = ff.simulate(WORLD, Wind(), duration=1.0)
    for name in ("one", "two"):
        np.testing.assert_allclose(run[f"{name}.momentum.linear"].values[-1], [2.0, 0.0, 0.0], atol=1e-12)


@ff.record
class Broken(ff.Field):
    """Not a number, for the second spacecraft."""

    def force(self, craft, state, clock):
        return jnp.full(craft.layout.nv, jnp.where(state.p_NB[0] > 0.0, jnp.nan, 0.0))


def test_a_field_that_fails_is_named() -> None:
    there = dataclasses.replace(BALL.at_rest(), p_NB=np.array([1.0, 0.0, 0.0]))
    with pytest.raises(ff.RunFailed, match=r"Broken\.force gave nan"):
        ff.simulate(WORLD, Broken(), duration=1.0, state={"two": there})

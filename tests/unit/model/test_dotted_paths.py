"""Every number by its dotted path, and records as pytrees."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.model import Spacecraft
from freefloat.model.dotted_paths import all_paths, value_at
from freefloat.readers import write_urdf
from freefloat.values import ModelError


def test_every_path_leads_to_a_number(chaser):
    paths = all_paths(chaser)
    assert len(paths) == len(set(paths)) == len(jax.tree.leaves(chaser))
    for path in paths:
        assert np.asarray(value_at(chaser, path)).dtype == float
    for path in (
        "base.mass",
        "shoulder.limits.rate",
        "hand.X_BF.position",
        "spinner.inertia",
        "turn.damping",
        "turn.rotor_inertia",
    ):
        assert path in paths


def test_replacing_gives_a_new_spacecraft(chaser):
    heavier = chaser.with_value("base.mass", 120.0)
    assert (heavier.body("base").mass, chaser.body("base").mass) == (120.0, 100.0)
    assert chaser.with_value("shoulder.limits.rate", 0.7).joint("shoulder").limits.rate == 0.7
    np.testing.assert_array_equal(
        chaser.with_value("hand.X_BF.position", (1.0, 2.0, 3.0)).frame("hand").X_BF.p, [1, 2, 3]
    )
    np.testing.assert_array_equal(chaser.with_value("shoulder.axis", (0.0, 3.0, 0.0)).joint("shoulder").axis, [0, 1, 0])


def test_dots_in_names_are_no_trouble(chaser, client):
    joined = chaser.mount(client, name="arm").mount(client, name="arm.2")
    assert value_at(joined.with_value("arm.2.mass", 7.0), "arm.2.mass") == 7.0
    assert value_at(joined.with_value("arm.2.antenna.mass", 7.0), "arm.2.antenna.mass") == 7.0
    assert value_at(joined, "arm.antenna.mass") == 1.0


@pytest.mark.parametrize(
    ("path", "new", "said"),
    [
        ("base.mas", 1.0, ["'chaser' has no number 'base.mas'", "Did you mean base.mass"]),
        ("arm.mass", 1.0, ["no number 'arm.mass'", "base.mass"]),
        ("shoulder.limits", 1.0, ["no number 'shoulder.limits'", "shoulder.limits.rate"]),
        ("base.mass", (1.0, 2.0), ["'base.mass' has shape (), got (2,)"]),
        ("base.com", 1.0, ["'base.com' has shape (3,), got ()"]),
        ("base.mass", -1.0, ["Body 'base'", "mass must be positive"]),
        ("base.inertia", np.diag([1.0, 1.0, 3.0]), ["Body 'base'", "triangle inequality"]),
        ("shoulder.axis", (0.0, 0.0, 0.0), ["Joint 'shoulder': axis", "not all zero"]),
        ("shoulder.rotor_inertia", -1.0, ["Joint 'shoulder': rotor_inertia must be at least 0"]),
        ("shoulder.damping", -1.0, ["Joint 'shoulder': damping must be at least 0"]),
        ("shoulder.limits.lower", 3.0, ["'shoulder.limits.lower'", "lower 3 is above upper 2"]),
        ("hand.X_BF.position", (0.0, np.nan, 0.0), ["'hand.X_BF.position'", "must be finite"]),
        ("wheel_x.inertia", 1e3, ["Wheel 'wheel_x'", "includes its wheels, locked"]),
        ("base.inertia", 1e-3 * np.eye(3), ["that 'base' has about the spin axis"]),
        ("hand.X_BF.rotation", 2.0 * np.eye(3), ["'hand.X_BF.rotation'", "not a rotation"]),
    ],
)
def test_wrong_paths_and_values_are_refused_by_name(chaser, path, new, said):
    with pytest.raises(ModelError) as caught:
        chaser.with_value(path, new)
    for words in said:
        assert words in str(caught.value)


def test_a_path_that_two_parts_share_is_refused():
    craft = Spacecraft.from_base("c", mass=1.0, inertia=(1.0, 1.0, 1.0))
    craft = craft.with_link("a", parent="base", joint="revolute", mass=1.0, inertia=(1.0, 1.0, 1.0), joint_name="j")
    craft = craft.with_wheel("a", axis=(1.0, 0.0, 0.0), inertia=0.1)
    with pytest.raises(ModelError, match=r"more than one number 'a.inertia'"):
        craft.with_value("a.inertia", 0.2)
    assert craft.with_value("a.max_torque", 0.2).wheels[0].max_torque == 0.2


# ---- pytrees


def test_topology_is_static_and_hashable(chaser, client):
    structure = jax.tree.structure(chaser)
    assert hash(structure) == hash(jax.tree.structure(chaser.with_value("base.mass", 120.0)))
    assert structure == jax.tree.structure(chaser.with_value("base.mass", 120.0))
    assert structure != jax.tree.structure(chaser.with_frame("extra", body="base"))
    assert structure != jax.tree.structure(client)


def test_tree_map_keeps_names(chaser):
    doubled = jax.tree.map(lambda x: 2.0 * x, chaser)
    assert doubled.body_names == chaser.body_names
    assert doubled.body("base").mass == 200.0
    assert doubled.layout.nv == chaser.layout.nv


def test_masses_can_be_dispersed_by_vmap_and_differentiated(chaser):
    def total(mass):
        return sum(body.mass for body in chaser.with_value("base.mass", mass).bodies)

    masses = jnp.linspace(90.0, 110.0, 5)
    np.testing.assert_array_equal(jax.vmap(total)(masses), masses + 9.0)  # 9 kg of arm; all numbers exact
    assert jax.grad(total)(100.0) == 1.0
    stack = jax.vmap(lambda mass: chaser.with_value("base.mass", mass), out_axes=0)(masses)
    assert stack.bodies[0].mass.shape == (5,)
    assert stack.bodies[0].com.shape == (5, 3)


def test_bodies_give_their_inertia_under_jit(chaser):
    momentum = jax.jit(lambda craft: craft.body("base").spatial_inertia().moment)(chaser)
    np.testing.assert_allclose(momentum, [10.0, 0.0, 0.0], rtol=0.0, atol=1e-14)  # 100 kg times 0.1 m


def test_composing_works_under_jit(chaser, client):
    @jax.jit
    def mass_after(mass):
        joined = chaser.grasp(client.with_value("base.mass", mass), name="client", hand="hand", grip="grip")
        return joined.body("client").mass

    assert mass_after(33.0) == 33.0


def test_writing_traced_numbers_is_refused(chaser):
    with pytest.raises(ModelError, match=r"'chaser' holds traced numbers. Write it outside of jit"):
        jax.jit(lambda craft: len(write_urdf(craft)))(chaser)

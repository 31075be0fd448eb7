"""Records are immutable pytrees, and float64 is on."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.spatial import Pose
from freefloat.values import record, static
from freefloat.values.precision import enable_float64, require_float64


@record
class Spring:
    name: str = static()
    stiffness: float
    rest: float = 0.0


def test_numbers_are_leaves_and_names_are_structure():
    spring = Spring(name="k1", stiffness=2.0)
    assert jax.tree.leaves(spring) == [2.0, 0.0]
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree.leaves_with_path(spring)]
    assert paths == [".stiffness", ".rest"]
    other = Spring(name="k2", stiffness=2.0)
    assert jax.tree.structure(spring) != jax.tree.structure(other)
    assert hash(jax.tree.structure(spring)) == hash(jax.tree.structure(Spring(name="k1", stiffness=9.0)))


def test_tree_map_rebuilds_the_record():
    doubled = jax.tree.map(lambda x: 2.0 * x, Spring(name="k1", stiffness=2.0, rest=0.5))
    assert (doubled.name, doubled.stiffness, doubled.rest) == ("k1", 4.0, 1.0)
    assert isinstance(jax.tree.map(lambda _: None, Pose()), Pose)  # placeholders pass, no shape is checked


def test_records_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Spring(name="k1", stiffness=2.0).stiffness = 3.0  # pyright: ignore[reportAttributeAccessIssue]


def test_records_pass_through_jit_vmap_and_grad():
    springs = jax.vmap(lambda k: Spring(name="k", stiffness=k))(jnp.arange(3.0))
    np.testing.assert_array_equal(springs.stiffness, [0.0, 1.0, 2.0])
    slope = jax.jit(jax.grad(lambda s: s.stiffness * s.rest))(Spring(name="k", stiffness=2.0, rest=0.5))
    assert (slope.stiffness, slope.rest) == (0.5, 2.0)


def test_float64_is_on():
    assert jnp.ones(1).dtype == np.float64
    require_float64()


def test_a_user_who_switched_float64_off_is_told(monkeypatch):
    monkeypatch.setenv("JAX_ENABLE_X64", "0")
    with pytest.warns(UserWarning, match="Unset JAX_ENABLE_X64"):
        enable_float64()


def test_float64_switched_off_later_is_refused():
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(RuntimeError, match="switched off after freefloat was imported"):
            require_float64()
    finally:
        jax.config.update("jax_enable_x64", True)

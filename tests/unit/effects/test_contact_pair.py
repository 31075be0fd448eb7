"""Two shapes with their laws by hand: energies that fit the forces, power that is where it is booked, and parting."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.effects.contact import Bristles, ContactPair, HuntCrossley, KelvinVoigt, Plane, Sphere
from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_exp

BRISTLES = Bristles(friction=0.4, stiffness=3e3, damping=20.0)


def test_damping_by_its_ratio_is_that_of_an_oscillator():
    """k x + c x' of a mass m is critically damped at c = 2 sqrt(k m)."""
    law = KelvinVoigt.from_damping_ratio(400.0, 0.3, 0.25)
    assert float(law.damping) == pytest.approx(2.0 * 0.3 * 10.0)


@pytest.mark.parametrize("law", [KelvinVoigt(500.0), HuntCrossley(500.0), HuntCrossley(500.0, exponent=2.2)])
def test_the_energy_stored_is_the_work_of_the_spring(law):
    depths = jnp.array([-0.1, 0.02, 0.3])
    slope = jax.vmap(jax.grad(lambda depth: jnp.sum(law.energy(depth[None]))))(depths)
    np.testing.assert_allclose(slope, np.where(depths > 0.0, law.elastic_force(depths), 0.0), rtol=1e-13)


def test_bristles_take_what_they_store_and_lose(rng):
    """-force . v = d/dt (k z^2 / 2) + heat, of points that stick and of points that slip; nothing along the normals."""
    normals = rng.normal(size=(40, 3))
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    z = 1e-2 * rng.normal(size=(40, 3))
    z = z - np.sum(z * normals, axis=1, keepdims=True) * normals
    velocities, pushes = rng.normal(size=(40, 3)), rng.uniform(0.0, 300.0, 40)
    rub = BRISTLES.friction_forces(z, velocities, normals, pushes)
    assert 5 < np.sum(rub.slips) < 35
    stored = BRISTLES.stiffness * np.sum(z * np.asarray(rub.rate))
    np.testing.assert_allclose(-np.sum(np.asarray(rub.force) * velocities), stored + float(rub.heat), rtol=1e-12)
    np.testing.assert_allclose(np.sum(np.asarray(rub.force) * normals, axis=1), 0.0, atol=1e-11)
    limits = 0.4 * pushes
    assert np.all(np.linalg.norm(rub.force, axis=1) <= limits * (1.0 + 1e-12))


def test_the_wrench_works_at_the_twist_as_the_push_does_at_the_depth(rng):
    """A ball beside the origin of its frame, pressed into a plane: wrench . twist = - push . rate of the depth."""
    pair = ContactPair(Plane(), Sphere(0.2), KelvinVoigt(1e4, 30.0), at_b=Pose(position=(0.5, -0.3, 0.1)))
    R = np.asarray(rotation_exp(jnp.asarray(rng.normal(size=3))))
    height = 0.19 - (R @ np.array([0.5, -0.3, 0.1]))[2]  # the ball's centre is 0.19 m above the plane
    X_ab, V_ab = Pose(position=(1.0, 2.0, height), rotation=R), jnp.asarray(0.1 * rng.normal(size=6))
    now, found = pair.contact_points(X_ab, V_ab), pair.at(X_ab, V_ab)
    np.testing.assert_allclose(now.depths, [0.01], atol=1e-14)
    np.testing.assert_allclose(found.wrench @ V_ab, -found.pushes @ now.rates, rtol=1e-12)
    assert float(found.pushes[0]) == pytest.approx(1e4 * 0.01 + 30.0 * float(now.rates[0]))


def test_bristles_of_points_that_part_spring_back():
    pair = ContactPair(Plane(), Sphere(0.2), KelvinVoigt(1e4), BRISTLES)
    z = jnp.array([[1e-3, 0.0, 0.0]])
    for on, left in ((True, z), (False, 0.0 * z)):
        kept, lost = pair.release_bristles(z, jnp.array([on, True]))
        np.testing.assert_array_equal(kept, left)
        np.testing.assert_allclose(lost, 0.0 if on else 0.5 * 3e3 * 1e-6, rtol=1e-12)

"""cases.md 8: the mass matrix against MuJoCo's.

Tolerance 1e-9 of the largest entry (cases.md): MuJoCo stores inertias as principal moments and axes, found by an
iterative diagonalisation, and poses as quaternions that it normalises. 2e-15 was measured.
"""

import numpy as np
import pytest

from support import trees

pytest.importorskip("mujoco")

TOLERANCE = 1e-9
DRAWS = 5


@pytest.mark.parametrize("name", ["chain of 6", "branched 7", "branched 20"])
def test_mass_matrix_equals_that_of_mujoco(rng, name):
    worst = 0.0
    for _ in range(DRAWS):
        craft = trees.draw_tree(rng, name)
        state = trees.draw_state(rng, craft)
        theirs = trees.InMujoco(craft).mass_matrix(state)
        worst = max(worst, trees.relative_error(trees.mass_matrix(craft, state.q), theirs))
    trees.report(f"{name}: {worst:.1e}")
    assert worst < TOLERANCE


def test_rotors_of_joints_are_its_armature(rng):
    craft = trees.with_joint_rotors(rng, trees.draw_tree(rng, "branched 7"))
    state = trees.draw_state(rng, craft)
    theirs = trees.InMujoco(craft).mass_matrix(state)
    assert trees.relative_error(trees.mass_matrix(craft, state.q), theirs) < TOLERANCE


def test_linear_velocity_in_world_axes_would_be_noticed(rng):
    """Negative control: without the change of the free joint's linear axes the matrices differ grossly."""
    craft = trees.draw_tree(rng, "chain of 6")
    state = trees.draw_state(rng, craft)
    R = np.asarray(state.X_NB.R)
    turned = np.eye(craft.layout.nv)
    turned[:3, :3] = R.T
    untransformed = turned.T @ trees.InMujoco(craft).mass_matrix(state) @ turned
    assert trees.relative_error(trees.mass_matrix(craft, state.q), untransformed) > 1e-3

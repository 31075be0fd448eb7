"""Every public function of `dynamics` compiles, batches and differentiates.

Batched and single results are the same operations in another order: 1e-12 of the largest entry. Gradients against
central differences with a step of 1e-5: 1e-6 of the largest (derivatives of order 100 times 1e-10 and rounding).
"""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import dynamics as d
from freefloat.analysis import linearise_free
from freefloat.model import State
from freefloat.spatial import Pose
from support import trees
from support.compiling import compiled

ATTITUDE = np.array([0.5, -0.5, 0.1, np.sqrt(0.49)])  # unit
R_NB = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
H = 1e-5


def state_of(q, v):
    return State(p_NB=jnp.array([0.3, -0.2, 0.1]), quat_NB=ATTITUDE, q=q, v=v)


def both(q, v):
    """The spacecraft twice, the second a little later."""
    return state_of(q, v), state_of(q + 0.1, v - 0.1)


CAMERA = (d.FrameRows((0, "hand"), (1, "camera")),)
CORNER = (d.FrameRows(d.INERTIAL, (0, "hand"), d.POINT), d.JointRows((0, "joint1")))
GROUND = (d.FrameRows(d.INERTIAL, (0, "hand"), d.contact((0.2, 0.1, 1.0))),)

NOWHERE = Pose()


def nominal_of(v):
    return d.NominalMotion(jnp.array([0.1, 0.4, -0.3]), ATTITUDE[::-1], jnp.cos(v[:6]), jnp.sin(v[:6]))


def moving(q, v):
    return d.FrameMotion(jnp.array([0.3, -0.2, 0.1]), ATTITUDE, v[:6])


# Every function, as a function of the spacecraft, q and v.
FUNCTIONS = {
    "absolute_state": lambda c, q, v: d.absolute_state(nominal_of(v), state_of(q, v)),
    "advance_unforced": lambda c, q, v: d.advance_unforced(d.composite_inertia(c, q), nominal_of(v), 0.1),
    "arm_torque": lambda c, q, v: d.arm_torque(c, nominal_of(v), state_of(q, v), v[6:], jnp.cos(v[:3])),
    "carried_wrenches": lambda c, q, v: d.carried_wrenches(c, q, v, jnp.cos(v)),
    "coriolis_matrix": d.coriolis_matrix,
    "coriolis_product": lambda c, q, v: d.coriolis_product(c, q, v, jnp.sin(v)),
    "from_cell": lambda c, q, v: d.from_cell(NOWHERE, nominal_of(v), moving(q, v)),
    "gravity_force": lambda c, q, v: d.gravity_force(c, q, jnp.cos(v[:3])),
    "nominal_share": lambda c, q, v: d.nominal_share(nominal_of(v), state_of(q, v)),
    "nominal_share_rate": lambda c, q, v: d.nominal_share_rate(nominal_of(v), state_of(q, v)),
    "orbit_and_relative_acceleration": lambda c, q, v: d.orbit_and_relative_acceleration(
        c, nominal_of(v), *both(q, v), jnp.sin(v)
    ),
    "relative_acceleration": lambda c, q, v: d.relative_acceleration(c, nominal_of(v), state_of(q, v), jnp.sin(v)),
    "relative_state": lambda c, q, v: d.relative_state(nominal_of(v), state_of(q, v)),
    "robot_wrench": lambda c, q, v: d.robot_wrench((c, c), nominal_of(v), state_of(q, v), jnp.sin(v), jnp.cos(v)),
    "to_cell": lambda c, q, v: d.to_cell(NOWHERE, nominal_of(v), moving(q, v)),
    "unforced_motion": lambda c, q, v: d.unforced_motion(d.composite_inertia(c, q), moving(q, v)),
    "unforced_twist_rate": lambda c, q, v: d.unforced_twist_rate(d.composite_inertia(c, q), v[:6]),
    "contact_impact": lambda c, q, v: d.contact_impact((c,), (state_of(q, v),), GROUND, 0.4, 0.3),
    "held_motion": lambda c, q, v: d.held_motion((c, c), both(q, v), (jnp.sin(v), v), CAMERA),
    "held_motion_by_rows": lambda c, q, v: d.held_motion_by_rows((c, c), both(q, v), (jnp.sin(v), v), CAMERA),
    "relative_pose": lambda c, q, v: d.relative_pose((c, c), both(q, v), (0, "hand"), (1, "camera")),
    "return_by_rows": lambda c, q, v: d.return_by_rows((c,), (state_of(q, v),), CORNER),
    "return_to_rows": lambda c, q, v: d.return_to_rows((c, c), both(q, v), CAMERA),
    "row_bias": lambda c, q, v: d.row_bias((c, c), both(q, v), CAMERA),
    "row_error": lambda c, q, v: d.row_error((c, c), both(q, v), CAMERA),
    "row_forces": lambda c, q, v: d.row_forces((c, c), both(q, v), CAMERA, v[:6]),
    "row_impact": lambda c, q, v: d.row_impact((c,), (state_of(q, v),), CORNER, 0.3),
    "row_jacobian": lambda c, q, v: d.row_jacobian((c, c), both(q, v), CAMERA),
    "row_response": lambda c, q, v: d.row_response((c,), (state_of(q, v),), CORNER).W,
    "row_velocity": lambda c, q, v: d.row_velocity((c, c), both(q, v), CAMERA),
    "articulated_forward_dynamics": lambda c, q, v: d.articulated_forward_dynamics(c, q, v, jnp.sin(v)),
    "base_jacobian": lambda c, q, v: d.base_jacobian(c, q, "hand", R_NB),
    "bias": d.bias,
    "body_poses": lambda c, q, v: d.body_poses(c, q)[1:],
    "body_twists": d.body_twists,
    "centre_of_mass": lambda c, q, v: d.centre_of_mass(c, q),
    "component_rates": lambda c, q, v: d.component_rates(state_of(q, v), d.state_rate(c, state_of(q, v), v)),
    "composite_inertia": lambda c, q, v: d.composite_inertia(c, q),
    "damping_force": lambda c, q, v: d.damping_force(c, q, v),
    "drift_twist": lambda c, q, v: d.drift_twist(c, q, "hand", v[:6], v[-1:], R_NB),
    "elastic_energy": lambda c, q, v: d.elastic_energy(c, q) + 0.0 * q[0],
    "elastic_force": lambda c, q, v: d.elastic_force(c, q) + 0.0 * v,
    "forward_dynamics": lambda c, q, v: d.forward_dynamics(c, q, v, jnp.sin(v)),
    "forward_dynamics_by_mass_matrix": lambda c, q, v: d.forward_dynamics_by_mass_matrix(c, q, v, jnp.sin(v)),
    "frame_jacobian": lambda c, q, v: d.frame_jacobian(c, q, "hand"),
    "frame_pose": lambda c, q, v: d.frame_pose(c, q, "hand"),
    "frame_twist": lambda c, q, v: d.frame_twist(c, q, v, "hand"),
    "free_floating": lambda c, q, v: d.free_floating(c, q, R_NB),
    "generalized_force": lambda c, q, v: d.generalized_force(c, q, "hand", v[:6]),
    "generalized_jacobian": lambda c, q, v: d.generalized_jacobian(c, q, "hand", R_NB),
    "held_dynamics": lambda c, q, v: d.held_dynamics(c, q, v, jnp.sin(v)),
    "hybrid_dynamics": lambda c, q, v: d.hybrid_dynamics(c, q, v, jnp.sin(v), ("joint2",), v[:1]),
    "impose_rates": lambda c, q, v: d.impose_rates(c, q, v, ("joint2",), jnp.cos(v[:1])),
    "inertial_body_poses": lambda c, q, v: d.inertial_body_poses(c, state_of(q, v)),
    "inertial_frame_pose": lambda c, q, v: d.inertial_frame_pose(c, state_of(q, v), "hand"),
    "inertial_frame_twist": lambda c, q, v: d.inertial_frame_twist(c, state_of(q, v), "hand"),
    "inverse_dynamics": lambda c, q, v: d.inverse_dynamics(c, q, v, jnp.sin(v)),
    "joint_jacobian": lambda c, q, v: d.joint_jacobian(c, q, "hand", R_NB),
    "kinetic_energy": d.kinetic_energy,
    "linearise_free": lambda c, q, v: linearise_free(c, state_of(q, v), jnp.sin(v)),
    "mass_matrix": lambda c, q, v: d.mass_matrix(c, q),
    "momentum_about_base": d.momentum_about_base,
    "momentum_about_com": d.momentum_about_com,
    "momentum_about_origin": lambda c, q, v: d.momentum_about_origin(c, state_of(q, v)),
    "momentum_matrix": lambda c, q, v: d.momentum_matrix(c, q),
    "reaction_null_space": lambda c, q, v: d.reaction_null_space(c, q),
    "retract": lambda c, q, v: d.retract(state_of(q, v), d.state_rate(c, state_of(q, v), v)),
    "spd_solve": lambda c, q, v: d.spd_solve(d.mass_matrix(c, q), v),
    "state_rate": lambda c, q, v: d.state_rate(c, state_of(q, v), jnp.sin(v)),
    "wheel_momentum": d.wheel_momentum,
}


# Functions outside compiled code (eigenvalues, a search), one of another package, those that are a derivative already.
NOT_COMPILED = {"natural_frequencies", "inverse_kinematics"}
NO_FUNCTIONS_OF_STATE = {"GRASP", "INERTIAL", "POINT", "Rows", "contact", "hinge", "normal", "row_count"} | {
    "relative_step",
    "require_relative_start",
    "twofold_step",
}
OF_ANALYSIS = {"linearise_free"}
DERIVATIVES = {"linearise_free"}


def test_every_public_function_is_here():
    public = {name for name in d.__all__ if not inspect.isclass(getattr(d, name))}
    assert public - NOT_COMPILED - NO_FUNCTIONS_OF_STATE | OF_ANALYSIS == set(FUNCTIONS), (
        "Add the new function of dynamics to FUNCTIONS."
    )


def summed(result):
    """All entries of a result as one number, weighed so that symmetric entries do not cancel."""
    leaves = [jnp.ravel(x) for x in jax.tree.leaves(result)]
    flat = jnp.concatenate(leaves)
    return flat @ np.cos(1.0 + np.arange(flat.size))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_compiles_batches_and_differentiates(rng, name):
    function = FUNCTIONS[name]
    craft = trees.draw_tree(rng, "tiny")
    qs = np.stack([trees.draw_configuration(rng, craft) for _ in range(2)])
    vs = rng.normal(size=(2, craft.layout.nv))
    batch = compiled(lambda c, q, v: jax.vmap(function, in_axes=(None, 0, 0))(c, q, v))(craft, qs, vs)

    def with_gradient(c, q, v):
        if name in DERIVATIVES:
            return function(c, q, v), None
        return function(c, q, v), jax.grad(lambda q, v: summed(function(c, q, v)), argnums=(0, 1))(q, v)

    value_and_gradient = compiled(with_gradient)
    singles = [value_and_gradient(craft, q, v) for q, v in zip(qs, vs, strict=True)]
    for k, (single, _) in enumerate(singles):
        of_batch = jax.tree.map(lambda x, k=k: np.asarray(x)[k], batch)
        for one, other in zip(jax.tree.leaves(single), jax.tree.leaves(of_batch), strict=True):
            assert np.all(np.isfinite(one))
            assert np.max(np.abs(one - other), initial=0.0) <= 1e-12 * np.max(np.abs(one), initial=1.0)
    if name in DERIVATIVES:
        return

    # The gradient, along one direction in (q, v).
    q, v = qs[0], vs[0]
    dq, dv = rng.normal(size=q.size), rng.normal(size=v.size)
    _, (by_q, by_v) = singles[0]
    ends = [float(summed(value_and_gradient(craft, q + s * dq, v + s * dv)[0])) for s in (H, -H)]
    slope = by_q @ dq + by_v @ dv
    scale = max(1.0, np.max(np.abs(by_q)), np.max(np.abs(by_v)))
    assert abs(slope - (ends[0] - ends[1]) / (2.0 * H)) < 1e-6 * scale


def test_spacecraft_batch_too(rng):
    """A stack of spacecraft of one topology: dispersed numbers under one vmap."""
    crafts = [trees.draw_tree(rng, "tiny") for _ in range(3)]
    q = trees.draw_configuration(rng, crafts[0])
    stack = jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *crafts)
    batch = compiled(jax.vmap(d.mass_matrix, in_axes=(0, None)))(stack, q)
    for craft, M in zip(crafts, batch, strict=True):
        assert trees.relative_error(M, trees.mass_matrix(craft, q)) < 1e-14

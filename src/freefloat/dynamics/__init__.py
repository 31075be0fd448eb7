"""Equations of motion of a free-floating tree: one algorithm per file, in body axes unless a name says otherwise."""

from typing import TYPE_CHECKING

from freefloat.dynamics.articulated import articulated_forward_dynamics
from freefloat.dynamics.constrained import HeldMotion, held_motion, held_motion_by_rows, row_forces
from freefloat.dynamics.contact import contact_impact
from freefloat.dynamics.coriolis import coriolis_matrix, coriolis_product
from freefloat.dynamics.elastic import damping_force, elastic_energy, elastic_force
from freefloat.dynamics.forward import forward_dynamics, forward_dynamics_by_mass_matrix
from freefloat.dynamics.free_floating import (
    FreeFloating,
    base_jacobian,
    drift_twist,
    free_floating,
    generalized_jacobian,
    joint_jacobian,
    reaction_null_space,
)
from freefloat.dynamics.hybrid import held_dynamics, hybrid_dynamics, impose_rates
from freefloat.dynamics.impact import Impact, row_impact
from freefloat.dynamics.inverse import bias, carried_wrenches, inverse_dynamics
from freefloat.dynamics.inverse_kinematics import JointSolution, inverse_kinematics
from freefloat.dynamics.kinematics import (
    body_poses,
    body_twists,
    frame_jacobian,
    frame_pose,
    frame_twist,
    generalized_force,
    inertial_body_poses,
    inertial_frame_pose,
    inertial_frame_twist,
)
from freefloat.dynamics.manifold import ReturnedStates, return_by_rows, return_to_rows
from freefloat.dynamics.mass_matrix import mass_matrix
from freefloat.dynamics.momentum import (
    centre_of_mass,
    composite_inertia,
    kinetic_energy,
    momentum_about_base,
    momentum_about_com,
    momentum_about_origin,
    momentum_matrix,
    wheel_momentum,
)
from freefloat.dynamics.nominal_motion import (
    FrameMotion,
    NominalMotion,
    advance_unforced,
    from_cell,
    to_cell,
    unforced_motion,
    unforced_twist_rate,
)
from freefloat.dynamics.relative import (
    absolute_state,
    nominal_share,
    nominal_share_rate,
    orbit_and_relative_acceleration,
    relative_acceleration,
    relative_state,
    require_relative_start,
)
from freefloat.dynamics.relative_robots import ArmTorque, arm_torque, gravity_force, robot_wrench
from freefloat.dynamics.relative_rows import (
    INERTIAL,
    FrameRows,
    JointRows,
    Rows,
    relative_pose,
    row_bias,
    row_count,
    row_error,
    row_jacobian,
    row_velocity,
)
from freefloat.dynamics.relative_steps import RelativeMotion, TwofoldMotion, relative_step, twofold_step
from freefloat.dynamics.row_directions import GRASP, POINT, contact, hinge, normal
from freefloat.dynamics.row_response import RowResponse, row_response
from freefloat.dynamics.solve import spd_solve
from freefloat.dynamics.state_rate import StateRate, component_rates, retract, state_rate
from freefloat.dynamics.vibration import natural_frequencies
from freefloat.renamed import renamed_names

__all__ = [
    "GRASP",
    "INERTIAL",
    "POINT",
    "ArmTorque",
    "FrameMotion",
    "FrameRows",
    "FreeFloating",
    "HeldMotion",
    "Impact",
    "JointRows",
    "JointSolution",
    "NominalMotion",
    "RelativeMotion",
    "ReturnedStates",
    "RowResponse",
    "Rows",
    "StateRate",
    "TwofoldMotion",
    "absolute_state",
    "advance_unforced",
    "arm_torque",
    "articulated_forward_dynamics",
    "base_jacobian",
    "bias",
    "body_poses",
    "body_twists",
    "carried_wrenches",
    "centre_of_mass",
    "component_rates",
    "composite_inertia",
    "contact",
    "contact_impact",
    "coriolis_matrix",
    "coriolis_product",
    "damping_force",
    "drift_twist",
    "elastic_energy",
    "elastic_force",
    "forward_dynamics",
    "forward_dynamics_by_mass_matrix",
    "frame_jacobian",
    "frame_pose",
    "frame_twist",
    "free_floating",
    "from_cell",
    "generalized_force",
    "generalized_jacobian",
    "gravity_force",
    "held_dynamics",
    "held_motion",
    "held_motion_by_rows",
    "hinge",
    "hybrid_dynamics",
    "impose_rates",
    "inertial_body_poses",
    "inertial_frame_pose",
    "inertial_frame_twist",
    "inverse_dynamics",
    "inverse_kinematics",
    "joint_jacobian",
    "kinetic_energy",
    "mass_matrix",
    "momentum_about_base",
    "momentum_about_com",
    "momentum_about_origin",
    "momentum_matrix",
    "natural_frequencies",
    "nominal_share",
    "nominal_share_rate",
    "normal",
    "orbit_and_relative_acceleration",
    "reaction_null_space",
    "relative_acceleration",
    "relative_pose",
    "relative_state",
    "relative_step",
    "require_relative_start",
    "retract",
    "return_by_rows",
    "return_to_rows",
    "robot_wrench",
    "row_bias",
    "row_count",
    "row_error",
    "row_forces",
    "row_impact",
    "row_jacobian",
    "row_response",
    "row_velocity",
    "spd_solve",
    "state_rate",
    "to_cell",
    "twofold_step",
    "unforced_motion",
    "unforced_twist_rate",
    "wheel_momentum",
]

if not TYPE_CHECKING:
    __getattr__ = renamed_names(__name__)

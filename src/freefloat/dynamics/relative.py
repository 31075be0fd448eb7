"""Motion relative to a nominal motion: what the robots of a cell do while the spacecraft fly (eq. 2-23).

Z is the frame of the nominal motion. A *relative state* of a spacecraft is a `State` whose inertial frame is Z: pose
X_ZB, twist V_ZB, and the joints as they are. With a force on its coordinates it moves as the spacecraft in orbit does,
less the nominal motion (admittance form: force in, motion out). Only products C v of Coriolis matrices enter here, that
is the bias: any matrix C will do.

Bounded (eq. 29): |V_ZB| <= |V_NB| + |DV|, and |DV| <= |V_NZ| + |p_ZB| |omega_NZ|. So robots move with bounded speed if
the nominal motion has, and while the spacecraft stay within reach of Z: p_ZB must be bounded too.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.forward import forward_dynamics
from freefloat.dynamics.nominal_motion import FrameMotion, NominalMotion, from_cell, to_cell
from freefloat.model import Spacecraft, State
from freefloat.spatial import Pose, cross_motion
from freefloat.values import ModelError
from freefloat.values.arrays import Vec6, Vector
from freefloat.values.compiling import compiled_on_call

_AT_Z = Pose()
_ROUNDING = 1e-9  # [m, rad, m/s, rad/s]


# ---- eq. (5), (6), (15), (23)


def nominal_share(nominal: NominalMotion, relative: State) -> Vec6:
    """DV = Ad_X^-1 V_NZ with X = X_ZB: the part of the twist in orbit that the cell leaves out (eq. 6, 15)."""
    return relative.X_NB.twist_to_B(nominal.twist)


def nominal_share_rate(nominal: NominalMotion, relative: State) -> Vec6:
    """DVdot = Ad_X^-1 Vdot_NZ - ad_V DV with V = V_ZB: the rate of the components of DV (eq. 7)."""
    carried = relative.X_NB.twist_to_B(nominal.twist_rate)
    return carried - cross_motion(relative.V_NB, nominal_share(nominal, relative))


def relative_state(nominal: NominalMotion, state: State) -> State:
    """State of a spacecraft relative to the nominal motion: what is left when that is taken away."""
    seen = to_cell(_AT_Z, nominal, FrameMotion(state.p_NB, state.quat_NB, state.V_NB))
    return State(seen.position, seen.quaternion, state.q, jnp.concatenate([seen.twist, state.v[6:]]))


def absolute_state(nominal: NominalMotion, relative: State) -> State:
    """State in orbit from a relative state (eq. 23): the state that sensors and on-board software get."""
    there = from_cell(_AT_Z, nominal, FrameMotion(relative.p_NB, relative.quat_NB, relative.V_NB))
    return State(there.position, there.quaternion, relative.q, jnp.concatenate([there.twist, relative.v[6:]]))


def require_relative_start(nominal: NominalMotion, state: State, relative: State) -> None:
    """Raise an error if a start in orbit and a start in the cell contradict eq. (5) and (6).

    A robot at rest somewhere else than at Z while its spacecraft has the nominal twist is the common mistake.
    """
    right = relative_state(nominal, state)
    off = float(np.max(np.abs(np.asarray(right.p_NB) - np.asarray(relative.p_NB))))
    wanted, given = np.asarray(right.quat_NB), np.asarray(relative.quat_NB)
    turned = 2.0 * min(float(np.linalg.norm(wanted - given)), float(np.linalg.norm(wanted + given)))
    if off > _ROUNDING or turned > _ROUNDING:
        raise ModelError(
            f"The relative pose is not that of the spacecraft seen from the nominal motion (off by {off:.3g} m, "
            f"{turned:.3g} rad): X_NB = X_NZ X_ZB (eq. 5). Start at relative_state(nominal, state), and put the robot "
            "where the cell needs it by a placement on the left, X_FB = X_FZ X_ZB, which changes no twist."
        )
    gap = np.asarray(relative.v) - np.asarray(right.v)
    if np.max(np.abs(gap)) > _ROUNDING:
        speeds = ", ".join(f"{x:.4g}" for x in np.asarray(right.V_NB))
        raise ModelError(
            f"The relative speeds contradict V_NB = V_ZB + Ad V_NZ (eq. 6) by {np.max(np.abs(gap)):.3g}: at this pose "
            f"V_ZB must be ({speeds}). A robot that starts at rest needs a spacecraft that moves as the nominal motion "
            "does where it is. If it is to stand elsewhere in the cell, use a placement on the left, X_FB = X_FZ X_ZB."
        )


# ---- eq. (2)-(4), (11), (13), (18)-(20)


@compiled_on_call
def relative_acceleration(craft: Spacecraft, nominal: NominalMotion, relative: State, force: Vector) -> Vector:
    """Rate (nv) of a relative state's speeds under a generalised force: eq. (11), and (18) with (19) and (20).

    M(q) (vdot + (DVdot, 0)) + h(q, v + (DV, 0)) = force: the Coriolis force is that of the speeds in orbit.
    """
    DV, DVdot = nominal_share(nominal, relative), nominal_share_rate(nominal, relative)
    still = np.zeros(craft.layout.nv - 6)
    v = relative.v + jnp.concatenate([DV, still])
    return forward_dynamics(craft, relative.q, v, force) - jnp.concatenate([DVdot, still])


@compiled_on_call
def orbit_and_relative_acceleration(
    craft: Spacecraft, nominal: NominalMotion, state: State, relative: State, force: Vector
) -> tuple[Vector, Vector]:
    """Rates of the speeds in orbit, eq. (2) or (12), and in the cell, eq. (11) or (18), side by side.

    Both are integrated, as the paper's facility does; the Coriolis force comes from the state in orbit, the arm's
    coordinates are the cell's.
    """
    v = jnp.concatenate([state.V_NB, relative.v[6:]])
    vdot = forward_dynamics(craft, relative.q, v, force)
    DVdot = jnp.concatenate([nominal_share_rate(nominal, relative), np.zeros(craft.layout.nv - 6)])
    return vdot, vdot - DVdot

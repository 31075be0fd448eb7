"""Errors of a target filter against the truth, and their consistency with its covariance, for the record of a run."""

from __future__ import annotations

import jax.numpy as jnp

from freefloat.control.picture_update import TargetEstimate
from freefloat.control.target_motion import ERRORS, AssumedBody, TargetState, error_between
from freefloat.dynamics import composite_inertia, inertial_frame_pose, spd_solve
from freefloat.model import Truth
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import cross
from freefloat.values.arrays import Numeric
from freefloat.values.channels import Channel

_UNITS = {"angle": "rad", "position": "m", "rate": "rad/s", "velocity": "m/s", "com": "m", "shape": "1"}
_WORDS = {
    "angle": "Attitude of the target",
    "position": "Position of the frame that is looked at",
    "rate": "Rate of the target",
    "velocity": "Velocity of the target's centre of mass",
    "com": "Centre of mass of the target",
    "shape": "Inertia ratios of the target",
}
_AXES = {"angle": "B", "position": "N", "rate": "B", "velocity": "N", "com": "B", "shape": ""}
_STRETCHES = ("log x", "log y", "xy", "xz", "yz")


def error_channels() -> tuple[Channel, ...]:
    """Channels for the errors, true from estimated, three sigma of each, and the normalised squares."""
    pairs = tuple(
        _error_channel(name, kind, words)
        for name in ERRORS
        for kind, words in (("error", "true from estimated"), ("three_sigma", "three sigma"))
    )
    return (
        *pairs,
        Channel("target.nees", "Normalised estimation error squared, of 20 numbers", "1"),
        Channel("target.motion_nees", "The same of pose and velocities, of 12 numbers", "1"),
        Channel("target.nis", "Normalised innovation squared of the latest picture, of 6 numbers", "1"),
    )


def _error_channel(name: str, kind: str, words: str) -> Channel:
    axis = ("stretch", _STRETCHES) if name == "shape" else ("xyz", ("x", "y", "z"))
    return Channel(f"target.{name}_{kind}", f"{_WORDS[name]}, {words}", _UNITS[name], _AXES[name], *axis)


def error_values(belief: TargetEstimate, true: TargetState) -> tuple[Numeric, ...]:
    """Values of the channels, except for the innovation."""
    error, P = error_between(belief.state, true), belief.covariance
    spread = 3.0 * jnp.sqrt(jnp.diagonal(P))
    pairs = tuple(values[place] for place in ERRORS.values() for values in (error, spread))
    return (*pairs, error @ spd_solve(P, error), error[:12] @ spd_solve(P[:12, :12], error[:12]))


def true_target_state(body: AssumedBody, truth: Truth, target: str) -> TargetState:
    """True state of the target in the terms of the filter: its shape is a stretch of the assumed body."""
    number, frame = truth.world.locate(target, truth.own)
    craft, state = truth.world.crafts[number], truth.states[number]
    whole = composite_inertia(craft, jnp.asarray(state.q))
    R_NB = state.X_NB.R
    return TargetState(
        quaternion=jnp.asarray(state.quat_NB),
        position=inertial_frame_pose(craft, state, frame).p,
        rate=angular(state.V_NB),
        velocity=R_NB @ (linear(state.V_NB) + cross(angular(state.V_NB), whole.com)),
        com=jnp.asarray(whole.com),
        shape=body.shape_of(whole.about_com()),
    )

"""Pose of the client relative to the servicer: in orbit, relative to the nominal motion, and in a cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.scenarios.measures import angles_between

if TYPE_CHECKING:
    from freefloat.dynamics import RelativeMotion
    from freefloat.sim import Experiment, Run


@dataclass(frozen=True)
class RelativePoses:
    """X_SC of the client's base frame in the servicer's over time."""

    position: np.ndarray  # (n, 3) [m]
    attitude: np.ndarray  # (n, 4), scalar first

    @staticmethod
    def of(servicer: tuple[Any, Any], client: tuple[Any, Any]) -> RelativePoses:
        """Relative poses from (positions, quaternions) of both in one frame."""
        (p_s, quat_s), (p_c, quat_c) = servicer, client
        w, xyz = quat_s[:, :1], quat_s[:, 1:]
        way = p_c - p_s
        turned = way - 2.0 * np.cross(xyz, w * way - np.cross(xyz, way))
        real = w * quat_c[:, :1] + np.sum(xyz * quat_c[:, 1:], axis=1, keepdims=True)
        rest = w * quat_c[:, 1:] - quat_c[:, :1] * xyz - np.cross(xyz, quat_c[:, 1:])
        return RelativePoses(turned, np.hstack([real, rest]))

    @staticmethod
    def in_orbit(run: Run) -> RelativePoses:
        """Relative poses of a simulated run in orbit."""
        return RelativePoses._of_channels(run, "{}.base")

    @staticmethod
    def in_cell(run: Run) -> RelativePoses:
        """Relative poses in the cell, from the encoders of both robots."""
        return RelativePoses._of_channels(run, "cell.{}.measured")

    @staticmethod
    def _of_channels(run: Run, frame: str) -> RelativePoses:
        frames = [frame.format(craft) for craft in ("servicer", "client")]
        return RelativePoses.of(*((run.values(f"{name}.position"), run.values(f"{name}.attitude")) for name in frames))

    def errors(self, other: RelativePoses) -> tuple[float, float]:
        """Largest distance [m] and angle [rad] to other poses, over the time that both have."""
        n = min(len(self.position), len(other.position))
        distance = np.linalg.norm(self.position[:n] - other.position[:n], axis=1)
        return float(distance.max()), float(angles_between(self.attitude[:n], other.attitude[:n]).max())


def integrate_relative(experiment: Experiment, every: int) -> RelativeMotion:
    """Motion of both spacecraft relative to the unforced client, at the start and after every `every` steps."""
    import jax

    from freefloat.dynamics import FrameMotion, RelativeMotion
    from freefloat.engine import compile as compile_step

    states, crafts, dt = experiment.start, experiment.world.crafts, experiment.dt
    client = states[experiment.world.index("client")]
    first = RelativeMotion.start(FrameMotion(client.p_NB, client.quat_NB, client.V_NB), states)
    program = compile_step(partial(_unforced_step, crafts, dt), first)
    moved = program.rollout(first, steps=round(experiment.duration / dt), record_every=every).record
    return jax.tree.map(lambda start, later: np.concatenate([np.asarray(start)[None], later]), first, moved)


def _unforced_step(crafts: Any, dt: float, motion: RelativeMotion) -> RelativeMotion:
    """One step without forces; the last spacecraft is the client."""
    import jax.numpy as jnp

    from freefloat.dynamics import composite_inertia, relative_step, unforced_twist_rate

    body = composite_inertia(crafts[-1], motion.states[-1].q)
    none = [jnp.zeros(craft.layout.nv) for craft in crafts]
    return relative_step(crafts, lambda Z, t: unforced_twist_rate(body, Z.twist), lambda states, t: none, motion, dt)

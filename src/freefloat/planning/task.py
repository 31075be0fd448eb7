"""The task: bring the tool of a servicer to the ring of a tumbling client at a time, and be at rest there with it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import composite_inertia, frame_pose
from freefloat.dynamics.nominal_motion import FrameMotion, NominalMotion, advance_unforced, unforced_motion
from freefloat.dynamics.relative import relative_state
from freefloat.library.servicer import SERVICER_CAPTURE
from freefloat.model import Spacecraft, State
from freefloat.planning.cell_room import CellRoom
from freefloat.planning.charts import PoseChart
from freefloat.planning.covers import balls_of, obstacles_of
from freefloat.planning.limits import MotionLimits
from freefloat.planning.node_rows import PlanningScene
from freefloat.spatial import Pose, SpatialInertia
from freefloat.values.checks import require_number
from freefloat.values.errors import ModelError, unknown_name

_REACH = 6.0  # [m] around the ring: only shapes of the client in this distance are obstacles of the search
_STEP = 0.02  # [s] of the client's free motion


@dataclass(frozen=True)
class CaptureTask:
    """The start, the grasp, and the limits of the motion between them."""

    servicer: Spacecraft
    client: Spacecraft
    start: State  # of the servicer, in orbit
    client_start: State
    duration: float  # [s]
    tool: str = "tool"
    ring: str = "ring"
    gap: float = 0.0  # that is left between them at the end, along the ring's axis [m]
    posture: tuple[float, ...] = SERVICER_CAPTURE  # near which the arm shall grasp [rad]: a first guess only
    limits: MotionLimits | None = None  # none: MotionLimits.of(servicer)
    cell: CellRoom | None = None  # in which the motion shall be rehearsed

    def __post_init__(self) -> None:
        require_number("CaptureTask.duration", self.duration, "s", above=0.0)
        require_number("CaptureTask.gap", self.gap, "m", least=0.0)
        if objections := tuple(self._faults()):
            raise ModelError(" ".join(objections))
        self.servicer.require_state(self.start)
        self.client.require_state(self.client_start)
        if self.limits is None:
            object.__setattr__(self, "limits", MotionLimits.of(self.servicer))

    def _faults(self) -> Iterator[str]:
        """Sentences for everything that planning does not support, each with the remedy."""
        layout, servicer, client = self.servicer.layout, self.servicer.name, self.client.name
        if self.client.layout.nv != 6:
            yield (
                f"Spacecraft '{client}' moves within itself: a client is planned for as rigid. Give one body with "
                "the inertia of the whole: Spacecraft.from_base(...)."
            )
        if layout.modal_velocities or layout.flexible_joints:
            yield f"Spacecraft '{servicer}' bends, and is planned for as rigid. Give its rigid model: craft.rigid()."
        if layout.wheels:
            yield f"Spacecraft '{servicer}' has wheels, which are not planned with. Leave them out of the plan's model."
        if not layout.moving_joints:
            yield f"Spacecraft '{servicer}' has no moving joints to be planned for. Give one with an arm."
        for craft, frame, field in ((self.servicer, self.tool, "tool"), (self.client, self.ring, "ring")):
            if frame not in craft.frame_names:
                yield f"CaptureTask.{field}: {unknown_name(craft.name, 'frame', frame, craft.frame_names)}"
        if len(self.posture) != layout.nq:
            yield f"CaptureTask.posture needs {layout.nq} angles [rad], got {len(self.posture)}."
        if not any(getattr(body, "shapes", ()) for body in self.servicer.bodies):
            yield _without_shapes(servicer, "any of its bodies", self.servicer.body_names[-1])
        if not getattr(self.client.bodies[0], "shapes", ()):
            yield _without_shapes(client, "its base", "base")

    @property
    def bounds(self) -> MotionLimits:
        """Limits of the motion, given or by default."""
        assert self.limits is not None
        return self.limits

    @property
    def X_TG(self) -> Pose:
        """Pose of the tool at the grasp, in the client's frame."""
        return self.client.frame(self.ring).X_BF @ Pose(np.array([0.0, 0.0, -self.gap]))

    @cached_property
    def relative_start(self) -> State:
        """State of the servicer at the start, relative to the client."""
        return jax.tree.map(np.asarray, relative_state(self._client_motion(), self.start))

    @cached_property
    def goal(self) -> Pose:
        """Pose X_TB of the base at the grasp, with the arm in its posture."""
        X_BE = frame_pose(self.servicer, np.array(self.posture, dtype=float), self.tool)
        X = self.X_TG @ X_BE.inverse()
        return Pose(np.asarray(X.p), np.asarray(X.R))

    def client_twists(self, samples: int) -> np.ndarray:
        """Twist of the client's free motion and its rate (samples, 12), at equally spaced times, in its own axes."""
        steps = max(1, round(self.duration / (samples - 1) / _STEP))
        body, motion = self._client_inertia, self._client_motion()
        motions = [motion]
        for _ in range(samples - 1):
            for _ in range(steps):
                motion = advance_unforced(body, motion, self.duration / (samples - 1) / steps)
            motions.append(motion)
        return np.stack([np.concatenate([np.asarray(state.twist), np.asarray(state.twist_rate)]) for state in motions])

    def scene(self, *, with_cell: bool = True) -> PlanningScene:
        """Inputs of the rows of an instant; with a cell, poses are given by joints of its robot."""
        craft = self.servicer
        bodies = tuple(name for name in craft.body_names if balls_of(craft, name).radii.size)
        middle = np.asarray(self.X_TG.p)
        near = tuple(
            part for part in obstacles_of(self.client, "client") if float(part.distance(jnp.asarray(middle))) < _REACH
        )
        chart = self.cell.chart if self.cell and with_cell else PoseChart(np.asarray(self.goal.R))
        depth = {name: _depth(craft, name) for name in bodies}
        outer = tuple(name for name in bodies if depth[name] > 3)
        return PlanningScene(
            craft=craft,
            chart=chart,
            X_TG=self.X_TG,
            tool=self.tool,
            balls=tuple(balls_of(craft, name) for name in bodies),
            client=near,
            own=tuple(part for part in obstacles_of(craft, "base") if np.count_nonzero(part.half) == 3),
            arm=tuple((name, tuple(b for b in bodies if 0 < depth[b] <= depth[name] - 4)) for name in outer),
        )

    @cached_property
    def hand_bodies(self) -> tuple[str, ...]:
        """Names of the bodies so near to the tool that they may touch the client in the approach cone."""
        craft, found = self.servicer, []
        body, length = craft.body_index(craft.frame(self.tool).body), 0.0
        X = Pose(np.asarray(craft.frame(self.tool).X_BF.p))
        while body:
            length += float(np.linalg.norm(np.asarray(X.p)))
            if length > self.bounds.hand_length:
                break
            found.append(craft.body_names[body])
            X, body = craft.joints[body - 1].X_PJ, craft.parents[body]
        return tuple(found)

    @cached_property
    def _client_inertia(self) -> SpatialInertia:
        return composite_inertia(self.client, np.zeros(0))

    def _client_motion(self) -> NominalMotion:
        start = self.client_start
        return unforced_motion(self._client_inertia, FrameMotion(start.p_NB, start.quat_NB, start.V_NB))

    def with_changes(self, **changes: object) -> CaptureTask:
        """Copy of the task with other field values."""
        return dataclasses.replace(self, **changes)  # pyright: ignore[reportArgumentType]


def _without_shapes(craft: str, where: str, body: str) -> str:
    return (
        f"Spacecraft '{craft}' has no shapes on {where}, so distances to it are unknown. Say what it looks like: "
        f"craft.with_shapes('{body}', Shape(Box((1.0, 1.0, 1.0)))), with Box and Shape of freefloat.model.shapes."
    )


def _depth(craft: Spacecraft, name: str) -> int:
    """Number of moving joints between a body and the base."""
    index, count = craft.body_index(name), 0
    while index:
        count += craft.joints[index - 1].kind != "fixed"
        index = craft.parents[index]
    return count

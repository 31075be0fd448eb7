"""Compliant contact between two shapes on bodies of one or two spacecraft, or on something fixed in space."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.constrained import row_forces
from freefloat.dynamics.relative_rows import INERTIAL, FrameRows, relative_pose, row_velocity
from freefloat.dynamics.relative_rows import CraftPlace as NumberedPlace
from freefloat.dynamics.touching_points import is_surface_first
from freefloat.effects.contact.bristles import Bristles
from freefloat.effects.contact.contact_pair import ContactForces, ContactPair, ContactPoints
from freefloat.effects.contact.normal_laws import NormalLaw
from freefloat.model import Clock, Truth, World
from freefloat.model.connections import INERTIAL as INERTIAL_NAME
from freefloat.model.contact_shapes import ContactShape
from freefloat.model.part_kinds import Action, Approach, Interaction
from freefloat.spatial import Pose, linear
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Matrix, Numeric, Scalar, Vec6, Vector
from freefloat.values.channels import Channel, vector
from freefloat.values.errors import require_name

_OVERLAP_TOLERANCE = 1e-12  # [m]: less is rounding, and no overlap


@record
class CompliantContact(Interaction):
    """A shape at frame a that touches a shape at frame b with a normal law and, with friction, bristles.

    Frames are called `servicer.probe`; `N` is fixed in space. A shape may sit at a pose `at_a` or `at_b` in its
    frame. Several points touch at once: each of them has the law's stiffness.
    """

    a: str = static()
    shape_a: ContactShape
    b: str = static()
    shape_b: ContactShape
    law: NormalLaw
    bristles: Bristles | None = None
    at_a: Pose = Pose()  # of shape a in frame a
    at_b: Pose = Pose()
    name: str = static(default="contact", kw_only=True)  # what channels and messages call it
    pressed: bool = static(
        default=False, kw_only=True
    )  # True: it may overlap at the start, where it is pressed together

    def __post_init__(self) -> None:
        require_name("A compliant contact", self.name)
        if self.a == self.b:
            raise ModelError(f"{self.title} would let '{self.a}' touch itself. Name two frames.")
        is_surface_first(self.shape_a, self.shape_b)  # rejects a pair that cannot touch

    @property
    def pair(self) -> ContactPair:
        """Contact pair of the shapes and their laws, for a force from any pose and twist."""
        return ContactPair(self.shape_a, self.shape_b, self.law, self.bristles, self.at_a, self.at_b)

    # ---- how it acts

    def check_world(self, world: World) -> None:
        """Reject frames that the world does not have, and two frames that are both fixed in space."""
        if all(self._place(world, at)[0] < 0 for at in (self.a, self.b)):
            raise ModelError(f"{self.title}: '{self.a}' and '{self.b}' both stand still. Name a frame of a spacecraft.")

    def is_between_spacecraft(self, world: World) -> bool:
        """Whether both frames are on spacecraft; False if one of them is fixed in space."""
        return all(self._place(world, at)[0] >= 0 for at in (self.a, self.b))

    def pushed_frames(self, world: World) -> tuple[tuple[int, str], ...]:
        """Both places, of those that are on spacecraft."""
        return tuple(place for place in (self._place(world, self.a), self._place(world, self.b)) if place[0] >= 0)

    def begin(self, world: World) -> Matrix:
        """Deflections of bristles that are not bent."""
        return self.pair.unbent_bristles()

    def margins(self, truth: Truth, inner: Matrix) -> Vector:
        """Margins of every point, positive where the law acts, then where the shapes overlap [m]."""
        return self.pair.margins(self._contact_points(truth)[1])

    def gaps(self, truth: Truth) -> tuple[Vector, Vector]:
        """Gap of every point [m] and its rate [m/s]."""
        now = self._contact_points(truth)[1]
        return -now.depths, -now.rates

    def approach(self, truth: Truth) -> Approach:
        """Gaps of every point, and the motion of frame b relative to frame a."""
        X_ab, V_ab = self._relative_motion(truth)
        now = self.pair.contact_points(X_ab, V_ab)
        return Approach(-now.depths, -now.rates, V_ab, self.pair.lever(X_ab), self.pair.rate_jump(X_ab, V_ab))

    def gap_bound(self, truth: Truth) -> tuple[Scalar, Scalar]:
        """Lower bound of all gaps [m] and upper bound of their closing rates [m/s], from balls around the shapes."""
        return self.pair.gap_bounds(*self._relative_motion(truth))

    def act(self, truth: Truth, inner: Matrix, on: Numeric, clock: Clock) -> Action:
        """Forces on both bodies, and the rates of the bristles."""
        crafts, states, rows = truth.world.crafts, truth.states, (self._rows(truth.world),)
        found = self._forces(truth, inner, on)
        power = found.wrench @ row_velocity(crafts, states, rows)
        return Action(tuple(row_forces(crafts, states, rows, found.wrench)), found.bristle_rates, power, found.heat)

    def stored(self, truth: Truth, inner: Matrix) -> Scalar:
        """Energy in springs and bristles [J]."""
        return self.pair.stored_energy(self._contact_points(truth)[1], inner)

    def reset_inner_state(self, inner: Matrix, on: Numeric) -> tuple[Matrix, Scalar]:
        """Deflections after the bristles of points that part have sprung back, and the energy lost by that [J]."""
        return self.pair.release_bristles(inner, on)

    def start_measurements(self, truth: Truth) -> tuple[Vector, Matrix, Scalar]:
        """Depths [m], normals in N axes, and the stored energy [J] at the start."""
        now = self._contact_points(truth)[1]
        R = self._attitude(truth, self._place(truth.world, self.a))
        return now.depths, now.normals @ R.T, self.pair.stored_energy(now, self.begin(truth.world))

    def start_fault(self, seen: tuple[Vector, Matrix, Scalar]) -> str:
        """Error text about an overlap at the start: its depth, and the direction out of it; empty if there is none."""
        depths, normals, stored = map(np.asarray, seen)
        worst = int(np.argmax(depths))
        if self.pressed or not depths[worst] > _OVERLAP_TOLERANCE:
            return ""
        moves, sign = (self.a, -1.0) if self.b == INERTIAL_NAME else (self.b, 1.0)
        way = ", ".join(f"{x:.3g}" for x in sign * normals[worst] + 0.0)
        return (
            f"{self.title}: '{self.a}' and '{self.b}' overlap by {1e3 * depths[worst]:.4g} mm at the start, which "
            f"would release {stored:.3g} J. Move '{moves}' along ({way}) in N by that much, or say pressed=True where "
            "they are meant to be pressed together."
        )

    # ---- channels

    def channels(self, world: World) -> tuple[Channel, ...]:
        """Channels for gap, forces and stored energy."""
        own, both = f"contact.{self.name}", f"{self.name}: {self.a} and {self.b}"
        return (
            Channel(f"{own}.gap", f"{both}: smallest gap", "m"),
            Channel(f"{own}.points", f"{both}: points that touch", "1"),
            Channel(f"{own}.push", f"{both}: sum of normal forces", "N"),
            vector(f"{own}.force", f"{both}: force on the second", "N", "N"),
            Channel(f"{own}.slipping", f"{both}: points that slip", "1"),
            Channel(f"{own}.stored", f"{both}: energy stored", "J"),
        )

    def observe(self, truth: Truth, inner: Matrix, clock: Clock) -> tuple[Numeric, ...]:
        """Values of the channels: gap, forces and stored energy."""
        _, now = self._contact_points(truth)
        flags = self.pair.margins(now) > 0.0
        found = self._forces(truth, inner, flags)
        R = self._attitude(truth, self._place(truth.world, self.a))
        return (
            -jnp.max(now.depths),
            jnp.sum(1.0 * (now.depths > 0.0)),
            jnp.sum(found.pushes),
            R @ linear(found.wrench),
            jnp.sum(1.0 * found.slips),
            self.pair.stored_energy(now, inner),
        )

    # ---- where its frames are

    def _place(self, world: World, at: str) -> NumberedPlace:
        place = world.place(at, self.title)
        return (world.names.index(place.craft), place.frame) if place.craft else INERTIAL

    def _rows(self, world: World) -> FrameRows:
        return FrameRows(self._place(world, self.a), self._place(world, self.b))

    def _contact_points(self, truth: Truth) -> tuple[Pose, ContactPoints]:
        X_ab, V_ab = self._relative_motion(truth)
        return X_ab, self.pair.contact_points(X_ab, V_ab)

    def _relative_motion(self, truth: Truth) -> tuple[Pose, Vec6]:
        crafts, states, rows = truth.world.crafts, truth.states, self._rows(truth.world)
        X_ab = relative_pose(crafts, states, rows.first, rows.second)
        return X_ab, row_velocity(crafts, states, (rows,))

    def _forces(self, truth: Truth, inner: Matrix, flags: Numeric) -> ContactForces:
        X_ab, now = self._contact_points(truth)
        return self.pair.forces(X_ab, now, jnp.asarray(inner), flags)

    def _attitude(self, truth: Truth, place: NumberedPlace) -> Matrix:
        from freefloat.dynamics.kinematics import inertial_frame_pose

        c, frame = place
        return np.eye(3) if c < 0 else inertial_frame_pose(truth.world.crafts[c], truth.states[c], frame).R

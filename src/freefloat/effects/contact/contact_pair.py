"""Two shapes with their contact laws: the wrench between them from a relative pose and twist, of any origin."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.bounding_balls import bar_length, has_circle, least_gap, reach_of
from freefloat.dynamics.closest_points import length
from freefloat.dynamics.touching_points import TouchingPoints, is_surface_first, touching_points
from freefloat.effects.contact.bristles import Bristles
from freefloat.effects.contact.normal_laws import NormalLaw
from freefloat.model.contact_shapes import ContactShape
from freefloat.spatial import Pose, angular, linear, six
from freefloat.values import record
from freefloat.values.arrays import Matrix, Numeric, Scalar, Vec6, Vector


@record
class ContactPoints:
    """Points of a contact pair and how they move, in axes of frame a."""

    points: Matrix  # (n, 3) [m]
    normals: Matrix  # (n, 3): from shape a to shape b
    depths: Vector  # overlap [m]
    rates: Vector  # of the overlap [m/s]
    velocities: Matrix  # (n, 3): of b relative to a, at the points [m/s]


@record
class ContactForces:
    """Forces of a contact at an instant."""

    wrench: Vec6  # on b about the origin of frame b, in axes of frame a; its opposite is on a [N, N m]
    pushes: Vector  # normal force of every point [N]
    bristle_rates: Matrix  # (n, 3) [m/s]
    heat: Scalar  # power lost [W]
    slips: Numeric  # flags of the points


@record
class ContactPair:
    """Shape a in its place in frame a, shape b in frame b; the normal law and, with friction, the bristles."""

    a: ContactShape
    b: ContactShape
    law: NormalLaw
    bristles: Bristles | None = None
    at_a: Pose = Pose()  # of shape a in frame a
    at_b: Pose = Pose()  # of shape b in frame b

    @property
    def count(self) -> int:
        """Number of points at which the pair can touch."""
        import jax

        return int(jax.eval_shape(lambda: self.points(Pose()).gaps).shape[0])

    def points(self, X_ab: Pose) -> TouchingPoints:
        """Points, normals from a to b and gaps, in axes of frame a, where frame b is in pose X_ab."""
        X_AB = self.at_a.inverse() @ X_ab @ self.at_b
        if is_surface_first(self.a, self.b):
            found, X, sign = touching_points(self.b, self.a, X_AB), self.at_a, 1.0
        else:
            found, X, sign = touching_points(self.a, self.b, X_AB.inverse()), X_ab @ self.at_b, -1.0
        points = found.points @ jnp.asarray(X.R).T + jnp.asarray(X.p)
        return TouchingPoints(points, sign * (found.normals @ jnp.asarray(X.R).T), found.gaps)

    def gap_bounds(self, X_ab: Pose, V_ab: Vec6) -> tuple[Scalar, Scalar]:
        """Lower bound of all gaps [m] and upper bound of their closing rates [m/s]."""
        gap = least_gap(self.a, self.b, self.at_a.inverse() @ X_ab @ self.at_b)
        lever = reach_of(self.a, self.b) + length(jnp.asarray(self.at_b.p)) + jnp.maximum(gap, 0.0)
        return gap, length(linear(V_ab)) + lever * length(angular(V_ab))

    def lever(self, X_ab: Pose) -> Scalar:
        """Largest distance from the origin of either frame to points that are about to touch [m]."""
        return reach_of(self.a, self.b) + length(jnp.asarray(self.at_b.p)) + length(jnp.asarray(X_ab.p))

    def rate_jump(self, X_ab: Pose, V_ab: Vec6) -> Scalar | None:
        """How much faster than its rate a gap may close, because another place becomes the closest one [m/s].

        Convex shapes that do not turn have no such place. Of those that turn, every place of the shorter one moves like
        the closest one but for the turning times its length. Beside a circle any place may come. None: points only.
        """
        if has_circle(self.a, self.b):
            return 2.0 * (length(linear(V_ab)) + self.lever(X_ab) * length(angular(V_ab)))
        shorter = bar_length(self.a, self.b)
        return None if shorter is None else shorter * length(angular(V_ab))

    def contact_points(self, X_ab: Pose, V_ab: Vec6) -> ContactPoints:
        """Points with their motion; V_ab: velocity of the origin of b and its rate, relative to a, in axes of a."""
        found = self.points(X_ab)
        levers = found.points - jnp.asarray(X_ab.p)
        velocities = linear(V_ab) + jnp.cross(jnp.broadcast_to(angular(V_ab), levers.shape), levers)
        rates = -jnp.sum(velocities * found.normals, axis=1)
        return ContactPoints(found.points, found.normals, -found.gaps, rates, velocities)

    def margins(self, now: ContactPoints) -> Vector:
        """Margins: positive at points where the law acts, then at points that overlap [m]."""
        return jnp.concatenate([self.law.margin(now.depths, now.rates), now.depths])

    def at(self, X_ab: Pose, V_ab: Vec6, z: Matrix | None = None) -> ContactForces:
        """Contact forces at a pose and a twist of frame b relative to frame a, in axes of a.

        The caller keeps the deflections z of the bristles and integrates `bristle_rates`; None: they are not bent.
        """
        now = self.contact_points(X_ab, V_ab)
        return self.forces(X_ab, now, self.unbent_bristles() if z is None else z, self.margins(now) > 0.0)

    def forces(self, X_ab: Pose, now: ContactPoints, z: Matrix, flags: Numeric) -> ContactForces:
        """Contact forces from the deflections z of the bristles and the flags of the margins.

        A point that overlaps but does not act springs back by itself: its stored energy is lost.
        """
        on, inside = jnp.split(flags, 2)
        pushes = self.law.force(now.depths, now.rates, on)
        force = pushes[:, None] * now.normals
        springs = jnp.where(on | inside, self.law.elastic_force(now.depths), 0.0)
        heat = jnp.sum((pushes - springs) * now.rates)
        rates, slips = jnp.zeros_like(z), jnp.zeros(len(now.depths), bool)
        if self.bristles is not None:
            rub = self.bristles.friction_forces(z, now.velocities, now.normals, pushes)
            force, heat, rates, slips = force + rub.force, heat + rub.heat, rub.rate, rub.slips & on
        levers = now.points - jnp.asarray(X_ab.p)
        wrench = six(jnp.sum(force, axis=0), jnp.sum(jnp.cross(levers, force), axis=0))
        return ContactForces(wrench, pushes, rates, heat, slips)

    def stored_energy(self, now: ContactPoints, z: Matrix) -> Scalar:
        """Energy in springs and bristles [J]."""
        normal = jnp.sum(self.law.energy(now.depths))
        return normal if self.bristles is None else normal + self.bristles.energy(z)

    def release_bristles(self, z: Matrix, flags: Numeric) -> tuple[Matrix, Scalar]:
        """Deflections after bristles of points that no longer act have sprung back, and the energy lost by that [J]."""
        if self.bristles is None:
            return z, jnp.zeros(())
        on, _ = jnp.split(flags, 2)
        kept = jnp.where(on[:, None], z, 0.0)
        return kept, self.bristles.energy(z) - self.bristles.energy(kept)

    def unbent_bristles(self) -> Matrix:
        """Deflections of bristles that are not bent."""
        return np.zeros((self.count if self.bristles is not None else 0, 3))

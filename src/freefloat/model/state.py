"""The minimal state of a spacecraft: everything else is computed from it and passed on as values."""

from jaxtyping import Float

from freefloat.spatial import Pose
from freefloat.values import record
from freefloat.values.arrays import Numeric, Quaternion, Vec3, Vec6

Positions = Float[Numeric, "nq"]
Velocities = Float[Numeric, "nv"]


@record
class State:
    """Pose of the base, positions of the joints, and the speeds of both."""

    p_NB: Vec3  # base origin in N [m]
    quat_NB: Quaternion  # base attitude, scalar first
    q: Positions  # joint positions [rad, m], tree order
    v: Velocities  # base twist V_NB (body axes), joint rates, wheel speeds, tree order

    @property
    def X_NB(self) -> Pose:
        """Pose of the base in N."""
        return Pose.from_quaternion(self.quat_NB, self.p_NB)

    @property
    def V_NB(self) -> Vec6:
        """Body twist of the base."""
        return self.v[:6]

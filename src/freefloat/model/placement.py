"""Where a part sits on its body, as a caller gives it."""

from freefloat.spatial import Pose, PoseLike, as_pose
from freefloat.values import ModelError


def require_pose(owner: str, at: PoseLike) -> Pose:
    """A pose, or the aligned pose at a position."""
    try:
        return as_pose(at)
    except ValueError as error:
        raise ModelError(f"{owner}: {error}") from None

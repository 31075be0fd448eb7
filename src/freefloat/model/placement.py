"""The pose of a part on its body, as a caller gives it."""

from freefloat.spatial import Pose, PoseLike, as_pose
from freefloat.values import ModelError


def require_pose(owner: str, at: PoseLike) -> Pose:
    """The pose that a caller gave, or the aligned pose at a given position; `owner` is named in the error."""
    try:
        return as_pose(at)
    except ValueError as error:
        raise ModelError(f"{owner}: {error}") from None

"""Where a part sits on its body, as a caller gives it."""

from freefloat.spatial import Place, Pose, placed
from freefloat.values import ModelError


def placement(owner: str, at: Place) -> Pose:
    """A pose, or the aligned pose at a position."""
    try:
        return placed(at)
    except ValueError as error:
        raise ModelError(f"{owner}: {error}") from None

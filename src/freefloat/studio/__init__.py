"""The studio: replay, run and watch in the browser. Needs the extra `studio` (viser)."""

from freefloat.studio.studio import Studio, is_local
from freefloat.studio.viewer import require_viser

__all__ = ["Studio", "is_local", "require_viser"]

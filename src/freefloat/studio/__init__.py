"""The studio: replay, run and watch in the browser. Needs the extra `studio` (viser)."""

from freefloat.studio.studio import Studio, require_viser

__all__ = ["Studio", "require_viser"]

"""Ready spacecraft as data, every number with its source."""

from freefloat.library.ets7 import ets7

__all__ = ["ets7"]

"""The package `mujoco`, which is installed only where it is wanted."""

from __future__ import annotations

from typing import Any

from freefloat.values.errors import ModelError


def load_mujoco(use: str) -> Any:
    """The package `mujoco`; an error that begins with its `use`, such as `MJCF is read`, where it is not installed."""
    try:
        import mujoco
    except ImportError:
        raise ModelError(f"{use} by MuJoCo, which is not installed: pip install 'freefloat[mujoco]'.") from None
    return mujoco

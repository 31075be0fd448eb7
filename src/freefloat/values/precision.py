"""Switching JAX to float64, once for the process."""

import os
import warnings

import jax

_OFF = {"0", "false", "no", "off"}


def enable_float64() -> None:
    """Switch JAX to float64; warn a user who had switched it off by an environment variable."""
    if os.environ.get("JAX_ENABLE_X64", "").strip().lower() in _OFF:
        warnings.warn(
            "JAX_ENABLE_X64 is set to off, but freefloat computes in float64 and has switched it on for this "
            "process. Unset JAX_ENABLE_X64 to silence this warning.",
            stacklevel=2,
        )
    jax.config.update("jax_enable_x64", True)


def require_float64() -> None:
    """Raise an error when float64 was switched off after the import: results would be float32."""
    if not jax.config.read("jax_enable_x64"):
        raise RuntimeError(
            "JAX's float64 was switched off after freefloat was imported, so results would lose nine digits. "
            'Remove jax.config.update("jax_enable_x64", False), or run that code in a process of its own.'
        )

"""Errors of tracing: what is not supported, where the user wrote it, and what to write instead."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.engine.errors import PrecisionError, UnsupportedError

if TYPE_CHECKING:
    from .interpreter import Tracer

_SOLVE = "Write it as damped normal equations with a Cholesky or LDL solve, and take rank from the pivots"
_OUTSIDE = "Compute it outside the compiled function and pass the result in"
_EFFECT = "Remove it from the compiled function, or run with target='jax', which allows it"
REMEDIES = {
    "svd": f"{_SOLVE}; or {_OUTSIDE[0].lower()}{_OUTSIDE[1:]}.",
    "eigh": f"{_OUTSIDE}, or use a closed form for small matrices.",
    "eig": f"{_OUTSIDE}.",
    "schur": f"{_OUTSIDE}.",
    "householder_product": "Use a Cholesky solve of the normal equations instead of QR.",
    "geqrf": "Use a Cholesky solve of the normal equations instead of QR.",
    "qr": "Use a Cholesky solve of the normal equations instead of QR.",
    "debug_print": f"{_EFFECT}.",
    "debug_callback": f"{_EFFECT}.",
    "pure_callback": f"{_EFFECT}.",
    "io_callback": f"{_EFFECT}.",
    "fft": f"{_OUTSIDE}.",
    "conv_general_dilated": "Write the convolution as sums of slices.",
}
_GENERAL = "Express it with arithmetic, select, indexing, scan or cond; docs/engine.md lists what is known."
_NOT_USER = ("jax", "jaxlib", "numpy", "equinox", "importlib")


def unsupported_error(tracer: Tracer, eqn: Any, what: str | None = None, remedy: str | None = None) -> UnsupportedError:
    """Error for an equation that compiled code does not support."""
    name = eqn.primitive.name
    return UnsupportedError(
        what or f"Primitive '{name}' cannot be compiled", user_line(tracer, eqn), remedy or REMEDIES.get(name, _GENERAL)
    )


def precision_error(tracer: Tracer, eqn: Any, dtype: np.dtype) -> PrecisionError:
    """Error for an intermediate array of single precision or another unsupported type."""
    if dtype.kind in "fV":
        remedy = "Compiled code is double precision: remove the cast, or give the constant as float64."
    elif dtype.kind == "c":
        remedy = "Compiled code has no complex numbers: write real and imaginary parts."
    else:
        remedy = "Use int32, int64, uint32, uint64 or bool."
    return PrecisionError(f"An array of type {dtype} at {user_line(tracer, eqn)}. {remedy}")


def user_line(tracer: Tracer, eqn: Any) -> str:
    """Innermost line of an equation that is not a library's, as ``file.py:12 in function``."""
    for equation in (eqn, *reversed(tracer.calls)):
        traceback = getattr(equation.source_info, "traceback", None)
        for frame in getattr(traceback, "frames", ()):
            path = Path(frame.file_name)
            if not is_library(path):
                name = frame.function_name.rsplit(".", maxsplit=1)[-1]
                return f"{path.name}:{frame.line_num} in {name}"
    return "an unknown line"


def error_line(error: BaseException) -> str:
    """Innermost line that is not a library's in the traceback of an error raised while tracing."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not is_library(Path(f.filename))]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}" if frames else "an unknown line"


def is_library(path: Path) -> bool:
    """Whether a file belongs to JAX, to another library used here or to this engine."""
    parts = path.parts
    if "site-packages" in parts:
        return parts[parts.index("site-packages") + 1] in _NOT_USER
    return path.is_relative_to(Path(__file__).parents[1])

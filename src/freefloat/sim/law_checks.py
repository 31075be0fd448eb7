"""Checks of laws: their methods, their answers, their memory. Faulty laws are refused by name before the run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.control.laws import ForceLaw, MemoryLaw, MotionLaw, Remembering
from freefloat.engine.jaxprs.refusals import error_line
from freefloat.model import Spacecraft, State
from freefloat.values import LawError
from freefloat.values.arrays import Scalar, Vector, is_traced
from freefloat.values.channels import Channel

# What each method is called with.
_METHODS = {
    "begin": ("state",),
    "rates": ("motion", "t", "hold"),
    "force": ("state", "t", "hold"),
    "memory": (),
    "sample": ("memory", "state", "t", "hold"),
    "remember": ("memory", "state", "t", "hold"),
    "recall": ("memory",),
    "channels": (),
    "observe": ("craft", "state", "t"),
}
_COMPANIONS = {"rates": ("begin", "joints"), "force": ("begin",), "sample": ("begin", "memory")}

# What Python or NumPy say when they meet a traced value, and what to write instead. The first that fits counts.
_TRACED: tuple[tuple[type[Exception], str, str], ...] = (
    (
        jax.errors.TracerBoolConversionError,
        "",
        "decides by a traced value (if, and, or, max, ...). Use jnp.where in place of if, jnp.maximum in place of max",
    ),
    (jax.errors.NonConcreteBooleanIndexError, "", "picks entries by a traced mask. Use jnp.where in place of x[mask]"),
    (jax.errors.TracerArrayConversionError, "", "gives a traced value to NumPy. Use jax.numpy in place of numpy"),
    (
        jax.errors.TracerIntegerConversionError,
        "",
        "uses a traced value as an index or a size. Index a jnp array with it; sizes must be known",
    ),
    (
        jax.errors.ConcretizationTypeError,
        "",
        "makes a Python number of a traced value (float, int, math, .item). Use jax.numpy and leave it as it is",
    ),
    (
        jax.errors.UnexpectedTracerError,
        "",
        "uses a traced value that was kept from an earlier call. A law is pure: what it keeps is its memory",
    ),
    (
        ValueError,
        "setting an array element with a sequence",
        "writes a traced value into a NumPy array. Use jnp.zeros(n).at[place].set(value)",
    ),
    (TypeError, "JAX arrays are immutable", "sets an entry of an array in place. Use x = x.at[place].set(value)"),
)


# ---- methods


def require_law(law: Any) -> None:
    """Refuse an object that is not a law, and say what it lacks."""
    if isinstance(law, type):
        raise LawError(f"{law.__name__} is a class, not a law. Give an instance of it: {law.__name__}(...).")
    kind = type(law).__name__
    for method, companions in _COMPANIONS.items():
        missing = [name for name in companions if hasattr(law, method) and not hasattr(law, name)]
        if missing:
            raise LawError(f"{kind} is not a law: it has `{method}` but no {_list_names(missing)}.")
    if not isinstance(law, (MotionLaw, ForceLaw, MemoryLaw)):
        raise LawError(f"{kind} is not a law: it needs `begin` and one of `rates`, `force` or `sample`.")
    if hasattr(law, "memory") and not isinstance(law, (MemoryLaw, Remembering)):
        missing = [name for name in ("remember", "recall") if not hasattr(law, name)]
        raise LawError(f"{kind} has `memory` but no {_list_names(missing)}, so nothing would ever be remembered.")
    if hasattr(law, "channels") != hasattr(law, "observe"):
        raise LawError(f"{kind} needs both `channels` and `observe`, or neither.")
    for method, arguments in _METHODS.items():
        if callable(getattr(law, method, None)):
            _require_arguments(kind, getattr(law, method), method, arguments)
    if isinstance(law, MotionLaw):
        named = isinstance(law.joints, (tuple, list)) and all(isinstance(name, str) for name in law.joints)
        if not named:
            raise LawError(f"{kind}.joints must be a tuple of names (a field or a property), got {law.joints!r}.")


def _require_arguments(kind: str, method: Callable[..., Any], name: str, arguments: tuple[str, ...]) -> None:
    try:
        inspect.signature(method).bind(*arguments)
    except TypeError:
        raise LawError(f"{kind}.{name} must take ({', '.join(('self', *arguments))}).") from None
    except ValueError:
        return  # a builtin without a signature


def begin_law(law: Any, inner: Callable[[Any], Any], state: Any) -> Any:
    """Begin a law: the one that will run."""
    started = law.begin(state)
    if not isinstance(inner(started), (MotionLaw, ForceLaw, MemoryLaw)):
        raise LawError(
            f"{type(inner(law)).__name__}.begin must return the law that will run, got {inner(started)!r}. "
            "End it with `return self`."
        )
    return started


def initial_memory(law: Any) -> Any:
    """What a law remembers before its first tick."""
    try:
        return jax.tree.map(jnp.asarray, law.memory())
    except TypeError as error:
        raise LawError(f"{type(law).__name__}.memory must return numbers or arrays of them: {error}") from error


# ---- answers


@contextmanager
def checked_call(law: Any, method: str) -> Iterator[None]:
    """Around a call of a law: errors about traced values become sentences, a law that changes itself is refused."""
    where = f"{type(law).__name__}.{method}"
    before = dict(getattr(law, "__dict__", {}))
    try:
        yield
    except Exception as error:
        for kind, words, remedy in _TRACED:
            if isinstance(error, kind) and words in str(error):
                raise LawError(f"{where} ({error_line(error)}) {remedy}.") from error
        raise
    for name, value in getattr(law, "__dict__", {}).items():
        if before[name] is not value if name in before else is_traced(value):
            raise LawError(
                f"{where} changes the law's own {name}, which happens once, not at every tick. A law is pure: return "
                "what it must keep as its memory."
            )


def require_answer_size(craft: Spacecraft, law: Any, function: str, answer: Any) -> Vector:
    """The answer of a law, if it has the right size; broadcasting would push the base unnoticed."""
    layout = craft.layout
    names = law.joints if function == "rates" else layout.order("v")
    size = len(law.joints) if function == "rates" else layout.nv
    shape = np.shape(answer) if answer is not None else None
    if shape != (size,):
        got = "nothing" if shape is None else f"shape {shape}"
        raise LawError(
            f"{type(law).__name__}.{function} must return {size} numbers ({', '.join(names)}), got {got}."
            + " The base counts for six." * (function != "rates")
        )
    return jnp.asarray(answer)


def require_sample_pair(law: Any, answer: Any) -> tuple[Any, Any]:
    """Memory and force that `sample` returned."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise LawError(f"{type(law).__name__}.sample must return two things, its new memory and the force.")
    return answer


def require_same_memory(law: Any, method: str, old: Any, new: Any) -> Any:
    """New memory, if it is nested, shaped and typed as before: it must stay the same between ticks."""
    where = f"{type(law).__name__}.{method}"
    if jax.tree.structure(old) != jax.tree.structure(new):
        raise LawError(
            f"{where} must return memory nested as `memory` made it, {jax.tree.structure(old)}, "
            f"got {jax.tree.structure(new)}."
        )
    new = jax.tree.map(jnp.asarray, new)
    for (path, was), now in zip(jax.tree_util.tree_flatten_with_path(old)[0], jax.tree.leaves(new), strict=True):
        if (was.shape, was.dtype) != (now.shape, now.dtype):
            raise LawError(
                f"{where} changes its memory{jax.tree_util.keystr(path)} from {was.dtype}{list(was.shape)} to "
                f"{now.dtype}{list(now.shape)}. Let `memory` begin with what it will be: 0.0 instead of 0, "
                "or zeros of the final shape."
            )
    return new


def law_channels(law: Any, craft: Spacecraft, state: State, t: Scalar) -> list[tuple[Channel, Any]]:
    """The channels a law adds to a run, with their values."""
    kind = type(law).__name__
    with checked_call(law, "observe"):
        channels, values = tuple(law.channels()), tuple(law.observe(craft, state, t))
    if len(channels) != len(values):
        raise LawError(f"{kind}.observe must return {len(channels)} values, one for each channel, got {len(values)}.")
    for channel, value in zip(channels, values, strict=True):
        shape = (len(channel.components),) if channel.axis else ()
        if np.shape(value) != shape:
            raise LawError(
                f"{kind}.observe must return shape {shape} for the channel '{channel.name}', got {np.shape(value)}."
            )
    return list(zip(channels, values, strict=True))


def _list_names(names: list[str]) -> str:
    return " and no ".join(f"`{name}`" for name in names)

"""Finds compiled functions before tracing them: in memory, then on disk, by their fingerprint."""

from __future__ import annotations

import contextlib
import json
import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from freefloat.engine.graph import Signature

from . import cache
from .fingerprint import Unseen, fingerprint
from .program import Compiled, Summary
from .structure import Structure

_MOST_PROGRAMS = 256  # kept in memory
_MOST_REASONS = 20  # kept on disk for `doctor`
_programs: OrderedDict[str, Compiled] = OrderedDict()
_searching = True


@contextmanager
def traced_anew() -> Iterator[None]:
    """While this lasts nothing is looked up or kept: for code that replaces functions of installed packages."""
    global _searching
    before, _searching = _searching, False
    try:
        yield
    finally:
        _searching = before


def name_of(function: Callable[..., Any], example: Sequence[Any], *facts: Any) -> str | None:
    """The name under which a function is kept, for arguments like the example; None if it must be traced."""
    import jax

    if not _searching:
        return None
    shapes = jax.tree_util.tree_map(_shape, tuple(example))
    try:
        return fingerprint(function, shapes, facts, bool(jax.config.read("jax_enable_x64")))
    except Unseen as why:
        _remember_reason(getattr(function, "__qualname__", repr(function)), str(why))
        return None


def _shape(leaf: Any) -> tuple[Any, ...]:
    if not (hasattr(leaf, "shape") and hasattr(leaf, "dtype")):
        leaf = np.asarray(leaf)
    return tuple(leaf.shape), str(leaf.dtype)


# ---- in memory


def in_memory(name: str | None) -> Compiled | None:
    """A program of this process."""
    if name is None or name not in _programs:
        return None
    _programs.move_to_end(name)
    return _programs[name]


def keep_in_memory(name: str | None, program: Compiled) -> Compiled:
    """Keep a program, and let go the one that was used longest ago where there are too many."""
    if name is not None:
        _programs[name] = program
        while len(_programs) > _MOST_PROGRAMS:
            _programs.popitem(last=False)
    return program


def forget() -> None:
    """Let go of all programs in memory."""
    _programs.clear()


# ---- on disk


@dataclass(frozen=True)
class Entry:
    """What is known of a traced function without tracing it: enough to load its code."""

    summary: Summary
    signature: Signature
    result: Any  # nested as the result, with numbers for its leaves
    notes: Any

    def structure(self, example: Sequence[Any]) -> Structure:
        """How arguments and result are nested."""
        return Structure.nested(self.signature, example, self.result)


def on_disk(name: str | None) -> Entry | None:
    """An entry that this or another process left."""
    content = None if name is None else cache.read(cache.key("traced", name))
    if content is None:
        return None
    try:
        entry = pickle.loads(content)
    except Exception:  # a class that is not there any more, or not importable here: trace again
        return None
    return entry if isinstance(entry, Entry) else None


def keep_on_disk(name: str | None, program: Compiled) -> None:
    """Leave an entry for other processes; a result of classes that cannot be imported stays in memory only."""
    import jax

    if name is None:
        return
    structure = program.structure
    result = jax.tree_util.tree_unflatten(structure.out_tree, range(len(structure.signature.results)))
    with contextlib.suppress(pickle.PicklingError, AttributeError, TypeError):
        entry = pickle.dumps(Entry(program.summary, structure.signature, result, program.notes))
        cache.write(cache.key("traced", name), entry)


# ---- what had to be traced


def _remember_reason(function: str, why: str) -> None:
    reasons = {**traced_again(), function: why}
    with contextlib.suppress(OSError):
        path = cache.directory() / "traced-again.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(dict(list(reasons.items())[-_MOST_REASONS:])))


def traced_again() -> Mapping[str, str]:
    """Functions that could not be looked up lately, and what of them cannot be seen."""
    try:
        found = json.loads((cache.directory() / "traced-again.json").read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


# ---- what cannot take its numbers as inputs

_baked: set[str] = set()


def must_bake(name: str | None) -> bool:
    """Whether a function is known to need its numbers while it is traced."""
    return name is not None and (name in _baked or cache.read(cache.key("baked", name)) is not None)


def bake_from_now_on(name: str | None) -> None:
    """Remember that a function needs its numbers while it is traced."""
    if name is not None:
        _baked.add(name)
        cache.write(cache.key("baked", name), b"")

"""Finds compiled functions before tracing them: in memory, then on disk, by their fingerprint."""

from __future__ import annotations

import contextlib
import json
import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from freefloat.engine.graph import Signature

from . import cache
from .fingerprint import Reached, fingerprint_and_reach
from .memories import let_jax_forget, let_records_forget, require_fresh_answers
from .origins import Unseen
from .program import Compiled, Summary
from .structure import Structure

_MOST_PROGRAMS = 256  # kept in memory
_MOST_REASONS = 20  # kept on disk for `doctor`
_searching = True


@dataclass(frozen=True)
class Name:
    """The name under which a function is kept."""

    digest: str
    classes: tuple[int, ...]  # who the user's classes are in this process: arguments and results are made of them
    title: str
    reached: Reached = field(compare=False)

    @property
    def here(self) -> tuple[str, tuple[int, ...]]:
        """The name in this process: a class that is defined again, in the same words, is another class."""
        return self.digest, self.classes


_programs: OrderedDict[tuple[str, tuple[int, ...]], Compiled] = OrderedDict()


@contextmanager
def traced_anew() -> Iterator[None]:
    """While this lasts nothing is looked up or kept: for code that replaces functions of installed packages."""
    global _searching
    before, _searching = _searching, False
    let_jax_forget()
    try:
        yield
    finally:
        _searching = before
        let_jax_forget()


def is_searching() -> bool:
    """Whether functions are looked up at present."""
    return _searching


def name_of(function: Callable[..., Any], example: Sequence[Any], *facts: Any) -> Name | None:
    """The name under which a function is kept, for arguments like the example; None if it must be traced."""
    import jax

    if not _searching:
        return None
    shapes = jax.tree_util.tree_map(_shape, tuple(example))
    try:
        digest, reached = fingerprint_and_reach(function, shapes, facts, _settings())
    except Unseen as why:
        _remember_reason(_title(function), str(why))
        return None
    return Name(digest, tuple(id(one) for one in reached.classes), _title(function), reached)


def before_tracing(name: Name | None) -> Name | None:
    """See to it that what is traced is today's code; None if it cannot be kept, because it may not be."""
    let_jax_forget(name.reached if name else None)
    if name is None:
        return None
    let_records_forget(name.reached)
    try:
        require_fresh_answers(name.reached)
    except Unseen as why:
        _remember_reason(name.title, str(why))
        return None
    return name


def _title(function: Any) -> str:
    """What a function is called; one that is wrapped, by what it wraps."""
    while not hasattr(function, "__qualname__"):
        inside = [function.__dict__.get("function"), getattr(function, "func", None), *getattr(function, "args", ())]
        inner = [one for one in inside if callable(one)]
        if not inner:
            return type(function).__qualname__
        function = inner[-1]
    return f"{function.__module__}.{function.__qualname__}"


def _settings() -> str:
    """Settings of JAX that change what is traced."""
    import jax

    names = (*("jax_enable_x64", "jax_numpy_dtype_promotion", "jax_numpy_rank_promotion", "jax_default_prng_impl"),)
    names += ("jax_threefry_partitionable", "jax_default_matmul_precision", "jax_enable_custom_prng")
    return str([(name, getattr(jax.config, name, None)) for name in names])


def _shape(leaf: Any) -> tuple[Any, ...]:
    if not (hasattr(leaf, "shape") and hasattr(leaf, "dtype")):
        leaf = np.asarray(leaf)
    return tuple(leaf.shape), str(leaf.dtype)


# ---- in memory


def in_memory(name: Name | None) -> Compiled | None:
    """A program of this process."""
    if name is None or name.here not in _programs:
        return None
    _programs.move_to_end(name.here)
    return _programs[name.here]


def keep_in_memory(name: Name | None, program: Compiled) -> Compiled:
    """Keep a program, and let go the one that was used longest ago where there are too many."""
    if name is not None:
        _programs[name.here] = program
        while len(_programs) > _MOST_PROGRAMS:
            _programs.popitem(last=False)
    return program


def forget() -> None:
    """Let go of all programs in memory, as in a process that starts."""
    _programs.clear()
    _baked.clear()
    _reasons.clear()


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


def on_disk(name: Name | None) -> Entry | None:
    """An entry that this or another process left."""
    content = None if name is None else cache.read(cache.key("traced", name.digest))
    if content is None:
        return None
    try:
        entry = pickle.loads(content)
    except Exception:  # a class that is not there any more, or not importable here: trace again
        return None
    return entry if isinstance(entry, Entry) else None


def keep_on_disk(name: Name | None, program: Compiled) -> None:
    """Leave an entry for other processes; a result of classes that cannot be imported stays in memory only."""
    import jax

    if name is None:
        return
    structure = program.structure
    result = jax.tree_util.tree_unflatten(structure.out_tree, range(len(structure.signature.results)))
    with contextlib.suppress(Exception):  # whatever a class says against being pickled
        entry = pickle.dumps(Entry(program.summary, structure.signature, result, program.notes))
        cache.write(cache.key("traced", name.digest), entry)


# ---- what had to be traced

_reasons: dict[str, str] = {}  # of this process, where the disk cannot be written to


def _remember_reason(function: str, why: str) -> None:
    _reasons[function] = why
    reasons = {name: reason for name, reason in traced_again().items() if name != function} | {function: why}
    cache.write(cache.key("reasons"), json.dumps(dict(list(reasons.items())[-_MOST_REASONS:])).encode())


def traced_again() -> Mapping[str, str]:
    """Functions that could not be looked up lately, and what of them cannot be seen."""
    return json.loads(cache.read(cache.key("reasons")) or b"{}") | _reasons


def forget_reasons() -> None:
    """Forget what had to be traced in this process; on disk it goes with the rest of the cache."""
    _reasons.clear()


# ---- what cannot take its numbers as inputs

_baked: set[str] = set()


def must_bake(name: Name | None) -> bool:
    """Whether a function is known to need its numbers while it is traced."""
    if name is None:
        return False
    return name.digest in _baked or cache.read(cache.key("baked", name.digest)) is not None


def bake_from_now_on(name: Name | None) -> None:
    """Remember that a function needs its numbers while it is traced."""
    if name is not None:
        _baked.add(name.digest)
        cache.write(cache.key("baked", name.digest), b"")

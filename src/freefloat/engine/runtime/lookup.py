"""Finds compiled functions before tracing them: in memory, then on disk, by their fingerprint."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from freefloat.engine.graph import Signature

from . import bundles, cache
from .fingerprint import Reached, look_at
from .origins import Unseen
from .program import Compiled, Summary
from .quiet import Quiet, forget_opened, holds_quiet_parts, opened_before, remember_opened
from .stale_caches import let_jax_forget, let_records_forget, require_fresh_answers
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
    quiet: Quiet | None = field(default=None, compare=False)  # parts of data whose openings are still to be heard of

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
        found = look_at(function, shapes, facts, settings())
        if found.parts and not found.reached.caches:  # answers under functools.cache open nothing
            return _known_or_new(Quiet(found), title_of(function))
        if found.parts:
            return _name(*Quiet(found).everything, title_of(function))
    except Unseen as why:
        _remember_reason(title_of(function), str(why))
        return None
    return _name(found.digest, found.reached, title_of(function))


def _name(digest: str, reached: Reached, title: str, quiet: Quiet | None = None) -> Name:
    return Name(digest, tuple(id(one) for one in reached.classes), title, reached, quiet)


def _known_or_new(quiet: Quiet, title: str) -> Name:
    """The name of something kept that opened no other quiet parts; else a name with all of them, until it is traced."""
    for places in opened_before(quiet.print.digest):
        with contextlib.suppress(Unseen):
            name = _name(*quiet.name_with(places), title)
            if name.here in _programs or must_bake(name) or cache.read(cache.key("traced", name.digest)) is not None:
                return name
    return _name(*quiet.everything, title, quiet)


@contextmanager
def listening(name: Name | None) -> Iterator[None]:
    """Hear, while a function is traced, which quiet parts of its data it opens."""
    with contextlib.nullcontext() if name is None or name.quiet is None else name.quiet.listening():
        yield


def after_tracing(name: Name | None, program: Compiled | None = None) -> Name | None:
    """The name with those quiet parts that tracing has opened; all of them where the program hands some on."""
    if name is None or name.quiet is None:
        return name
    quiet = name.quiet
    if program is not None and holds_quiet_parts(_result(program), program.notes):
        quiet.all_heard = True
    places = quiet.opened_places()
    remember_opened(quiet.print.digest, places)
    return _name(*quiet.name_with(places), name.title)


def _result(program: Compiled) -> Any:
    """The nesting of a program's result, with numbers for its leaves."""
    import jax

    structure = program.structure
    return jax.tree_util.tree_unflatten(structure.out_tree, range(len(structure.signature.results)))


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


def title_of(function: Any) -> str:
    """What a function is called; one that is wrapped, by what it wraps."""
    while not hasattr(function, "__qualname__"):
        inside = [getattr(function, "__dict__", {}).get("function")]
        inside += [function.func, *function.args] if isinstance(function, partial) else []
        inner = [one for one in inside if callable(one)]
        if not inner:
            return type(function).__qualname__
        function = inner[-1]
    return f"{getattr(function, '__module__', None)}.{function.__qualname__}"


def settings() -> str:
    """Settings of JAX that change what is traced, and the ways of tracing: none finds what another one left."""
    import jax

    names = (*("jax_enable_x64", "jax_numpy_dtype_promotion", "jax_numpy_rank_promotion", "jax_default_prng_impl"),)
    names += ("jax_threefry_partitionable", "jax_default_matmul_precision", "jax_enable_custom_prng")
    ours = {"FREEFLOAT_TRACING": "jaxpr", "FREEFLOAT_PIECES": "0"}
    others = [name for name, value in ours.items() if os.environ.get(name, "") == value]
    return str([(name, getattr(jax.config, name, None)) for name in names] + others)


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
    forget_opened()
    bundles.forget()
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
    if name is None:
        return
    with contextlib.suppress(Exception):  # whatever a class says against being pickled
        entry = pickle.dumps(Entry(program.summary, program.structure.signature, _result(program), program.notes))
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
    """Remember that a function needs its numbers while it is traced, as far as tracing came."""
    name = after_tracing(name)
    if name is not None:
        _baked.add(name.digest)
        cache.write(cache.key("baked", name.digest), b"")

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

from freefloat.engine.graph import GraphSignature

from . import bundles, cache
from .fingerprint import ReachedObjects, full_fingerprint
from .origins import InspectionError
from .program import Compiled, Summary
from .quiet import QuietParts, forget_opened, holds_quiet_parts, opened_before, remember_opened
from .stale_caches import clear_jax_caches, clear_record_caches, require_fresh_answers
from .structure import CallStructure

_MOST_PROGRAMS = 256  # kept in memory
_MOST_REASONS = 20  # kept on disk for `doctor`
_searching = True


@dataclass(frozen=True)
class Name:
    """Name under which a compiled function is kept."""

    digest: str
    classes: tuple[int, ...]  # identities of the user's classes in this process, of arguments and results
    title: str
    reached: ReachedObjects = field(compare=False)
    quiet: QuietParts | None = field(default=None, compare=False)  # quiet parts whose openings are not known yet

    @property
    def here(self) -> tuple[str, tuple[int, ...]]:
        """Name within this process, where a class that is defined again with the same text is another class."""
        return self.digest, self.classes


_programs: OrderedDict[tuple[str, tuple[int, ...]], Compiled] = OrderedDict()


@contextmanager
def traced_anew() -> Iterator[None]:
    """Within this context no compiled code is looked up or kept: for code that replaces functions of packages."""
    global _searching
    before, _searching = _searching, False
    clear_jax_caches()
    try:
        yield
    finally:
        _searching = before
        clear_jax_caches()


def is_searching() -> bool:
    """Whether compiled functions are looked up at present."""
    return _searching


def name_of(function: Callable[..., Any], example: Sequence[Any], *facts: Any) -> Name | None:
    """Name under which a function is kept, for arguments like the example; None if it must be traced."""
    import jax

    if not _searching:
        return None
    shapes = jax.tree_util.tree_map(_shape, tuple(example))
    try:
        found = full_fingerprint(function, shapes, facts, settings())
        if found.parts and not found.reached.caches:  # cached results of functools.cache open nothing
            return _find_name(QuietParts(found), title_of(function))
        if found.parts:
            return _make_name(*QuietParts(found).full_name, title_of(function))
    except InspectionError as why:
        _remember_reason(title_of(function), str(why))
        return None
    return _make_name(found.digest, found.reached, title_of(function))


def _make_name(digest: str, reached: ReachedObjects, title: str, quiet: QuietParts | None = None) -> Name:
    return Name(digest, tuple(id(kind) for kind in reached.classes), title, reached, quiet)


def _find_name(quiet: QuietParts, title: str) -> Name:
    """Name of a kept function that opened the same quiet parts; else, until it is traced, a name with all of them."""
    for places in opened_before(quiet.print.digest):
        with contextlib.suppress(InspectionError):
            name = _make_name(*quiet.name_with(places), title)
            if (
                name.here in _programs
                or needs_constants(name)
                or cache.read(cache.key("traced", name.digest)) is not None
            ):
                return name
    return _make_name(*quiet.full_name, title, quiet)


@contextmanager
def record_openings(name: Name | None) -> Iterator[None]:
    """Within this context, record which quiet parts of its data a function opens while it is traced."""
    with contextlib.nullcontext() if name is None or name.quiet is None else name.quiet.record_openings():
        yield


def name_after_tracing(name: Name | None, program: Compiled | None = None) -> Name | None:
    """Name with those quiet parts that tracing has opened; with all of them where the program returns some."""
    if name is None or name.quiet is None:
        return name
    quiet = name.quiet
    if program is not None and holds_quiet_parts(_result_nesting(program), program.notes):
        quiet.all_heard = True
    places = quiet.opened_places()
    remember_opened(quiet.print.digest, places)
    return _make_name(*quiet.name_with(places), name.title)


def _result_nesting(program: Compiled) -> Any:
    """Nesting of a program's result, with numbers for its leaves."""
    import jax

    structure = program.structure
    return jax.tree_util.tree_unflatten(structure.out_tree, range(len(structure.signature.results)))


def clear_before_tracing(name: Name | None) -> Name | None:
    """Clear caches so that the present code is traced; None if it may be old code, which cannot be kept."""
    clear_jax_caches(name.reached if name else None)
    if name is None:
        return None
    clear_record_caches(name.reached)
    try:
        require_fresh_answers(name.reached)
    except InspectionError as why:
        _remember_reason(name.title, str(why))
        return None
    return name


def title_of(function: Any) -> str:
    """Dotted name of a function; of a wrapper, the name of the function inside."""
    while not hasattr(function, "__qualname__"):
        inside = [getattr(function, "__dict__", {}).get("function")]
        inside += [function.func, *function.args] if isinstance(function, partial) else []
        inner = [part for part in inside if callable(part)]
        if not inner:
            return type(function).__qualname__
        function = inner[-1]
    return f"{getattr(function, '__module__', None)}.{function.__qualname__}"


def settings() -> str:
    """Settings of JAX and of this package that change what is traced; they are part of every name."""
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
    """Compiled program of this process with this name; None if there is none."""
    if name is None or name.here not in _programs:
        return None
    _programs.move_to_end(name.here)
    return _programs[name.here]


def keep_in_memory(name: Name | None, program: Compiled) -> Compiled:
    """Keep a program in memory, and drop the one used longest ago where there are too many."""
    if name is not None:
        _programs[name.here] = program
        while len(_programs) > _MOST_PROGRAMS:
            _programs.popitem(last=False)
    return program


def forget() -> None:
    """Drop all programs in memory, as in a process that starts."""
    _programs.clear()
    forget_opened()
    bundles.forget()
    _baked.clear()
    _reasons.clear()


# ---- on disk


@dataclass(frozen=True)
class TraceEntry:
    """Facts about a traced function that are enough to load its code without tracing it."""

    summary: Summary
    signature: GraphSignature
    result: Any  # the result's nesting, with numbers for its leaves
    notes: Any

    def structure(self, example: Sequence[Any]) -> CallStructure:
        """Nesting of arguments and result."""
        return CallStructure.with_nesting(self.signature, example, self.result)


def on_disk(name: Name | None) -> TraceEntry | None:
    """Entry that this or another process wrote under this name; None if there is none."""
    content = None if name is None else cache.read(cache.key("traced", name.digest))
    if content is None:
        return None
    try:
        entry = pickle.loads(content)
    except Exception:  # a class that no longer exists or cannot be imported here: trace again
        return None
    return entry if isinstance(entry, TraceEntry) else None


def keep_on_disk(name: Name | None, program: Compiled) -> None:
    """Write an entry for other processes; a result of classes that cannot be imported stays in memory only."""
    if name is None:
        return
    with contextlib.suppress(Exception):  # any error of a class that cannot be pickled
        entry = pickle.dumps(
            TraceEntry(program.summary, program.structure.signature, _result_nesting(program), program.notes)
        )
        cache.write(cache.key("traced", name.digest), entry)


# ---- what had to be traced

_reasons: dict[str, str] = {}  # of this process, where the disk cannot be written to


def _remember_reason(function: str, why: str) -> None:
    """Record why a function could not be looked up, in memory and on disk."""
    _reasons[function] = why
    reasons = {name: reason for name, reason in traced_again().items() if name != function} | {function: why}
    cache.write(cache.key("reasons"), json.dumps(dict(list(reasons.items())[-_MOST_REASONS:])).encode())


def traced_again() -> Mapping[str, str]:
    """Functions that could not be looked up recently, each with the reason."""
    return json.loads(cache.read(cache.key("reasons")) or b"{}") | _reasons


def forget_reasons() -> None:
    """Drop the reasons for tracing again in this process; those on disk are cleared with the cache."""
    _reasons.clear()


# ---- functions that cannot take their numbers as inputs

_baked: set[str] = set()


def needs_constants(name: Name | None) -> bool:
    """Whether a function is known to need its numbers while it is traced."""
    if name is None:
        return False
    return name.digest in _baked or cache.read(cache.key("baked", name.digest)) is not None


def note_needs_constants(name: Name | None) -> None:
    """Record that a function needs its numbers while it is traced, with the quiet parts opened until then."""
    name = name_after_tracing(name)
    if name is not None:
        _baked.add(name.digest)
        cache.write(cache.key("baked", name.digest), b"")

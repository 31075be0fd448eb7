"""Which numbers of a system are inputs of its compiled code, by dotted path; the others become constants in it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from typing import Any

import jax

from freefloat import engine
from freefloat.model import Part
from freefloat.sim.system.system import System
from freefloat.values.errors import ModelError

ALL, NOTHING = "all", "nothing"


def compile_system(
    function: Callable[..., Any],
    system: System,
    *example: Any,
    target: str = "native",
    notes: Callable[[], Any] | None = None,
) -> engine.VariedProgram:
    """Compiled `function(system, *args)`, with those numbers of the system as inputs that its `vary` names."""
    chosen = _chosen_paths(system)
    varies = None if chosen is None else lambda path: jax.tree_util.keystr(path) in chosen
    return engine.compile_varied(function, system, *example, target=target, notes=notes, varies=varies)


def number_names(system: System) -> dict[str, str]:
    """Dotted path of every number of a system, such as `base.mass` or `ResolvedMotion.gain`, by JAX's key path."""
    found = {}
    for path, _ in jax.tree_util.tree_flatten_with_path(system)[0]:
        found[jax.tree_util.keystr(path)] = ".".join(_words(system, path))
    return found


def _words(system: System, path: tuple[Any, ...]) -> Iterator[str]:
    """Names of the entries of a key path: parts and fields by their names, the rest by their numbers."""
    at: Any = system
    for key in path:
        owner, field = at, getattr(key, "name", None)
        place: Any = getattr(key, "idx", getattr(key, "key", None))
        at = _inside(at, field, place)
        if owner is system.world.crafts:
            yield from () if system.world.single else (system.world.names[place],)
        elif field is None:
            yield str(getattr(at, "name", "") or (type(at).__name__ if isinstance(at, Part) else place))
        elif at is not system.world and not (isinstance(at, tuple) and hasattr(at[0], "name")):
            yield field  # lists of named parts (bodies, software) go without a word of their own


def _inside(at: Any, field: str | None, place: Any) -> Any:
    return at[place] if field is None else getattr(at, field)


def _chosen_paths(system: System) -> set[str] | None:
    """Key paths of the numbers that are inputs of compiled code; None if all are."""
    if system.vary == ALL:
        return None
    if system.vary == NOTHING:
        return set()
    names, wanted = number_names(system), system.vary
    if isinstance(wanted, str):
        raise ModelError(f"vary must be '{ALL}', '{NOTHING}' or a tuple of dotted paths, got '{wanted}'.")
    for path in wanted:
        if not any(_is_within(name, path) for name in names.values()):
            close = difflib.get_close_matches(path, names.values(), n=3, cutoff=0.4)
            hint = f"Did you mean {', '.join(close)}?" if close else f"Paths look like {next(iter(names.values()))}."
            raise ModelError(f"vary: there is no number '{path}' in this experiment. {hint}")
    return {key for key, name in names.items() if any(_is_within(name, path) for path in wanted)}


def _is_within(name: str, path: str) -> bool:
    return name == path or name.startswith(f"{path}.")

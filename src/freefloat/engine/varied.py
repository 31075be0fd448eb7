"""Compiled functions of a record whose numbers are inputs: other numbers need neither tracing nor compiling."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .compilation import compile_named
from .errors import EngineError
from .runtime import lookup
from .runtime.program import Chunk, Compiled, Rollout

if TYPE_CHECKING:
    from .runtime.stepping import Stepping, Watching

_STRUCTURAL = (0.0, 1.0, -1.0)  # numbers that simplify code; an entry that is one of them must stay it


class Template:
    """A pytree without its numbers: nesting, static fields, integers, and entries that are exactly 0, 1 or -1.

    `varies(path)` tells which leaves are inputs, by JAX's key path; None: all. The others are part of the template.
    """

    __quiet_inside__ = True  # colours and the like are in the key only where tracing reads them: see runtime.quiet

    def __init__(self, tree: Any, varies: Callable[[Any], bool] | None = None) -> None:
        import jax

        self._bases: list[Any] = []
        self._places: list[np.ndarray] = []
        leaves, self._tree = jax.tree_util.tree_flatten_with_path(tree)
        found = [np.zeros(0)]
        for path, leaf in leaves:
            values = np.asarray(leaf)
            floats = values.dtype == np.float64 and (varies is None or varies(path))
            free = np.isfinite(values) & ~np.isin(values, _STRUCTURAL) if floats else np.zeros(values.shape, bool)
            self._places.append(np.flatnonzero(free))
            self._bases.append(np.where(free, np.nan, values) if free.any() else leaf)
            found.append(values[free])
        self.numbers = np.concatenate(found)

    def fill(self, numbers: Any) -> Any:
        """The tree with other numbers, in the order of `Template.numbers`."""
        import jax
        import jax.numpy as jnp

        leaves, first = [], 0
        for base, places in zip(self._bases, self._places, strict=True):
            leaf = base
            if places.size:
                given = numbers[first : first + places.size]
                whole = places.size == np.size(base)
                flat = given if whole else jnp.asarray(base).ravel().at[places].set(given)
                leaf, first = flat.reshape(np.shape(base)), first + places.size
            leaves.append(leaf)
        return jax.tree_util.tree_unflatten(self._tree, leaves)

    def __fingerprint__(self) -> tuple[Any, ...]:
        """What it consists of."""
        import jax

        return jax.tree_util.tree_unflatten(self._tree, self._bases), self._places


class VariedProgram:
    """A compiled function with the numbers it is called with."""

    def __init__(self, compiled: Compiled, numbers: np.ndarray) -> None:
        self.compiled, self.numbers = compiled, numbers

    @property
    def notes(self) -> Any:
        """What tracing has taught: see ``compile``."""
        return self.compiled.notes

    def __call__(self, *args: Any) -> Any:
        """The function's result."""
        return self.compiled(*args, self.numbers)

    def stepping(self, state: Any, *held: Any) -> Stepping:
        """A rollout of one instance that is asked for step by step."""
        return self.compiled.stepping(state, *held, self.numbers)

    def watching(self, steps: Stepping, *held: Any) -> Watching:
        """This function of the present state of a stepping."""
        return self.compiled.watching(steps, *held, self.numbers)

    def batch(self, *args: Any, in_axes: Sequence[int | None] | None = None) -> Any:
        """Results for many instances of the arguments, all with the same numbers."""
        chosen = [0] * len(args) if in_axes is None else list(in_axes)
        return self.compiled.batch(*args, self.numbers, in_axes=[*chosen, None])

    def rollout(self, state: Any, *held: Any, steps: int, record_every: int | None = None) -> Rollout:
        """The state after so many steps, and the recorded ones in between."""
        return self.compiled.rollout(state, *held, self.numbers, steps=steps, record_every=record_every)

    def rollout_side_by_side(self, states: Any, *held: Any, steps: int) -> Any:
        """States after so many steps from many of them (a leading axis), by the code of single rollouts."""
        shared = [None] * (1 + len(held))
        return self.compiled.rollout_batch(
            states, *held, self.numbers, steps=steps, in_axes=[0, *shared], threads=1, scalar=True
        ).state

    def rollout_batch(
        self, states: Any, *held: Any, steps: int, record_every: int | None, in_axes: Sequence[int | None]
    ) -> Rollout:
        """Many rollouts side by side, all with the same numbers; records have axes (instance, row)."""
        return self.compiled.rollout_batch(
            states, *held, self.numbers, steps=steps, record_every=record_every, in_axes=[*in_axes, None]
        )

    def rollout_chunks(self, state: Any, *held: Any, steps: int, chunk: int, record_every: int) -> Iterator[Chunk]:
        """A rollout in pieces."""
        return self.compiled.rollout_chunks(
            state, *held, self.numbers, steps=steps, chunk=chunk, record_every=record_every
        )


def compile_varied(
    function: Callable[..., Any],
    tree: Any,
    *example: Any,
    target: str = "native",
    notes: Callable[[], Any] | None = None,
    varies: Callable[[Any], bool] | None = None,
) -> VariedProgram:
    """Compile ``function(tree, *args)`` with the numbers of ``tree`` as inputs; call it with the other arguments.

    Code that needs a number while it is traced, for a Python branch or for NumPy, has all of them baked in. The
    function itself must not close over the tree.
    """
    for template in _templates(tree, varies):
        call = _Call(function, template)
        name = lookup.name_of(call, (*example, template.numbers), target)
        last = template.numbers.size == 0
        if not last and lookup.must_bake(name):
            continue
        try:
            compiled = compile_named(name, call, (*example, template.numbers), target, notes, {})
            return VariedProgram(compiled, template.numbers)
        except Exception as error:
            if last or not needs_numbers(error):
                raise
            lookup.bake_from_now_on(name)
    raise EngineError("No way to compile was left.")


class _Call:
    """A function of a tree as a function of the tree's numbers."""

    def __init__(self, function: Callable[..., Any], template: Template) -> None:
        self.function, self.template = function, template

    def __call__(self, *args: Any) -> Any:
        *rest, numbers = args
        return self.function(self.template.fill(numbers), *rest)


def _templates(tree: Any, varies: Callable[[Any], bool] | None) -> Iterator[Template]:
    """Ways to compile, the best first: with numbers as inputs, and with all of them baked in."""
    yield Template(tree, varies)
    yield Template(tree, lambda path: False)


def needs_numbers(error: BaseException | None) -> bool:
    """Whether tracing failed because Python or NumPy needed to know a number."""
    import jax

    kinds = (
        jax.errors.ConcretizationTypeError,
        jax.errors.TracerArrayConversionError,
        jax.errors.TracerIntegerConversionError,
        jax.errors.NonConcreteBooleanIndexError,
    )
    while error is not None:
        if isinstance(error, kinds):
            return True
        error = error.__cause__ or error.__context__
    return False

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

_STRUCTURAL = (0.0, 1.0, -1.0)  # numbers that simplify code; an entry with one of these values must keep it


class Template:
    """A pytree without its numbers: nesting, static fields, integers, and entries that are exactly 0, 1 or -1.

    `varies(path)` returns whether a leaf is an input, by JAX's key path; None: all are. Others belong to the template.
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

    def with_numbers(self, numbers: Any) -> Any:
        """Return the tree with other numbers, in the order of `Template.numbers`."""
        import jax
        import jax.numpy as jnp

        leaves, first = [], 0
        for base, places in zip(self._bases, self._places, strict=True):
            leaf = base
            if places.size:
                values = numbers[first : first + places.size]
                whole = places.size == np.size(base)
                flat = values if whole else jnp.asarray(base).ravel().at[places].set(values)
                leaf, first = flat.reshape(np.shape(base)), first + places.size
            leaves.append(leaf)
        return jax.tree_util.tree_unflatten(self._tree, leaves)

    def __fingerprint__(self) -> tuple[Any, ...]:
        """Content of the template by which the engine recognises it: the tree without its numbers, and their places."""
        import jax

        return jax.tree_util.tree_unflatten(self._tree, self._bases), self._places


class VariedProgram:
    """A compiled function together with the numbers that it is called with."""

    def __init__(self, compiled: Compiled, numbers: np.ndarray) -> None:
        self.compiled, self.numbers = compiled, numbers

    @property
    def notes(self) -> Any:
        """Plain data that was found while tracing: see ``compile``."""
        return self.compiled.notes

    def __call__(self, *args: Any) -> Any:
        """Result of the function for these arguments."""
        return self.compiled(*args, self.numbers)

    def stepping(self, state: Any, *held: Any) -> Stepping:
        """Rollout of one instance that the caller advances step by step."""
        return self.compiled.stepping(state, *held, self.numbers)

    def watching(self, steps: Stepping, *held: Any) -> Watching:
        """This function, evaluated at the present state of a `Stepping` whenever it is called."""
        return self.compiled.watching(steps, *held, self.numbers)

    def batch(self, *args: Any, in_axes: Sequence[int | None] | None = None) -> Any:
        """Results for many instances of the arguments, all with the same numbers."""
        chosen = [0] * len(args) if in_axes is None else list(in_axes)
        return self.compiled.batch(*args, self.numbers, in_axes=[*chosen, None])

    def rollout(self, state: Any, *held: Any, steps: int, record_every: int | None = None) -> Rollout:
        """State after `steps` steps, and the states recorded on the way."""
        return self.compiled.rollout(state, *held, self.numbers, steps=steps, record_every=record_every)

    def rollout_side_by_side(self, states: Any, *held: Any, steps: int) -> Any:
        """States after `steps` steps from many start states (a leading axis), by the code of single rollouts."""
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
        """Rollout of one instance in several chunks of steps."""
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

    Code that needs a number while it is traced, for a Python branch or for NumPy, gets all of them as constants. The
    function itself must not close over the tree.
    """
    for template in _templates(tree, varies):
        call = _CallWithNumbers(function, template)
        name = lookup.name_of(call, (*example, template.numbers), target)
        last = template.numbers.size == 0
        if not last and lookup.needs_constants(name):
            continue
        try:
            compiled = compile_named(name, call, (*example, template.numbers), target, notes, {})
            return VariedProgram(compiled, template.numbers)
        except Exception as error:
            if last or not needs_numbers(error):
                raise
            lookup.note_needs_constants(name)
    raise EngineError("No way to compile was left.")


class _CallWithNumbers:
    """A function of a tree, called with the tree's numbers instead of the tree."""

    def __init__(self, function: Callable[..., Any], template: Template) -> None:
        self.function, self.template = function, template

    def __call__(self, *args: Any) -> Any:
        *rest, numbers = args
        return self.function(self.template.with_numbers(numbers), *rest)


def _templates(tree: Any, varies: Callable[[Any], bool] | None) -> Iterator[Template]:
    """Templates to try, the best first: one with numbers as inputs, and one with all of them as constants."""
    yield Template(tree, varies)
    yield Template(tree, lambda path: False)


def needs_numbers(error: BaseException | None) -> bool:
    """Whether tracing failed because Python or NumPy needed the value of a traced number."""
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

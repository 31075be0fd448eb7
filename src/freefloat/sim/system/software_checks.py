"""Checks of software and other parts: their methods, their results, their memory. Errors name the part."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.model import Actuator, Command, CommandPort, Effect, Software, Spacecraft
from freefloat.model.failure import sound_part
from freefloat.sim.system.system import System
from freefloat.values import ModelError, SoftwareError
from freefloat.values.arrays import Vector, is_traced
from freefloat.values.channels import Channel

# What each method is called with.
_METHODS = {
    "begin": ("y",),
    "remember": ("memory", "y", "clock"),
    "command": ("memory", "y", "clock"),
    "tell": ("memory", "y", "clock"),
    "channels": (),
    "observe": ("memory", "y", "clock", "truth"),
}
_METHODS_OF_ACTUATORS = {
    "accepts": ("craft",),
    "begin": ("craft",),
    "actuate": ("truth", "memory", "u", "clock"),
    "limited_commands": ("truth", "memory", "u", "clock"),
    "force": ("truth", "memory", "u", "clock"),
    "rates": ("craft", "memory", "u", "clock"),
    "channels": ("craft",),
    "observe": ("truth", "memory", "u", "clock"),
}
_METHODS_OF_EFFECTS = {
    "force": ("craft", "state", "clock"),
    "instants": (),
    "channels": ("craft",),
    "observe": ("craft", "state", "clock"),
}
# Methods that software had before it read measurements and gave commands.
_OLD_METHODS = ("force", "sample", "recall")

# Errors of JAX, Python and NumPy for a traced value, and what to write instead. The first that matches is used.
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
        "uses a traced value that was kept from an earlier call. Software is pure: what it keeps is its memory",
    ),
    (
        ValueError,
        "setting an array element with a sequence",
        "writes a traced value into a NumPy array. Use jnp.zeros(n).at[place].set(value)",
    ),
    (TypeError, "JAX arrays are immutable", "sets an entry of an array in place. Use x = x.at[place].set(value)"),
)


# ---- methods


def require_software(software: Software) -> None:
    """Raise an error for software whose methods cannot be called as they will be."""
    kind = type(software).__name__
    old = [name for name in _OLD_METHODS if callable(getattr(software, name, None))]
    if old and type(software).command is Software.command:
        raise SoftwareError(
            f"{kind} has `{old[0]}` but no `command`: it is software of the old kind. Software gives commands "
            "from measurements. docs/software.md shows how."
        )
    _require_methods(software, _METHODS, Software)


def require_effect(effect: Effect) -> None:
    """Raise an error for an effect whose methods cannot be called, or whose instants are no times."""
    _require_methods(effect, _METHODS_OF_EFFECTS, Effect)
    with checked_call(effect, "instants"):
        found = effect.instants()
        shapes = [jnp.shape(instant) for instant in found] if isinstance(found, tuple) else [None]
    if any(shape != () for shape in shapes):
        raise SoftwareError(f"{effect.title}.instants must give a tuple of times [s], one number each, got {found!r}.")


def require_actuator(actuator: Actuator) -> None:
    """Raise an error for an actuator whose methods cannot be called as they will be."""
    _require_methods(actuator, _METHODS_OF_ACTUATORS, Actuator)


def _require_methods(part: Any, methods: Mapping[str, tuple[str, ...]], base: type) -> None:
    kind = type(part)
    for method, arguments in methods.items():
        _require_arguments(kind.__name__, getattr(part, method), method, arguments)
    if (kind.channels is base.channels) != (kind.observe is base.observe):
        raise SoftwareError(f"{kind.__name__} needs both `channels` and `observe`, or neither.")


def _require_arguments(kind: str, method: Callable[..., Any], name: str, arguments: tuple[str, ...]) -> None:
    try:
        inspect.signature(method).bind(*arguments)
    except TypeError:
        raise SoftwareError(f"{kind}.{name} must take ({', '.join(('self', *arguments))}).") from None


def initial_memory(software: Software | Actuator, begun: Any) -> Any:
    """Memory of software or an actuator before its first tick, as arrays."""
    if begun is None:
        raise SoftwareError(
            f"{type(software).__name__}.begin must return its memory, got None. End it with a return; () for none."
        )
    try:
        return jax.tree.map(jnp.asarray, begun)
    except TypeError as error:
        raise SoftwareError(
            f"{type(software).__name__}.begin must return numbers or arrays of them: {error}"
        ) from error


def remembers(software: Software) -> bool:
    """Whether software has a memory that changes."""
    return type(software).remember is not Software.remember


# ---- answers


@contextmanager
def checked_call(part: Any, method: str) -> Iterator[None]:
    """Context for a call of a part: explains errors about traced values; a part that changes itself raises an error."""
    where = f"{type(part).__name__}.{method}"
    before = dict(getattr(part, "__dict__", {}))
    try:
        yield
    except Exception as error:
        for kind, words, remedy in _TRACED:
            if isinstance(error, kind) and words in str(error):
                from freefloat.engine.jaxprs.refusals import error_line  # only needed for faulty software

                raise SoftwareError(f"{where} ({error_line(error)}) {remedy}.") from error
        raise
    for name, value in getattr(part, "__dict__", {}).items():
        if before[name] is not value if name in before else is_traced(value):
            raise SoftwareError(
                f"{where} changes its own {name}, which happens once, not at every tick. Software is pure: return "
                "what it must keep as its memory."
            )


def require_commands(system: System, k: int, answer: Any) -> tuple[Command, ...]:
    """The commands of software number k as a tuple, after a check that their names exist and their sizes fit."""
    software, commands = system.software[k], answer if isinstance(answer, tuple) else (answer,)
    for command in commands:
        if not isinstance(command, Command):
            known = ", ".join(kind.__name__ for kind in Command.kinds)
            raise SoftwareError(f"{software.title}.command must return commands ({known}), got {_value_text(command)}.")
        _require_numbers(software, command)
        for actuator, port in ports_for(system, system.craft_index(software), command):
            _require_fit(system.spacecraft_of(software), software, command, actuator, port)
    return tuple(jax.tree.map(jnp.asarray, command) for command in commands)


def ports_for(system: System, c: int, command: Command) -> list[tuple[Actuator, CommandPort]]:
    """Actuators of a spacecraft, and their ports, that a command is for."""
    craft = system.world.crafts[c]
    every = [(actuator, port) for _, actuator in system.actuators_of(c) for port in actuator.accepts(craft)]
    return [(actuator, port) for actuator, port in every if port.takes(command)]


def _value_text(value: Any) -> str:
    return f"shape {np.shape(value)}" if isinstance(value, (jax.Array, np.ndarray)) else repr(value)


def _require_numbers(software: Software, command: Command) -> None:
    """Raise an error for a command that is malformed, whatever the spacecraft."""
    kind = type(command).__name__
    if fault := command.fault():
        raise SoftwareError(f"{software.title}: {fault}")
    given = command.numbers
    if given is None or np.asarray(0.0 if is_traced(given) else given).dtype.kind not in "fiub":
        raise SoftwareError(f"{software.title}.command must give numbers in {kind}, got {given!r}.")


def _require_fit(
    craft: Spacecraft, software: Software, command: Command, actuator: Actuator, port: CommandPort
) -> None:
    """Raise an error for a command that does not fit a port: its unit, its parts, its size."""
    kind = type(command).__name__
    if command.unit and command.unit != port.unit:
        raise SoftwareError(
            f"{software.title}.command gives '{port.name}' in '{command.unit}', but the port takes '{port.unit}'. "
            "Convert the numbers, and name that unit."
        )
    if not is_switch(actuator):  # what switches is checked with what the software drives, so that all is said at once
        check_parts(software, craft, command, actuator, port)
    names, shape = command.parts or port.parts, np.shape(command.numbers)
    if shape != (len(names),):
        wanted = ", ".join(names) or "none"
        raise SoftwareError(
            f"{software.title}.command must give {len(names)} numbers ({wanted}) in {kind}, got shape {shape}."
        )


def check_parts(software: Software, craft: Spacecraft, command: Command, actuator: Actuator, port: CommandPort) -> None:
    """Raise an error for parts that a port does not have; the message names the software."""
    try:
        actuator.check_command(craft, port, command)
    except ModelError as error:
        raise SoftwareError(f"{software.title}: {error}") from None


def is_switch(actuator: Actuator) -> bool:
    """Whether an actuator latches, releases or brakes."""
    return type(sound_part(actuator)).switches is not Actuator.switches


def require_force(craft: Spacecraft, effect: Effect | Actuator, force: Any) -> Vector:
    """The force of an effect or an actuator as an array, after a check that it has one number for each entry of v."""
    names, shape = ", ".join(craft.layout.order("v")), np.shape(force)
    if force is None or shape != (craft.layout.nv,):
        got = "nothing" if force is None else f"shape {shape}"
        raise SoftwareError(f"{effect.title}.force must return {craft.layout.nv} numbers ({names}), got {got}.")
    return jnp.asarray(force)


def require_rates(actuator: Actuator, names: tuple[str, ...], rates: Any) -> Vector:
    """The prescribed rates of an actuator as an array, after a check that there is one for each coordinate."""
    if np.shape(rates) != (len(names),):
        raise SoftwareError(
            f"{actuator.title}.rates must return {len(names)} numbers ({', '.join(names)}), got shape "
            f"{np.shape(rates)}."
        )
    return jnp.asarray(rates)


def require_messages(software: Software, messages: Any) -> dict[str, Any]:
    """The messages of software as arrays by name, after a check that they are a mapping."""
    if not isinstance(messages, Mapping) or not all(isinstance(name, str) for name in messages):
        raise SoftwareError(
            f"{software.title}.tell must return messages by name, {{'arm.phase': ...}}, got {messages!r}."
        )
    return {name: jnp.asarray(value) for name, value in messages.items()}


def require_same_memory(part: Software | Actuator, old: Any, new: Any, method: str = "remember") -> Any:
    """The new memory, after a check that it is nested, shaped and typed like the old one."""
    where = f"{type(part).__name__}.{method}"
    if jax.tree.structure(old) != jax.tree.structure(new):
        raise SoftwareError(
            f"{where} must return memory nested as `begin` made it, {jax.tree.structure(old)}, "
            f"got {jax.tree.structure(new)}."
        )
    try:
        new = jax.tree.map(jnp.asarray, new)
    except TypeError as error:
        raise SoftwareError(f"{where} must return numbers or arrays of them: {error}") from error
    for (path, was), now in zip(jax.tree_util.tree_flatten_with_path(old)[0], jax.tree.leaves(new), strict=True):
        if (was.shape, was.dtype) != (now.shape, now.dtype):
            raise SoftwareError(
                f"{where} changes its memory{jax.tree_util.keystr(path)} from {was.dtype}{list(was.shape)} to "
                f"{now.dtype}{list(now.shape)}. Let `begin` return what it will be: 0.0 instead of 0, "
                "or zeros of the final shape."
            )
    return new


def require_observed(
    part: Any, channels: tuple[Channel, ...], values: Any, method: str = "observe"
) -> list[tuple[Channel, Any]]:
    """The channels that a part adds to a run, with their values, after a check of count and shapes."""
    kind, values = type(part).__name__, tuple(values)
    if len(channels) != len(values):
        raise SoftwareError(
            f"{kind}.observe must return {len(channels)} values, one for each channel, got {len(values)}."
        )
    for channel, value in zip(channels, values, strict=True):
        shape = (len(channel.components),) if channel.axis else ()
        if np.shape(value) != shape:
            raise SoftwareError(
                f"{kind}.{method} must return shape {shape} for the channel '{channel.name}', got {np.shape(value)}."
            )
    return [(channel, jnp.asarray(value)) for channel, value in zip(channels, values, strict=True)]

"""Quantities of a run, written as text: `norm(chaser.hand.position_error) * 1000`, `chaser.capture.mode == 3`.

Channels are written by their names, `time` is the time [s]. One component of a channel is written in brackets:
`base.roll_pitch_yaw[pitch]`, `joints.rate['arm.2']`; a channel whose name is not a chain of words is written
`channel('arm.2.load')`. There are + - * / **, comparisons, `and`, `or`, `not`, and some functions.
"""

from __future__ import annotations

import ast
import difflib
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from freefloat.campaign.errors import CampaignError
from freefloat.values.channels import Channel

Values = Mapping[str, Any]  # of all channels at an instant, by name; and `time`
TIME = Channel("time", "Time", "s")

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_UNARY: dict[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.Not: lambda a: jnp.logical_not(jnp.asarray(a) != 0),
}


def _norm(x: Any) -> Any:
    return jnp.sqrt(jnp.sum(jnp.square(x)))


def _angle(quaternion: Any) -> Any:
    """Angle of the rotation between a quaternion and the identity [rad]."""
    return 2.0 * jnp.arctan2(_norm(quaternion[1:]), jnp.abs(quaternion[0]))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "norm": _norm,
    "angle": _angle,
    "abs": jnp.abs,
    "sqrt": jnp.sqrt,
    "degrees": lambda x: jnp.asarray(x) * (180.0 / jnp.pi),
    "max": lambda *x: jnp.max(jnp.stack([jnp.max(jnp.asarray(argument, float)) for argument in x])),
    "min": lambda *x: jnp.min(jnp.stack([jnp.min(jnp.asarray(argument, float)) for argument in x])),
    "sum": lambda x: jnp.sum(x),
    "maximum": jnp.maximum,
    "minimum": jnp.minimum,
}


@dataclass(frozen=True)
class Expression:
    """A text as a function of the channels of one instant."""

    text: str
    channels: tuple[Channel, ...]

    def __call__(self, values: Values) -> Any:
        """Value of the expression for the channels of one instant."""
        return _evaluate(
            _parse_text(self.text).body, _ExpressionScope(self.text, values, {c.name: c for c in self.channels})
        )


@dataclass(frozen=True)
class _ExpressionScope:
    text: str
    values: Values
    channels: Mapping[str, Channel]

    def error(self, why: str) -> CampaignError:
        return CampaignError(f"In '{self.text}': {why}")

    def channel(self, name: str) -> Any:
        if name not in self.values:
            close = difflib.get_close_matches(name, self.values, n=4, cutoff=0.5)
            hint = f"Did you mean {', '.join(close)}?" if close else f"Channels look like {next(iter(self.values))}."
            raise self.error(f"there is no channel '{name}'. {hint}")
        return self.values[name]


def _parse_text(text: str) -> ast.Expression:
    try:
        return ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, AttributeError):
        raise CampaignError(
            f"{text!r} cannot be read. Write for example norm(chaser.hand.position_error) * 1000, with a channel whose "
            "name is no chain of words as channel('arm.2.load')."
        ) from None


def _evaluate(node: ast.AST, scope: _ExpressionScope) -> Any:
    """Value of one node of the syntax tree."""
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return value
        case ast.Name() | ast.Attribute():
            return scope.channel(_dotted_name(node, scope))
        case ast.Subscript(value=inner, slice=which):
            return _component(inner, which, scope)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_evaluate(left, scope), _evaluate(right, scope))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_evaluate(operand, scope))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            return _COMPARISONS[type(op)](jnp.asarray(_evaluate(left, scope)), _evaluate(right, scope))
        case ast.BoolOp(op=op, values=values):
            truths = jnp.stack([jnp.asarray(_evaluate(value, scope)) != 0 for value in values])
            return jnp.all(truths) if isinstance(op, ast.And) else jnp.any(truths)
        case ast.Call(func=ast.Name(id="channel"), args=[ast.Constant(value=str() as name)], keywords=[]):
            return scope.channel(name)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in FUNCTIONS:
                raise scope.error(f"there is no function '{name}'. Functions: {', '.join(FUNCTIONS)}, channel.")
            return FUNCTIONS[name](*(_evaluate(argument, scope) for argument in arguments))
    raise scope.error("only channels, numbers, + - * / **, one comparison at a time, and, or, not and functions.")


def _dotted_name(node: ast.AST, scope: _ExpressionScope) -> str:
    """Dotted name `a.b.c` that a node of the syntax tree stands for."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted_name(node.value, scope)}.{node.attr}"
    if isinstance(node, ast.Call) and isinstance(node.args[0], ast.Constant):
        return str(node.args[0].value)
    raise scope.error("brackets stand after the name of a channel.")


def _component(inner: ast.AST, which: ast.AST, scope: _ExpressionScope) -> Any:
    """One component of a channel, by its name or its number."""
    name = _dotted_name(inner, scope)
    values, known = scope.channel(name), scope.channels[name].components if name in scope.channels else ()
    if isinstance(which, ast.Constant) and isinstance(which.value, int) and 0 <= which.value < len(known):
        return values[which.value]
    word = which.value if isinstance(which, ast.Constant) else _dotted_name(which, scope)
    if word not in known:
        raise scope.error(f"'{name}' has no component '{word}'. Components: {', '.join(known) or 'none'}.")
    return values[known.index(word)]

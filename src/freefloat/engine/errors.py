"""Errors of compiling and calling functions; each message says what to do about it."""

from __future__ import annotations


class EngineError(Exception):
    """A function cannot be compiled or called; the message says what to do about it."""


class UnsupportedError(EngineError):
    """The function uses an operation that compiled code does not support."""

    def __init__(self, what: str, where: str, remedy: str) -> None:
        super().__init__(f"{what} at {where}. {remedy}")
        self.what, self.where, self.remedy = what, where, remedy


class PrecisionError(EngineError):
    """The function was about to be traced in single precision."""


class SignatureError(EngineError):
    """The arguments do not have the structure, shapes or types the function was compiled for."""


class TargetError(EngineError):
    """The requested target does not exist, or this machine or installation cannot run it."""

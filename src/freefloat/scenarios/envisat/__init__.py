"""Envisat and a servicer: free motion and capture, in orbit and in a cell of two robots."""

from freefloat.scenarios.envisat.capture import EnvisatCapture
from freefloat.scenarios.envisat.free import EnvisatFree

__all__ = ["EnvisatCapture", "EnvisatFree"]

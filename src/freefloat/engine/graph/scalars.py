"""The six types a scalar can have, and the ranges of the integers among them."""

from __future__ import annotations

FLOAT, BOOL, TABLE = "f64", "bool", "table"
ELEMENT_BYTES = 8  # every scalar takes eight bytes in memory, whatever its type
BITS = {"i32": 32, "u32": 32, "i64": 64, "u64": 64}


def is_integer(dtype: str) -> bool:
    """Whether a type is one of the integers."""
    return dtype in BITS


def is_signed(dtype: str) -> bool:
    """Whether an integer type has negative numbers."""
    return dtype[0] == "i"


def wrap(value: int, dtype: str) -> int:
    """Reduce a whole number to the range of its type, as two's complement hardware does."""
    bits = BITS[dtype]
    value &= (1 << bits) - 1
    return value - (1 << bits) if is_signed(dtype) and value >> (bits - 1) else value


def limits(dtype: str) -> tuple[int, int]:
    """Smallest and largest number of an integer type."""
    bits = BITS[dtype]
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed(dtype) else (0, (1 << bits) - 1)

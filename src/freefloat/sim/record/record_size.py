"""Check of the size of a record before the run."""

from __future__ import annotations

MOST_BYTES = 1e9  # that are recorded without being asked for


class RecordTooLarge(ValueError):
    """Raised for a run that would record more bytes than are permitted."""

    def __init__(self, instants: int, numbers: int, most: float) -> None:
        self.size = 8.0 * instants * numbers  # [B]
        self.words = f"The run would record {in_words(self.size)}: {instants} instants of {numbers} numbers"
        super().__init__(
            f"{self.words}, more than {in_words(most)}. Record less often (record_dt), run for a shorter time, or ask "
            f"for it: most_bytes={1.1 * self.size:.2g} (freefloat run --max-gb {1.1e-9 * self.size:.2g})."
        )


def require_size(instants: int, numbers: int, most: float) -> None:
    """Raise an error for a record of `instants` times `numbers` numbers that takes more than `most` bytes."""
    if not most > 0.0:
        raise ValueError(f"most_bytes must be positive, got {most:g}.")
    if 8.0 * instants * numbers > most:
        raise RecordTooLarge(instants, numbers, most)


def in_words(size: float) -> str:
    """A number of bytes as text, such as 4.6 GB."""
    for unit, worth in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= worth:
            return f"{size / worth:.3g} {unit}"
    return f"{max(size, 0.0):.0f} B"

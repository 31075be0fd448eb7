"""Names that a user probably meant, for messages about unknown ones."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_ALIKE = 0.6  # similarity from which a name is suggested
_MOST = 3
_LONGEST = 80  # characters of a name that is compared


def close_names(name: object, known: Iterable[str]) -> list[str]:
    """Known names like this one, the best first: with another prefix or ending, in other letters, or mistyped."""
    every = [entry for entry in dict.fromkeys(known) if isinstance(entry, str)]
    if not isinstance(name, str) or not name or len(name) > _LONGEST:
        return []
    lower = name.lower()
    same = [entry for entry in every if entry.lower() == lower]
    parts = [entry for entry in every if entry.lower().endswith((f".{lower}", f"-{lower}"))]
    by_lower = {entry.lower(): entry for entry in every}
    alike = [by_lower[found] for found in difflib.get_close_matches(lower, by_lower, n=_MOST, cutoff=_ALIKE)]
    return list(dict.fromkeys((*same, *parts, *alike)))[:_MOST]


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """` Did you mean 'hand' or 'arm.hand'?` with a space in front, or nothing where no known name is like it."""
    close = [f"'{entry}'" for entry in close_names(name, known)]
    if not close:
        return ""
    return f" Did you mean {' or '.join(filter(None, (', '.join(close[:-1]), close[-1])))}?"

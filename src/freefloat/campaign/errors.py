"""The error that campaigns raise."""

from collections.abc import Collection, Iterable


class CampaignError(ValueError):
    """A campaign that cannot be run, resumed or read as requested; the message gives a remedy."""


def require_known(owner: str, given: Iterable[str], known: Collection[str]) -> None:
    """Raise an error if plain data has an entry that its owner does not know."""
    if unknown := [name for name in given if name not in known]:
        raise CampaignError(f"{owner} has no '{unknown[0]}'. It has: {', '.join(known)}.")

"""Which figures a scenario is judged by: the plots that a reader of the paper would look for first."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One plot of one channel, over time."""

    channel: str
    unit: str = ""  # to show it in, where it is not the usual one: "mm" for a small error
    title: str = ""  # where it is not the channel's own label

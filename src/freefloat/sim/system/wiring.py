"""Who measures what, who reads it and who commands what: static, found once when a system begins."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SensorWires:
    """A sensor: on which spacecraft, what it gives, how often."""

    craft: int
    gives: tuple[str, ...]
    ticks: int  # between two samples


@dataclass(frozen=True)
class SoftwareWires:
    """A piece of software: on which spacecraft, what it commands, tells and reads, how often."""

    craft: int
    ticks: int  # between two of its ticks; 0: continuous
    remembers: bool
    prescribes: tuple[str, ...] = ()  # joints whose rates it commands; of flexible ones their motors
    pushes: bool = False  # whether it commands anything else that pushes
    switches: bool = False  # whether it latches, releases or brakes
    tells: tuple[str, ...] = ()
    sensors: tuple[int, ...] = ()  # that it reads
    hears: tuple[int, ...] = ()  # software whose messages it reads


@dataclass(frozen=True)
class Wiring:
    """Of a whole system."""

    sensors: tuple[SensorWires, ...] = ()
    software: tuple[SoftwareWires, ...] = ()
    prescribed: tuple[tuple[str, ...], ...] = ()  # of each spacecraft: what has a prescribed rate, in order
    # Wheels that are driven and have a limited momentum: number of the spacecraft, name.
    limited_wheels: tuple[tuple[int, str], ...] = ()

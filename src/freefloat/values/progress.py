"""Progress reports of long computations."""

from collections.abc import Callable

Progress = Callable[[float, float], None]  # (seconds done, seconds in all), of the simulated time

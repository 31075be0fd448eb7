"""Reports of how far long work has come."""

from collections.abc import Callable

Progress = Callable[[float, float], None]  # (seconds done, seconds in all), of the simulated time

"""The plane of the two joints of a map, in displayed units: degrees, or millimetres for a sliding joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from freefloat.report.units import display_unit

if TYPE_CHECKING:
    import xarray

MOST_POINTS = 250  # of one joint on a page: finer than a screen shows, and the page stays small
_EVEN = 1e-6  # of a step: how evenly spaced the values must be


@dataclass(frozen=True)
class JointPlane:
    """Two joints with their values, and the configuration through which the plane is cut."""

    names: tuple[str, str]
    units: tuple[str, str]
    factors: np.ndarray  # (2,) from rad and m to the displayed units
    values: tuple[np.ndarray, np.ndarray]  # in displayed units
    configuration: np.ndarray  # (2,) in displayed units
    rest: str  # the other joints as text

    def point_text(self, point: Sequence[float] | np.ndarray) -> str:
        """Text of a point in displayed units, such as `arm.2 -45 deg, arm.3 90 deg`."""
        parts = zip(self.names, point, self.units, strict=True)
        return ", ".join(f"{name} {value + 0.0:.4g} {unit}" for name, value, unit in parts)

    def point(self, indices: Sequence[int]) -> tuple[float, float]:
        """Values of both joints at a point of the grid, in displayed units."""
        first, second = (float(values[i]) for values, i in zip(self.values, indices, strict=True))
        return first, second

    @property
    def nearest_indices(self) -> tuple[int, int] | None:
        """Indices of the grid point nearest to the configuration; None if it lies outside the map."""
        found = []
        for values, own in zip(self.values, self.configuration, strict=True):
            half = 0.5 * (values[1] - values[0])
            if not values[0] - half <= own <= values[-1] + half:
                return None
            found.append(int(np.argmin(np.abs(values - own))))
        return found[0], found[1]


def joint_plane(maps: Sequence[xarray.Dataset]) -> JointPlane:
    """The common plane of maps; raises an error if they have none, or if a page cannot draw it."""
    planes = [_plane(data) for data in maps]
    first = planes[0]
    for other in planes[1:]:
        same = first.names == other.names and all(map(np.array_equal, first.values, other.values))
        if not same or not np.array_equal(first.configuration, other.configuration):
            raise ValueError("Maps on one page must share their joints, values and configuration. Write two pages.")
    return first


def _plane(data: xarray.Dataset) -> JointPlane:
    gridded = [array for array in data.data_vars.values() if array.ndim >= 2]
    if not gridded or "configuration" not in data.coords:
        raise ValueError("This is no map: give what disturbance_map or singularity_map returned.")
    first, second = map(str, gridded[0].dims[:2])
    joints, units = list(map(str, data["joint"].values)), list(map(str, data["unit"].values))
    shown = dict(zip(joints, (display_unit(unit, 0.0) for unit in units), strict=True))
    positions = dict(zip(joints, np.asarray(data["configuration"].values, float), strict=True))
    rest = [
        f"{name} {positions[name] * shown[name][1]:.4g} {shown[name][0]}"
        for name in joints
        if name not in (first, second)
    ]
    return JointPlane(
        names=(first, second),
        units=(shown[first][0], shown[second][0]),
        factors=np.array([shown[first][1], shown[second][1]]),
        values=(_values(data, first, shown[first][1]), _values(data, second, shown[second][1])),
        configuration=np.array([positions[name] * shown[name][1] for name in (first, second)]),
        rest=", ".join(rest),
    )


def _values(data: xarray.Dataset, name: str, factor: float) -> np.ndarray:
    values = factor * np.asarray(data[name].values, dtype=float)
    steps = np.diff(values)
    if len(values) > MOST_POINTS:
        raise ValueError(f"A page holds at most {MOST_POINTS} values of a joint, but '{name}' has {len(values)}.")
    if len(values) < 2 or not np.all(steps > 0.0) or np.ptp(steps) > _EVEN * steps.max():
        raise ValueError(f"A page draws evenly spaced values, but those of '{name}' are not. Use numpy.linspace.")
    return values

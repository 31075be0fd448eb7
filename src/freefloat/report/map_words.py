"""Sentences about a map of joint space, with numbers from its data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.report.joint_plane import JointPlane
from freefloat.report.singular_lines import SingularLines

if TYPE_CHECKING:
    import xarray

_SMALL = 0.1  # shares of a direction below this are not named
_WORDS = {2: "two", 3: "three"}
_ROUNDING = 1e-12  # of the largest disturbance
_EQUAL = 1.05  # values with a smaller ratio than this count as equal


def plane_sentence(plane: JointPlane, spacecraft: str) -> str:
    """Sentences on the plane of the map: spacecraft, joints, ranges and configuration."""
    ranges = (
        f"{name} from {v[0]:.4g} to {v[-1]:.4g} {unit} ({len(v)} points)"
        for name, v, unit in zip(plane.names, plane.values, plane.units, strict=True)
    )
    rest = f", the other joints at {plane.rest}" if plane.rest else ""
    circle = (
        "The ring marks the configuration itself"
        if plane.nearest_indices
        else "The configuration itself is not on the map"
    )
    return f"Spacecraft {spacecraft}; {' and '.join(ranges)}{rest}. {circle}: {plane.point_text(plane.configuration)}."


def disturbance_sentences(data: xarray.Dataset, plane: JointPlane) -> str:
    """Sentences on where the arm disturbs the base most and least, and with which motion."""
    largest, smallest = data["largest"].values, data["smallest"].values
    unit = str(data["largest"].attrs["units"])
    high, low = _place(largest, 1.0), _place(largest, -1.0)
    words = [
        f"Joint motion turns the base most at {plane.point_text(plane.point(high))}: {largest[high]:.3g} {unit} in the "
        f"most disturbing direction of joint space; least at {plane.point_text(plane.point(low))}: "
        f"{largest[low]:.3g} {unit}."
    ]
    if largest[high] > _EQUAL * largest[low] > 0.0:
        words[0] = f"{words[0][:-1]}, {largest[high] / largest[low]:.2g} times less."
    if plane.nearest_indices:
        worst = data["worst"].values[plane.nearest_indices]
        words.append(
            f"At the configuration it is {largest[plane.nearest_indices]:.3g} {unit}, and that direction is "
            f"{direction_text(worst, data['joint'].values)}."
        )
    words.append(_leading_sentence(data))
    if is_flat(data):
        return " ".join([*words, "A direction of joint space, or more, leaves the base alone all over the map."])
    most = smallest[_place(smallest, 1.0)]
    disturbing = min(3, data.sizes["joint"])
    others = "; all others leave the base alone" if data.sizes["joint"] > disturbing else ""
    words.append(
        f"Of the {_WORDS[disturbing]} directions that disturb at all, the least disturbing has at most {most:.2g} "
        f"{unit}{others}."
    )
    return " ".join(words)


def is_flat(data: xarray.Dataset) -> bool:
    """Whether the least disturbing direction disturbs by rounding only, as in an arm that moves in a plane."""
    smallest, largest = (data[name].values[np.isfinite(data[name].values)] for name in ("smallest", "largest"))
    return bool(smallest.size and largest.size and smallest.max() <= _ROUNDING * largest.max())


def _place(values: np.ndarray, sign: float) -> tuple[int, ...]:
    """Indices of the largest (sign 1) or the smallest (-1) of the finite values."""
    best = np.argmax(np.where(np.isfinite(values), sign * values, -np.inf))
    return tuple(int(i) for i in np.unravel_index(best, values.shape))


def direction_text(shares: np.ndarray, joints: Sequence[str] | np.ndarray) -> str:
    """A direction as text, `0.86 arm.2, 0.48 arm.3, the others below 0.1`, with a positive largest share."""
    shares = shares * np.sign(shares[np.argmax(np.abs(shares))])
    order = np.argsort(-np.abs(shares))
    named = [f"{shares[k]:.2f} {joints[k]}" for k in order if abs(shares[k]) >= _SMALL]
    return ", ".join([*named, *([f"the others below {_SMALL:g}"] if len(named) < len(shares) else [])])


def _leading_sentence(data: xarray.Dataset) -> str:
    """Sentence on the joint with the largest share in the most disturbing direction, over the whole map."""
    leaders = np.abs(data["worst"].values).argmax(axis=-1)
    joints, counts = np.unique(leaders, return_counts=True)
    order = np.argsort(-counts)[:2]
    named = [f"{data['joint'].values[joints[k]]} in {100.0 * counts[k] / leaders.size:.0f} %" for k in order]
    return f"The joint with the largest share in it is {' and '.join(named)} of the points."


def singularity_sentences(data: xarray.Dataset, plane: JointPlane, singular: SingularLines) -> str:
    """Sentences on singularities with the base floating and fixed, and on those that only the floating base causes."""
    limit = float(data.attrs["singular_below"])
    dynamic, kinematic = data["dynamic"].values, data["kinematic"].values
    most, fixed = dynamic[_place(dynamic, 1.0)], kinematic[_place(kinematic, 1.0)]
    words = [
        f"The smallest singular value of the Jacobian of {data.attrs['frame']} (metres and radians together) goes up "
        f"to {most:.3g} with the base floating and {fixed:.3g} with the base fixed."
    ]
    if plane.nearest_indices:
        words.append(
            f"At the configuration: {dynamic[plane.nearest_indices]:.3g} and {kinematic[plane.nearest_indices]:.3g}."
        )
    if singular.floating or singular.fixed:
        words.append("The arm is singular on the solid lines with the base floating, on the dashed ones with it fixed.")
    if len(singular.dynamic):
        k = int(np.argmax(singular.kinematic_there))
        words.append(
            "Crosses mark dynamic singularities: there the floating base takes away a direction that a fixed base "
            f"would leave, with a value of {limit:g} or more. The clearest is at "
            f"{plane.point_text(singular.dynamic[k] * plane.factors)}, where it is {singular.kinematic_there[k]:.2g}."
        )
    else:
        words.append(
            "There is no dynamic singularity on this map: wherever the floating base makes the arm singular, a fixed "
            f"base leaves it below {limit:g} too."
        )
    return " ".join(words)


def extremes(data: xarray.Dataset, plane: JointPlane) -> dict[str, Any]:
    """Smallest and largest value of every map with their places, as plain data."""
    summary: dict[str, Any] = {}
    for name, array in data.data_vars.items():
        if array.ndim != 2 or str(name).endswith("_determinant"):
            continue
        for word, sign in (("smallest", -1.0), ("largest", 1.0)):
            at = _place(array.values, sign)
            place = dict(zip(plane.names, plane.point(at), strict=True))
            summary.setdefault(str(name), {})[word] = {"value": float(array.values[at]), "at": place}
        summary[str(name)]["unit"] = str(array.attrs.get("units", ""))
    return summary

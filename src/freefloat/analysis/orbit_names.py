"""Names of the coordinates and inputs of a linear model in orbit, and the columns behind the inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.dynamics.displacement_moments import DisplacementMoments
from freefloat.dynamics.kinematics import frame_mount
from freefloat.model import Spacecraft
from freefloat.values.errors import ModelError

_KINDS, _AXES = ("force", "torque"), ("x", "y", "z")


@dataclass(frozen=True)
class OrbitNames:
    """Order of the coordinates, as indices into (psi, q), and their labels."""

    order: np.ndarray
    labels: tuple[str, ...]

    @staticmethod
    def of(
        craft: Spacecraft, rotations: Sequence[str], coordinates: Mapping[str, str | Sequence[str]] | None
    ) -> OrbitNames:
        """Order and labels from a mapping; without one the order of q and the spacecraft's own names."""
        if len(rotations) != 3:
            raise ModelError(f"rotations must be three names, got {list(rotations)}.")
        given = _own_labels(craft) if coordinates is None else dict(coordinates)
        places = {name: s for name, s in craft.layout.positions.items() if s.stop > s.start}
        if set(given) != set(places):
            missing, unknown = set(places) - set(given), set(given) - set(places)
            raise ModelError(
                f"coordinates must name every joint and all modes of '{craft.name}' once. "
                f"Missing: {', '.join(sorted(missing)) or 'none'}; unknown: {', '.join(sorted(unknown)) or 'none'}."
            )
        order, labels = [0, 1, 2], list(rotations)
        for name, label in given.items():
            at, words = places[name], (label,) if isinstance(label, str) else tuple(label)
            if len(words) != at.stop - at.start:
                raise ModelError(f"'{name}' of '{craft.name}' has {at.stop - at.start} coordinates, not {len(words)}.")
            order += [3 + k for k in range(at.start, at.stop)]
            labels += words
        return OrbitNames(np.array(order, dtype=int), tuple(labels))


def _own_labels(craft: Spacecraft) -> dict[str, tuple[str, ...]]:
    """Default labels by part: the name of a joint; `panel 1`, `panel 2`, ... for the modes of `panel`."""
    found = {}
    for name, at in craft.layout.positions.items():
        if at.stop > at.start:
            owner = name.removesuffix(".modes")
            modal = name in craft.layout.modes
            found[name] = tuple(f"{owner} {k + 1}" for k in range(at.stop - at.start)) if modal else (name,)
    return found


def input_columns(
    craft: Spacecraft, q: np.ndarray, moments: DisplacementMoments, inputs: Mapping[str, str] | Sequence[str] | None
) -> tuple[tuple[str, ...], np.ndarray]:
    """Labels, and generalised forces (3 + nq, inputs) per unit input; the motion of the centre of mass is removed."""
    if inputs is None:
        inputs = [*(f"base.torque.{axis}" for axis in _AXES), *craft.layout.moving_joints]
    named = dict(inputs) if isinstance(inputs, Mapping) else {name: name for name in inputs}
    columns = [_column(craft, q, moments, port) for port in named.values()]
    return tuple(named), np.column_stack([np.zeros((3 + len(q), 0)), *columns])


def _column(craft: Spacecraft, q: np.ndarray, moments: DisplacementMoments, port: str) -> np.ndarray:
    if port in craft.layout.moving_joints:
        column = np.zeros(3 + len(q))
        column[3 + craft.layout.positions[port].start] = 1.0
        return column
    owner, kind, axis_name = port.rsplit(".", 2) if port.count(".") > 1 else ("", "", "")
    if kind not in _KINDS or axis_name not in _AXES:
        known = ", ".join(craft.layout.moving_joints) or "none"
        raise ModelError(
            f"There is no input '{port}'. Inputs of '{craft.name}': joints ({known}), and force or torque at any frame "
            "along its axes, such as 'base.torque.x' or 'hand.force.z'."
        )
    point, R_BF, moving, turning = frame_motion(craft, q, moments, owner)
    axis = R_BF[:, _AXES.index(axis_name)]
    if kind == "torque":
        return np.concatenate([axis, axis @ turning])
    return np.concatenate([np.cross(point - moments.com, axis), axis @ (moving - moments.com_motion)])


def output_rows(
    craft: Spacecraft, q: np.ndarray, moments: DisplacementMoments, labels: Sequence[str], outputs: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """(Cp, Cv) over (psi, q) of outputs; `labels` name the coordinates in that order."""
    Cp, Cv = np.zeros((len(outputs), 3 + len(q))), np.zeros((len(outputs), 3 + len(q)))
    for row, name in enumerate(outputs):
        rate = name.endswith(" rate")
        rows = _output_row(craft, q, moments, labels, name.removesuffix(" rate"))
        (Cv if rate else Cp)[row] = rows
    return Cp, Cv


def _output_row(
    craft: Spacecraft, q: np.ndarray, moments: DisplacementMoments, labels: Sequence[str], name: str
) -> np.ndarray:
    row = np.zeros(3 + len(q))
    if name in labels:
        row[list(labels).index(name)] = 1.0
        return row
    frame, kind, axis_name = name.rsplit(".", 2) if name.count(".") > 1 else ("", "", "")
    if kind not in ("displacement", "rotation") or axis_name not in _AXES:
        raise ModelError(
            f"There is no output '{name}'. Outputs: coordinates ({', '.join(labels[:6])}, ...), and displacement or "
            "rotation of any frame in the base, such as 'hand.displacement.z'; with ' rate' after it its rate."
        )
    _, _, moving, turning = frame_motion(craft, q, moments, frame)
    row[3:] = (moving if kind == "displacement" else turning)[_AXES.index(axis_name)]
    return row


def frame_motion(
    craft: Spacecraft, q: np.ndarray, moments: DisplacementMoments, frame: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """p_BF, R_BF, and the derivatives (3, nq) of position and rotation of a frame by q, all in base axes."""
    at = craft.frame(frame)
    body, mount = moments.bodies[craft.body_index(at.body)], frame_mount(craft, at, q)
    arm, R_BF, columns = body.R @ np.asarray(mount.pose.p), body.R @ np.asarray(mount.pose.R), np.asarray(mount.columns)
    moving, turning = body.moving + np.cross(body.turning.T, arm).T, body.turning.copy()
    if columns.shape[1]:
        moving[:, body.modes] += R_BF @ columns[:3]
        turning[:, body.modes] += R_BF @ columns[3:]
    return body.p + arm, R_BF, moving, turning

"""Natural modes of a whole spacecraft: frequencies, shapes, and what moves in each of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.dynamics.momentum import composite_inertia
from freefloat.dynamics.vibration import elastic_places, stiffness_matrix, vibration_shapes
from freefloat.model import Spacecraft
from freefloat.values import record, static
from freefloat.values.arrays import Matrix, Vector
from freefloat.values.short_text import TextDisplay

_BASE = ("x", "y", "z", "rx", "ry", "rz")
_SAME_SHARE = 1e-6  # shares that differ by less count as equal; the first of two equal panels is named
# Base motion is listed above the first; an axis also above this share of the largest.
_LEAST_MOTION, _LEAST_RATIO = 1e-3, 0.3
_MOST_LINES = 40  # of a printed table
_LISTED_SHARE, _MOST_LISTED = 0.05, 3  # the table lists energy shares above the first, of at most so many bodies


@record
class VibrationModes(TextDisplay):
    """Small vibration about a configuration, joints and wheels free or locked; one column of `shapes` for each mode.

    A shape moves the base in base axes [m, rad], joints [rad or m] and modal coordinates. Where frequencies coincide,
    any mixture of their shapes is a shape too.
    """

    frequencies: Vector  # (modes) ascending [rad/s]
    shapes: Matrix  # (nv, modes), unit modal mass: shapes^T M shapes = 1
    energy_shares: Matrix  # (flexible bodies and gears, modes) of the elastic energy; each column sums to one
    labels: tuple[str, ...] = static()  # of every row of `shapes`, in the order of v
    flexible: tuple[str, ...] = static()  # names of flexible bodies, and `elbow.gear`: the rows of `energy_shares`
    main_rows: tuple[str, ...] = static()  # for each mode the modal coordinate or gear with most elastic energy
    base_motions: tuple[str, ...] = static()  # for each mode how the base moves most, `x ry`; empty: hardly at all
    held: bool = static()  # whether the base is held

    @property
    def hz(self) -> Vector:
        """Natural frequencies [Hz]."""
        return self.frequencies / (2.0 * np.pi)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Name of the body that stores most of the elastic energy, for each mode; the first of equal ones."""
        return tuple(self.flexible[_largest(shares)] for shares in np.asarray(self.energy_shares).T)

    def __str__(self) -> str:
        """A table with one line for each mode."""
        where = [self._energy_in_words(shares) for shares in np.asarray(self.energy_shares).T]
        wide = max([len("elastic energy"), *map(len, where)])
        lines = [
            f"Natural modes, base {'held' if self.held else 'free'}: {len(where) or 'none'}",
            f"{'mode':>4}  {'Hz':>10}  {'rad/s':>10}  {'elastic energy':<{wide}}  {'base moves':<10}  mostly in",
        ]
        rows = zip(self.hz, self.frequencies, where, self.base_motions, self.main_rows, strict=True)
        for number, (hz, rate, words, base, row) in enumerate(rows, start=1):
            lines.append(f"{number:>4}  {hz:>10.4g}  {rate:>10.4g}  {words:<{wide}}  {base or '-':<10}  {row}")
        if (more := len(lines) - _MOST_LINES) > 0:
            lines[_MOST_LINES - 1 :] = [f"and {more + 1} modes more"]
        return "\n".join(lines if where else lines[:1])

    def _energy_in_words(self, shares: Vector) -> str:
        """The bodies with most of a mode's elastic energy: `left 50 %, right 50 %`."""
        order = sorted(range(len(self.flexible)), key=lambda i: -round(float(shares[i]) / _SAME_SHARE))[:_MOST_LISTED]
        listed = [i for i in order if shares[i] > _LISTED_SHARE] or order[:1]
        return ", ".join(f"{self.flexible[i]} {100.0 * shares[i]:.0f} %" for i in listed)


def vibration_modes(
    craft: Spacecraft, q: Vector | None = None, held: bool = False, locked: Sequence[str] = ()
) -> VibrationModes:
    """Natural modes of the spacecraft about a configuration, the base free or, as on a test stand, held.

    Joints that are `locked` do not move; of a flexible joint it is the motor that is locked.
    """
    frequencies, shapes = vibration_shapes(craft, q, held=held, locked=locked)
    places, labels = elastic_places(craft), velocity_labels(craft)
    # Part of each coordinate in the elastic energy; zero in a mode without any (body without stiffness).
    parts = shapes * (stiffness_matrix(craft) @ shapes)
    total = np.sum(parts, axis=0)
    parts = parts / np.where(total > 0.0, total, 1.0)
    shares = [np.sum(parts[at], axis=0) for at in places.values()]
    strains, strained = _strains(craft, parts, labels)
    return VibrationModes(
        frequencies=frequencies,
        shapes=shapes * _signs(_strains(craft, shapes, labels, torsion=True)[0]),
        energy_shares=np.reshape(shares, (len(shares), len(frequencies))),
        labels=labels,
        flexible=tuple(places),
        base_motions=tuple(_base_motion(column) for column in (_base_weights(craft, q) * shapes[:6].T)),
        main_rows=tuple(strained[_largest(column)] for column in strains.T),
        held=held,
    )


def _strains(
    craft: Spacecraft, rows: Matrix, labels: tuple[str, ...], torsion: bool = False
) -> tuple[Matrix, tuple[str, ...]]:
    """Rows of modal coordinates, and of each gear the sum of joint and motor rows or the torsion; with their names."""
    modal, gears = list(craft.layout.modal_velocities), craft.layout.flexible_joints
    ends = [craft.layout.indices([joint, craft.layout.motor_coordinate(joint)]) for joint in gears]
    across = [rows[motor] - rows[own] if torsion else rows[motor] + rows[own] for own, motor in ends]
    names = (*(labels[i] for i in modal), *(f"{joint}.gear" for joint in gears))
    return np.concatenate([rows[modal], np.reshape(across, (len(gears), rows.shape[1]))]), names


def velocity_labels(craft: Spacecraft) -> tuple[str, ...]:
    """Names of the entries of v: `base.x` to `base.rz`, joints and their motors, `panel.modes 1`, wheels."""
    labels = []
    for name, at in craft.layout.velocities.items():
        if name == "base":
            labels += [f"base.{axis}" for axis in _BASE]
        elif name in craft.layout.modes:
            labels += [f"{name} {number}" for number in range(1, at.stop - at.start + 1)]
        else:
            labels += [name] * (at.stop - at.start)
    return tuple(labels)


def _base_weights(craft: Spacecraft, q: Vector | None) -> Vector:
    """Square roots of mass and moments of inertia, which bring metres and radians of the base to one scale."""
    frozen = composite_inertia(craft, np.zeros(craft.layout.nq) if q is None else np.asarray(q, dtype=float))
    return np.sqrt(np.diag(np.asarray(frozen.matrix())))


def _base_motion(weighed: Vector) -> str:
    """The axes along and about which the base moves most, the largest first."""
    size = np.abs(weighed)
    axes = [i for i in np.argsort(-size, kind="stable") if size[i] > max(_LEAST_MOTION, _LEAST_RATIO * np.max(size))]
    return " ".join(_BASE[i] for i in axes)


def _signs(own: Matrix) -> Vector:
    """Factor (+1 or -1) of each shape that makes its largest modal coordinate positive."""
    return np.array([np.sign(column[_largest(np.abs(column) / np.max(np.abs(column)))]) for column in own.T])


def _largest(shares: Vector) -> int:
    """Index of the largest share; the first of equal ones, independent of rounding."""
    return int(np.argmax(shares > np.max(shares) - _SAME_SHARE))

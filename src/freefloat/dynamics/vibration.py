"""Small vibration of a whole spacecraft, joints and wheels free or locked, its base free or held."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.dynamics.elastic import flexible_bodies, flexible_joints
from freefloat.dynamics.mass_matrix import mass_matrix
from freefloat.model import Spacecraft
from freefloat.values.arrays import Matrix, Vector


def natural_frequencies(craft: Spacecraft, q: Vector | None = None, *, locked: Sequence[str] = ()) -> Vector:
    """Frequencies [rad/s] of small vibration of the floating spacecraft about a configuration, ascending.

    Joints are free but for those that are `locked`, by their brakes or by stiff servos: of a flexible joint its motor.
    Rigid-body motion and free joints, which have no frequency, are left out: one for each mode and each flexible joint
    remains. Their shapes are in `analysis.vibration_modes`.
    """
    return vibration_shapes(craft, q, locked=locked)[0]


def vibration_shapes(
    craft: Spacecraft, q: Vector | None = None, *, held: bool = False, locked: Sequence[str] = ()
) -> tuple[Vector, Matrix]:
    """Frequencies [rad/s], ascending, and shapes (nv, modes) of unit modal mass; `held`: the base does not move.

    What has no stiffness (base, joints, wheels) follows the modes such that it keeps its generalised momentum, zero.
    Eliminated by that, it leaves as many equations as there are modes, and no frequency near zero spoils the others.
    Gears with free play are taken as touching.
    """
    import scipy.linalg  # a run does not need it

    q = np.zeros(craft.layout.nq) if q is None else np.asarray(q, dtype=float)
    craft.layout.require_moving(locked)
    M, K = np.asarray(mass_matrix(craft, q)), stiffness_matrix(craft)
    # Speeds by modal rates and torsions (strained), and by everything else (free).
    strained, free = _speeds(craft, held, frozenset(locked))
    if not strained.shape[1]:
        return np.zeros(0), np.zeros((craft.layout.nv, 0))
    across = free.T @ M @ strained
    follow = -np.linalg.solve(free.T @ M @ free, across)
    moving, stiff = strained.T @ M @ strained + across.T @ follow, strained.T @ K @ strained
    moving = 0.5 * (moving + moving.T)
    _, own = scipy.linalg.eigh(stiff, moving)
    # Eigenvalues err by a rounding of the largest; a Rayleigh quotient by a rounding of its own.
    squared = np.sum(own * (stiff @ own), axis=0) / np.sum(own * (moving @ own), axis=0)
    order = np.argsort(squared, kind="stable")  # equal ones may have changed places by a rounding
    squared, own = squared[order], own[:, order]
    return np.sqrt(np.maximum(squared, 0.0)), strained @ own + free @ (follow @ own)


def _speeds(craft: Spacecraft, held: bool, locked: frozenset[str]) -> list[Matrix]:
    """Columns (nv, n) of unit speeds: those that strain the structure, and those that do not."""
    layout, unit = craft.layout, np.eye(craft.layout.nv)
    strained = [unit[i] for i in layout.modal_velocities]
    bound = {*layout.modal_velocities, *(range(6) if held else ())}
    free = []
    for joint in layout.moving_joints:
        own, motor = layout.velocity(joint).start, layout.velocity(layout.motor_coordinate(joint)).start
        bound |= {own, motor}
        if own != motor:  # by its torsion: the motor moves ahead or, where it is locked, the joint
            strained.append(unit[own] if joint in locked else unit[motor])
        if joint not in locked:
            free.append(unit[own] if own == motor else unit[own] + unit[motor])
    free += [unit[i] for i in range(layout.nv) if i not in bound]
    return [np.reshape(some, (len(some), layout.nv)).T for some in (strained, free)]


def stiffness_matrix(craft: Spacecraft) -> Matrix:
    """K (nv, nv) of flexible bodies and gears, whose teeth touch; zero for all that is free to move."""
    K = np.zeros((craft.layout.nv, craft.layout.nv))
    for body in flexible_bodies(craft):
        at = craft.layout.velocities[f"{body.name}.modes"]
        K[at, at] = np.asarray(body.stiffness)
    for joint, gear in flexible_joints(craft):
        at = list(craft.layout.indices([joint.name, joint.motor]))
        K[np.ix_(at, at)] += float(gear.stiffness) * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return K


def elastic_places(craft: Spacecraft) -> dict[str, list[int]]:
    """Entries of v that strain each flexible body, by its name, and each flexible joint, as `elbow.gear`."""
    bodies = {body.name: list(craft.layout.indices([f"{body.name}.modes"])) for body in flexible_bodies(craft)}
    return bodies | {f"{j.name}.gear": list(craft.layout.indices([j.name, j.motor])) for j, _ in flexible_joints(craft)}

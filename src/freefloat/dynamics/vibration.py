"""Small vibration of a whole spacecraft, joints and wheels free, its base free or held."""

import numpy as np

from freefloat.dynamics.elastic import flexible_bodies
from freefloat.dynamics.mass_matrix import mass_matrix
from freefloat.model import Spacecraft
from freefloat.values.arrays import Matrix, Vector


def natural_frequencies(craft: Spacecraft, q: Vector | None = None) -> Vector:
    """Frequencies [rad/s] of small vibration of the floating spacecraft about a configuration, joints free, ascending.

    Rigid-body motion and free joints, which have no frequency, are left out: one for each mode remains. Their shapes
    are in `analysis.vibration_modes`.
    """
    return vibration_shapes(craft, q)[0]


def vibration_shapes(craft: Spacecraft, q: Vector | None = None, *, held: bool = False) -> tuple[Vector, Matrix]:
    """Frequencies [rad/s], ascending, and shapes (nv, modes) of unit modal mass; `held`: the base does not move.

    What has no stiffness (base, joints, wheels) follows the modes such that it keeps its generalised momentum, zero.
    Eliminated by that, it leaves as many equations as there are modes, and no frequency near zero spoils the others.
    """
    import scipy.linalg  # a run does not need it

    q = np.zeros(craft.layout.nq) if q is None else np.asarray(q, dtype=float)
    M, K = np.asarray(mass_matrix(craft, q)), stiffness_matrix(craft)
    modes = np.array(craft.layout.modal_velocities, dtype=int)
    others = np.setdiff1d(np.arange(6 if held else 0, craft.layout.nv), modes)
    if not modes.size:
        return np.zeros(0), np.zeros((craft.layout.nv, 0))
    follow = -np.linalg.solve(M[np.ix_(others, others)], M[np.ix_(others, modes)])
    moving = M[np.ix_(modes, modes)] + M[np.ix_(modes, others)] @ follow
    stiff, moving = K[np.ix_(modes, modes)], 0.5 * (moving + moving.T)
    _, own = scipy.linalg.eigh(stiff, moving)
    # Eigenvalues err by a rounding of the largest; a Rayleigh quotient by a rounding of its own.
    squared = np.sum(own * (stiff @ own), axis=0) / np.sum(own * (moving @ own), axis=0)
    order = np.argsort(squared, kind="stable")  # equal ones may have changed places by a rounding
    squared, own = squared[order], own[:, order]
    shapes = np.zeros((craft.layout.nv, modes.size))
    shapes[modes], shapes[others] = own, follow @ own
    return np.sqrt(np.maximum(squared, 0.0)), shapes


def stiffness_matrix(craft: Spacecraft) -> Matrix:
    """K (nv, nv) of the flexible bodies; zero for all that is free to move."""
    K = np.zeros((craft.layout.nv, craft.layout.nv))
    for body in flexible_bodies(craft):
        at = craft.layout.velocities[f"{body.name}.modes"]
        K[at, at] = np.asarray(body.stiffness)
    return K

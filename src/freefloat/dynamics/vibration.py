"""Natural frequencies of a whole spacecraft, its base free."""

import numpy as np
import scipy.linalg

from freefloat.dynamics.elastic import flexible_bodies
from freefloat.dynamics.mass_matrix import mass_matrix
from freefloat.model import Spacecraft
from freefloat.values.arrays import Vector


def natural_frequencies(craft: Spacecraft, q: Vector | None = None) -> Vector:
    """Frequencies [rad/s] of small vibration of the floating spacecraft about a configuration, joints free, ascending.

    Rigid-body motion and free joints, which have no frequency, are left out: one for each mode remains.
    """
    q = np.zeros(craft.layout.nq) if q is None else np.asarray(q, dtype=float)
    M = np.asarray(mass_matrix(craft, q))
    K = np.zeros_like(M)
    for body in flexible_bodies(craft):
        at = craft.layout.velocities[f"{body.name}.modes"]
        K[at, at] = np.asarray(body.stiffness)
    squared = scipy.linalg.eigh(K, M, eigvals_only=True)
    return np.sqrt(np.maximum(squared[craft.layout.nv - len(craft.layout.modal_velocities) :], 0.0))

"""A spacecraft at rest as a structure: M, C, K of its tree, with names, for methods that take matrices."""

from __future__ import annotations

import numpy as np

from freefloat.control.lqr.second_order import SecondOrderModel
from freefloat.dynamics import damping_force, mass_matrix
from freefloat.dynamics.vibration import stiffness_matrix
from freefloat.model import Spacecraft

_BASE = tuple(f"base.{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz")
_MOTION = tuple(f"base.{kind}.{axis}" for kind in ("displacement", "rotation") for axis in "xyz")


def spacecraft_structure(craft: Spacecraft, q: np.ndarray | None = None) -> SecondOrderModel:
    """Structure M p'' + C p' + K p = Bf u of small motion about rest; p are the integrals of v, base axes.

    Order: base first. Inputs: force and torque on the base, joints and wheels by their names. Outputs: displacement and
    rotation of the base [m, rad] and joint positions. Only forces of the structure itself act: no orbit, no software.
    """
    q = np.zeros(craft.layout.nq) if q is None else np.asarray(q, dtype=float)
    M, K = np.asarray(mass_matrix(craft, q)), stiffness_matrix(craft)
    nv = craft.layout.nv
    C = -np.column_stack([np.asarray(damping_force(craft, q, v)) for v in np.eye(nv)])
    coordinates, joints, wheels = [], [], []
    for name, at in craft.layout.velocities.items():
        size = at.stop - at.start
        if name == "base":
            coordinates += [f"base {k + 1}" for k in range(6)]
        elif name in craft.layout.modes:
            owner = "base bending" if name == "base.modes" else name.removesuffix(".modes")
            coordinates += [f"{owner} {k + 1}" for k in range(size)]
        elif size:
            coordinates += [name] if size == 1 else [f"{name} {k + 1}" for k in range(size)]
            (wheels if name in craft.wheel_names else joints).append((name, at.start))
    moved = [(name, k) for k, name in enumerate(_MOTION)] + joints
    pushed = [(name, k) for k, name in enumerate(_BASE)] + joints + wheels
    return SecondOrderModel(
        0.5 * (M + M.T),
        K,
        np.eye(nv)[:, [k for _, k in pushed]],
        C=C,
        coordinates=tuple(coordinates),
        inputs=tuple(name for name, _ in pushed),
        outputs=tuple(name for name, _ in moved),
        Cp=np.eye(nv)[[k for _, k in moved]],
        Cv=np.zeros((len(moved), nv)),
    )

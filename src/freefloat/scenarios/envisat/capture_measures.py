"""Measures of a capture run: phases, relative motion, impulses at the wrists; in orbit and in a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from freefloat.hil import Facility
    from freefloat.sim import Run

_PAIR = ("servicer", "client")


def rotation_matrices(quaternions: np.ndarray) -> np.ndarray:
    """Rotation matrices (n, 3, 3) of unit quaternions (n, 4), scalar first."""
    w, x, y, z = quaternions.T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.moveaxis(np.array(rows), 2, 0)


def rotate_vectors(R: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors (n, 3), each rotated by its own matrix (n, 3, 3)."""
    return np.einsum("nij,nj->ni", R, vectors)


def phase_start(run: Run, phase: int) -> float:
    """Time at which the software entered a phase [s]; infinite if it never did."""
    reached = np.flatnonzero(run.values("servicer.capture.phase") >= phase)
    return float(run.values("time")[reached[0]]) if reached.size else float("inf")


def relative_motion(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Velocity [m/s] and rate [rad/s] of the servicer's base relative to Envisat in orbit, base axes, (n, 3) each."""
    return run.values("servicer.capture.relative_velocity"), run.values("servicer.capture.relative_rate")


def relative_motion_in_cell(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Velocity and rate as in `relative_motion`, from the robots' encoders; the omitted nominal motion cancels."""
    p_s, p_c = (run.values(f"cell.{craft}.measured.position") for craft in _PAIR)
    R_s, R_c = (rotation_matrices(run.values(f"cell.{craft}.measured.attitude")) for craft in _PAIR)
    V_s, V_c = (run.values(f"cell.{craft}.measured.twist") for craft in _PAIR)
    omega_c = rotate_vectors(R_c, V_c[:, 3:])
    carried = rotate_vectors(R_c, V_c[:, :3]) + np.cross(omega_c, p_s - p_c)
    back = np.swapaxes(R_s, 1, 2)
    return V_s[:, :3] - rotate_vectors(back, carried), V_s[:, 3:] - rotate_vectors(back, omega_c)


def largest_between(run: Run, values: np.ndarray, start: float, end: float = np.inf) -> float:
    """Largest component of a vector over time between two times [s]; infinite if the run has no record there."""
    time = run.values("time")
    found = np.abs(values[(time >= start - 1e-9) & (time <= end + 1e-9)])
    return float(found.max()) if found.size else float("inf")


# ---- momentum


def unexplained_momentum(run: Run) -> float:
    """Largest momentum of servicer and Envisat together that thrust and external wrenches do not explain [N s]."""
    change = run.values("world.momentum.linear") - run.values("world.momentum.linear")[0]
    return float(np.abs(change - run.values("world.impulse.linear")).max())


def wrist_impulses(run: Run, facility: Facility) -> dict[str, np.ndarray]:
    """Impulse that each wrist sensor has measured since the start, inertial axes (n, 3) [N s], by robot."""
    step = np.diff(run.values("time"), prepend=0.0)[:, None]
    found = {}
    for robot in facility.robots:
        R_NM, R_MW = rotation_matrices(run.values(f"{robot.name}.base.attitude")), np.asarray(robot.X_MW.R)
        force = rotate_vectors(R_NM, run.values(f"cell.{robot.name}.wrench")[:, :3] @ R_MW.T)
        found[robot.name] = np.cumsum(force * step, axis=0)
    return found


# ---- eq. (29)


def speed_and_bound(run: Run, robot: str, spin: float) -> tuple[float, float]:
    """Largest speed of a carried frame in the cell [m/s], and its bound |V| + |DV|, with |DV| <= |p_Z| |omega_n|.

    The nominal motion turns about Envisat's centre of mass, which stands still: its twist is `spin` [rad/s] alone.
    """
    client = run.values("cell.client.commanded.position")[0]
    reach = np.linalg.norm(run.values(f"cell.{robot}.measured.position") - client, axis=1)
    orbit = np.linalg.norm(run.values(f"{robot}.base.velocity"), axis=1)
    speed = np.linalg.norm(run.values(f"cell.{robot}.measured.twist")[:, :3], axis=1)
    return float(speed.max()), float(np.max(orbit + reach * abs(spin)))

"""The station, its linear model in orbit and its regulator, each computed once; start states with bent parts.

The paper's orbital frame has x away from the Earth, y along the flight and z along the orbit normal; in ours (z to the
nadir, x along the flight) these are (0, 0, -1), (1, 0, 0) and (0, -1, 0): the attitude R_OB of `station_reference`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from freefloat.analysis import OrbitModel
    from freefloat.control.lqr import Regulator, SecondOrderModel
    from freefloat.effects import CircularOrbit
    from freefloat.library import StationReference
    from freefloat.model import Spacecraft, State

ALTITUDE = 400e3  # [m]
PAPER = "gravity-gradient station with a travelling arm"
TIPS = ("bus left", "bus right", "arm 1", "arm 2", "array 1", "array 2")


@dataclass(frozen=True)
class StationModel:
    """A station with its linear equations about a reference in orbit."""

    craft: Spacecraft
    orbit: CircularOrbit
    reference: StationReference  # about which it is linearised
    model: OrbitModel
    reduced: bool = False  # whether the finite elements are reduced to modes of the components

    @property
    def structure(self) -> SecondOrderModel:
        """Second-order model M, G, C, K with the paper's names."""
        return self.model.structure

    @cached_property
    def order(self) -> np.ndarray:
        """Index in (psi, q) of each coordinate of the linear model."""
        from freefloat.analysis.orbit_names import OrbitNames

        return OrbitNames.of(self.craft, self.reference.rotations, self.reference.coordinates).order

    @cached_property
    def regulator(self) -> Regulator:
        """Regulator with the paper's weights: 1e7 on all states and inputs, 1 on roll and pitch torque and bus tips.

        A coordinate of a reduced component is weighted by the largest deflection of its shape [m].
        """
        from freefloat.control.lqr import design_lqr

        Q, R = paper_weights(self.structure)
        reach = np.ones(3 + self.craft.layout.nq)
        if self.reduced:
            reach[3:] = _largest_deflections(self.craft)
        return design_lqr(self.structure, Q * np.tile(reach[self.order] ** 2, 2), R)

    def linear_state(self, rotation: Any = (0.0, 0.0, 0.0), q: Any = None, rates: Any = None) -> np.ndarray:
        """State x = (p, p') from a rotation [rad], a deviation of q, and rates (of rotation and q)."""
        q = np.zeros(self.craft.layout.nq) if q is None else np.asarray(q, dtype=float)
        rates = np.zeros(3 + len(q)) if rates is None else np.asarray(rates, dtype=float)
        return np.concatenate([np.concatenate([rotation, q])[self.order], rates[self.order]])

    def rates_from_rest(self, speed: float) -> np.ndarray:
        """Rates of (psi, q) after the motor has set the carriage in motion at `speed` [m/s]; momentum is unchanged."""
        structure, rates = self.structure, np.zeros(len(self.structure.M))
        v = np.linalg.solve(structure.M, structure.Bf[:, structure.inputs.index("zeta force")])
        rates[self.order] = speed * v / v[structure.coordinates.index("zeta")]
        return rates

    def gentle_rates(self, speed: float) -> np.ndarray:
        """Rates of (psi, q) with the carriage moving at `speed` [m/s], no vibration, and zero angular momentum."""
        structure, rates = self.structure, np.zeros(len(self.structure.M))
        zeta, found = structure.coordinates.index("zeta"), np.zeros(len(self.structure.M))
        found[zeta] = speed
        found[:3] = -np.linalg.solve(structure.M[:3, :3], structure.M[:3, zeta] * speed)
        rates[self.order] = found
        return rates

    def start(self, rotation: Any = (0.0, 0.0, 0.0), q: Any = None, rates: Any = None) -> State:
        """State of the spacecraft with this rotation, q and rates; its centre of mass is at rest on the orbit."""
        at = self.reference.q + (0.0 if q is None else np.asarray(q, dtype=float))
        return orbit_state(self.craft, self.orbit, at, self.reference.attitude, rotation, rates)


def paper_weights(structure: SecondOrderModel) -> tuple[np.ndarray, np.ndarray]:
    """Weights Q and R of the paper."""
    R = np.full(len(structure.inputs), 1e7)
    for name in ("roll torque", "pitch torque", "bus left tip", "bus right tip"):
        R[structure.inputs.index(name)] = 1.0
    return np.full(2 * len(structure.M), 1e7), R


@lru_cache(maxsize=12)
def station_model(
    *,
    reduction: str = "nodal",
    columns: tuple[int, int, int] = (3, 3, 8),
    gradient: str = "paper",
    trimmed: bool = False,
    arm_at: float = 25.0,
    modal_damping: float = 0.0,
    **choices: Any,
) -> StationModel:
    """Station with its linear model; by default the paper's: nodal, gravity gradient on attitude only, untrimmed.

    `trimmed`: about the true equilibrium, joints held; `modal_damping`: one ratio for all modes with attitude and
    joints held; other choices as in `library.station`.
    """
    from freefloat.analysis import linearise_in_orbit, trim_in_orbit
    from freefloat.effects import CircularOrbit
    from freefloat.library import station, station_reference

    craft, orbit = station(reduction=reduction, columns=columns, **choices), CircularOrbit(altitude=ALTITUDE)
    reference = station_reference(craft, arm_at=arm_at)
    if trimmed:
        q, attitude = trim_in_orbit(craft, orbit, reference.q, attitude=reference.attitude)
        reference = replace(reference, q=q, attitude=attitude)
    model = linearise_in_orbit(craft, orbit, gradient=gradient, damping_ratio=modal_damping, **reference.arguments())
    return StationModel(craft, orbit, reference, model, reduction != "nodal")


def _largest_deflections(craft: Spacecraft) -> np.ndarray:
    """Largest deflection of a component's nodes per unit of each coordinate of q; 1 for joints."""
    found = np.ones(craft.layout.nq)
    for name in craft.layout.modes:
        body = craft.body(name.removesuffix(".modes"))
        moved = [np.linalg.norm(np.asarray(node.translation), axis=0) for node in body.nodes]  # pyright: ignore
        found[craft.layout.position(name)] = np.max(moved, axis=0)
    return found


# ---- bent starts


def bent_coordinates(craft: Spacecraft, tips: Mapping[str, float]) -> np.ndarray:
    """Deviation of q with components bent by static loads to tip deflections along z [m]: {"bus left": 0.01, ...}.

    Beams by a force at the tip; arrays by a uniform load along the tip edge, the deflection at mid-chord.
    """
    q = np.zeros(craft.layout.nq)
    for name, tip in tips.items():
        owner, node = _component(name)
        body, at = craft.body(owner), craft.layout.position(f"{owner}.modes")
        here = np.asarray(body.node(node).translation)[2]  # pyright: ignore[reportAttributeAccessIssue]
        load = _edge_load(body) if name.startswith("array") else here
        shape = np.linalg.solve(np.asarray(body.stiffness), load)  # pyright: ignore[reportAttributeAccessIssue]
        q[at] += tip * shape / (here @ shape)
    return q


def _component(name: str) -> tuple[str, str]:
    """Names of the body and node of a tip."""
    if name.startswith("bus"):
        return "base", f"{name.removeprefix('bus ')}.tip"
    return name.replace(" ", "."), "tip"


def _edge_load(body: Any) -> np.ndarray:
    """Generalised force of a unit load along the tip edge of an array: Simpson's rule, exact for its cubics."""
    points, motion = body.skin.points, body.skin.motion
    edge = np.flatnonzero(np.isclose(np.abs(points[:, 1]), np.max(np.abs(points[:, 1]))))
    edge = edge[np.argsort(points[edge, 0])]
    weights = np.array([1.0, *([4.0, 2.0] * (len(edge) // 2))[:-1], 1.0])
    return weights @ motion[edge, 2]


def tip_deflection(craft: Spacecraft, name: str) -> np.ndarray:
    """Derivative by q of a tip's deflection along z [m]; of an array at the corner where its force acts."""
    owner, node = _component(name)
    row, at = np.zeros(craft.layout.nq), craft.layout.position(f"{owner}.modes")
    node = "corner" if name.startswith("array") else node
    row[at] = np.asarray(craft.body(owner).node(node).translation)[2]  # pyright: ignore[reportAttributeAccessIssue]
    return row


# ---- states of the spacecraft


def orbit_state(
    craft: Spacecraft, orbit: CircularOrbit, q: np.ndarray, attitude: np.ndarray, rotation: Any, rates: Any = None
) -> State:
    """State with the base turned by `rotation` from its attitude R_OB, rates (of rotation and q) in the orbital frame.

    The centre of mass does not move.
    """
    from freefloat.control import attitude_at
    from freefloat.dynamics import mass_matrix
    from freefloat.spatial.rotations import rotation_matrix

    layout = craft.layout
    rates = np.zeros(3 + layout.nq) if rates is None else np.asarray(rates, dtype=float)
    quat = attitude_at(orbit, attitude, np.asarray(rotation, dtype=float))
    v = np.zeros(layout.nv)
    turning = np.array([0.0, -float(orbit.rate), 0.0])  # of O, which N coincides with now
    v[3:6] = np.asarray(rotation_matrix(quat)).T @ turning + rates[:3]
    for name, at in layout.positions.items():
        v[layout.velocities[name]] = rates[3:][at]
    M = np.asarray(mass_matrix(craft, q))
    v[:3] = -np.linalg.solve(M[:3, :3], M[:3, 3:] @ v[3:])
    return replace(craft.at_rest(), q=q, quat_NB=quat, v=v)

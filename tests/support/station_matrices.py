"""The linear station in closed form, in plain NumPy from quadrature points.

Bus, travelling two-link arm and two plate arrays in a circular orbit: M, G, C, K and inputs for any mesh. It imports
nothing of the product, so that it can judge it.

p = (yaw, roll, pitch, theta1, theta2, zeta, bus left, bus right, arm 1, arm 2, array 1, array 2), body axes: x along
the bus (radial), y along the velocity, z orbit normal. All deflections are along z.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

RHO, YOUNG, NU = 1769.0, 7.3084e10, 0.3  # [kg/m3], [Pa]
LENGTH, DIAMETER, WALL = 100.0, 5.0, 0.003  # of the bus [m]
ARM, ARM_DIAMETER, ARM_WALL = 10.0, 0.01, 0.001  # each arm [m]
SIDE, THICKNESS = 10.0, 0.003  # of an array [m]
ORBIT_RATE = np.sqrt(3.986004418e14 / 6778137.0**3)  # 400 km [rad/s]
ATTITUDE = ("yaw", "roll", "pitch")
RELATIVE = ("theta1", "theta2", "zeta")
FLEXIBLE = ("bus left", "bus right", "arm 1", "arm 2", "array 1", "array 2")
INPUTS = (
    *("yaw torque", "roll torque", "pitch torque", "theta1 torque", "theta2 torque", "zeta force"),
    *("bus left tip", "bus right tip", "arm 1 tip", "arm 2 tip", "array 1 tip", "array 2 tip"),
)


@dataclass(frozen=True)
class Station:
    """Its choices; the defaults have 66 coordinates."""

    bus: int = 2  # elements of each half
    arm: int = 1  # elements of each arm
    array: int = 2  # elements of each array, along and across
    base_at: tuple[float, float] = (25.0, 2.5)  # x and z of the arm's base [m]
    base_mass: float = 0.0  # [kg]
    payload: float = 0.0  # [kg]
    force_chord: float = 5.0  # where the arrays' forces act: distance from mid-chord [m]
    centred: bool = True  # the system's centre of mass does not move
    tides: bool = False  # gravity gradient on arm and elastic coordinates (mode `full`)
    damping: float = 0.0  # ratio of the elastic modes with attitude and joints held

    # ---- coordinates

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        plate = 4 * self.array * (self.array + 1)
        return (2 * self.bus, 2 * self.bus, 2 * self.arm, 2 * self.arm, plate, plate)

    @cached_property
    def places(self) -> dict[str, slice]:
        """Places in e = (relative, flexible); p has the attitude before them."""
        ends = 3 + np.cumsum((0, *self.sizes))
        found = {name: slice(k, k + 1) for k, name in enumerate(RELATIVE)}
        return found | {name: slice(a, b) for name, a, b in zip(FLEXIBLE, ends, ends[1:], strict=False)}

    @cached_property
    def count(self) -> int:
        return 3 + sum(self.sizes)

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        flexible = [f"{name} {k + 1}" for name, size in zip(FLEXIBLE, self.sizes, strict=True) for k in range(size)]
        return (*ATTITUDE, *RELATIVE, *flexible)

    # ---- displacement of a point along z, as a row over e

    def bus_row(self, x: float, derivative: int = 0) -> np.ndarray:
        """Deflection of the bus at x, or its slope dz/dx."""
        row, half = np.zeros(self.count), "bus right" if x >= 0.0 else "bus left"
        sign = 1.0 if x >= 0.0 or derivative == 0 else -1.0
        row[self.places[half]] = sign * _line_row(abs(x), LENGTH / 2, self.bus, derivative)
        return row

    def arm_row(self, which: int, s: float) -> np.ndarray:
        """dz of a point of arm 1 or 2 at s from its root."""
        x = self.base_at[0]
        along = s if which == 1 else ARM + s
        row = self.bus_row(x) + along * self.bus_row(x, 1)
        row[self.places["theta1"]] = along
        if which == 1:
            row[self.places["arm 1"]] = _line_row(s, ARM, self.arm, 0)
            return row
        row[self.places["theta2"]] = s
        row[self.places["arm 1"]] = _line_row(ARM, ARM, self.arm, 0) + s * _line_row(ARM, ARM, self.arm, 1)
        row[self.places["arm 2"]] = _line_row(s, ARM, self.arm, 0)
        return row

    def carriage_row(self) -> np.ndarray:
        """dx of every point of the arm."""
        row = -self.base_at[1] * self.bus_row(self.base_at[0], 1)
        row[self.places["zeta"]] = 1.0
        return row

    def array_row(self, which: int, s: float, t: float) -> np.ndarray:
        """dz of a point of an array: span s from the root, chord t."""
        row = self.bus_row(-LENGTH / 2) + t * self.bus_row(-LENGTH / 2, 1)
        row[self.places[f"array {which}"]] = plate_row(s, t, self.array)
        return row

    # ---- quadrature points: weight, position, displacement

    @cached_property
    def points(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        found = [*self._bus_points(), *self._arm_points(), *self._array_points()]
        weights, positions, rows = zip(*found, strict=True)
        return np.array(weights), np.array(positions), np.array(rows)

    def _bus_points(self):
        line = RHO * np.pi * DIAMETER * WALL
        ring = 2 * np.pi * np.arange(8) / 8
        for side in (-1.0, 1.0):
            for weight, s in zip(*_gauss(0.0, LENGTH / 2, self.bus), strict=True):
                D = np.zeros((3, self.count))
                D[2] = self.bus_row(side * s)
                for angle in ring:
                    X = np.array([side * s, *(DIAMETER / 2 * np.array([np.cos(angle), np.sin(angle)]))])
                    yield line * weight / 8, X, D

    def _arm_points(self):
        line, (x, z) = RHO * np.pi * ARM_DIAMETER * ARM_WALL, self.base_at
        for which in (1, 2):
            for weight, s in zip(*_gauss(0.0, ARM, self.arm), strict=True):
                yield line * weight, np.array([x + (which - 1) * ARM + s, 0.0, z]), self._arm_motion(which, s)
        base = self._arm_motion(1, 0.0)
        yield self.base_mass, np.array([x, 0.0, z]), base
        yield self.payload, np.array([x + 2 * ARM, 0.0, z]), self._arm_motion(2, ARM)

    def _arm_motion(self, which: int, s: float) -> np.ndarray:
        return np.array([self.carriage_row(), np.zeros(self.count), self.arm_row(which, s)])

    def _array_points(self):
        spans, chords = _gauss(0.0, SIDE, self.array), _gauss(-SIDE / 2, SIDE / 2, self.array)
        for which, sign in ((1, 1.0), (2, -1.0)):
            for weight_s, s in zip(*spans, strict=True):
                for weight_t, t in zip(*chords, strict=True):
                    X = np.array([-LENGTH / 2 + t, sign * (DIAMETER / 2 + s), 0.0])
                    D = np.zeros((3, self.count))
                    D[2] = self.array_row(which, s, t)
                    yield RHO * THICKNESS * weight_s * weight_t, X, D

    # ---- sums over the points

    @cached_property
    def mass(self) -> float:
        return float(np.sum(self.points[0]))

    @cached_property
    def centre(self) -> np.ndarray:
        w, X, _ = self.points
        return w @ X / self.mass

    @cached_property
    def centre_motion(self) -> np.ndarray:
        w, _, D = self.points
        moved = np.einsum("k,kai->ai", w, D) / self.mass
        return moved if self.centred else 0.0 * moved

    @cached_property
    def centred_points(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        w, X, D = self.points
        return w, X - self.centre, D - self.centre_motion

    @cached_property
    def J0(self) -> np.ndarray:
        w, X, _ = self.centred_points
        return np.sum(w * np.sum(X * X, axis=1)) * np.eye(3) - np.einsum("k,ka,kb->ab", w, X, X)

    @cached_property
    def M(self) -> np.ndarray:
        w, X, D = self.centred_points
        H0 = np.einsum("k,kab,kbi->ai", w, np.array([_cross(x) for x in X]), D)
        flat = (np.sqrt(w)[:, None, None] * D).reshape(-1, self.count)
        return np.block([[self.J0, H0], [H0.T, flat.T @ flat]])

    def inertia_column(self, axis: np.ndarray) -> np.ndarray:
        """dJ/de_i times an axis, one column for each i."""
        w, X, D = self.centred_points
        both = 2 * np.einsum("k,ka,kai->i", w, X, D)
        along_X, along_D = X @ axis, np.einsum("a,kai->ki", axis, D)
        first = np.einsum("k,ka,ki->ai", w, X, along_D)
        return np.outer(axis, both) - first - np.einsum("k,kai,k->ai", w, D, along_X)

    @cached_property
    def G(self) -> np.ndarray:
        n, S, k = ORBIT_RATE, _cross((0, 0, 1)), np.array([0.0, 0.0, 1.0])
        w, _, D = self.centred_points
        pp = n * (self.J0 @ S + S @ self.J0 - _cross(self.J0 @ k))
        pe = n * (self.inertia_column(k) + S @ self.M[:3, 3:])
        # k . (D_j x D_i) = D_jx D_iy - D_jy D_ix
        xy = np.einsum("k,ki,kj->ij", w, D[:, 1], D[:, 0])
        return np.block([[pp, pe], [-pe.T, 2 * n * (xy - xy.T)]])

    @cached_property
    def elastic_stiffness(self) -> np.ndarray:
        bus = YOUNG * np.pi * DIAMETER**3 * WALL / 8
        arm = YOUNG * np.pi * ARM_DIAMETER**3 * ARM_WALL / 8
        lines = [_line_stiffness(LENGTH / 2, self.bus, bus)] * 2 + [_line_stiffness(ARM, self.arm, arm)] * 2
        return linalg.block_diag(np.zeros((3, 3)), *lines, *[_plate_stiffness(self.array)] * 2)

    @cached_property
    def K(self) -> np.ndarray:
        n, S, k, i = ORBIT_RATE, _cross((0, 0, 1)), np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
        J0, I = self.J0, _cross(i)
        pp = n**2 * (S @ J0 @ S - _cross(J0 @ k) @ S) + 3 * n**2 * (_cross(J0 @ i) @ I - I @ J0 @ I)
        ee, pe = self.elastic_stiffness, np.zeros((3, self.count))
        if self.tides:
            w, _, D = self.centred_points
            pe = n**2 * S @ self.inertia_column(k) - 3 * n**2 * I @ self.inertia_column(i)
            q = [np.einsum("k,ki,kj->ij", w, D[:, a], D[:, a]) for a in (2, 0)]
            ee = ee + n**2 * (q[0] - 3 * q[1])
        return np.block([[pp, pe], [pe.T, ee]])

    @cached_property
    def C(self) -> np.ndarray:
        found, block = np.zeros_like(self.M), slice(6, None)
        m = self.M[block, block]
        squared, Phi = linalg.eigh(self.elastic_stiffness[3:, 3:], m)
        found[block, block] = (m @ Phi) * (2 * self.damping * np.sqrt(squared)) @ (m @ Phi).T
        return found

    # ---- inputs

    def force_column(self, position, row: np.ndarray) -> np.ndarray:
        """Generalised force of a unit force along z at a point that moves by `row`."""
        arm = np.cross(np.asarray(position) - self.centre, (0.0, 0.0, 1.0))
        return np.concatenate([arm, row - self.centre_motion[2]])

    @cached_property
    def Bf(self) -> np.ndarray:
        (x, z), t = self.base_at, self.force_chord
        points = [
            ((-LENGTH / 2, 0, 0), self.bus_row(-LENGTH / 2)),
            ((LENGTH / 2, 0, 0), self.bus_row(LENGTH / 2)),
            ((x + ARM, 0, z), self.arm_row(1, ARM)),
            ((x + 2 * ARM, 0, z), self.arm_row(2, ARM)),
            ((-LENGTH / 2 + t, 12.5, 0), self.array_row(1, SIDE, t)),
            ((-LENGTH / 2 + t, -12.5, 0), self.array_row(2, SIDE, t)),
        ]
        return np.column_stack([np.eye(3 + self.count)[:, :6], *(self.force_column(*point) for point in points)])

    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Q and R of the paper."""
        R = np.full(12, 1e7)
        R[[1, 2, 6, 7]] = 1.0
        return 1e7 * np.eye(2 * (3 + self.count)), np.diag(R)

    # ---- a bent start

    def bent(self, **tips: float) -> np.ndarray:
        """p with each named component bent by a tip load to a tip deflection [m]; `bus_left=0.01`."""
        p = np.zeros(3 + self.count)
        for name, tip in tips.items():
            place = self.places[name.replace("_", " ")]
            K = self.elastic_stiffness[place, place]
            if name.startswith("array"):
                weights, chords = _gauss(-SIDE / 2, SIDE / 2, self.array)
                load = sum(w * plate_row(SIDE, t, self.array) for w, t in zip(weights, chords, strict=True))
                shape = np.linalg.solve(K, load)
                shape = shape / (plate_row(SIDE, 0.0, self.array) @ shape)
            else:
                shape = np.linalg.solve(K, np.eye(len(K))[-2])
                shape = shape / shape[-2]
            p[3 + place.start : 3 + place.stop] = tip * shape
        return p


# ---- elements


def _hermite(r: float, length: float, derivative: int) -> np.ndarray:
    """Values of the four cubics of an element, or of their derivatives by the length along it."""
    rows = {
        0: (1 - 3 * r**2 + 2 * r**3, length * (r - 2 * r**2 + r**3), 3 * r**2 - 2 * r**3, length * (r**3 - r**2)),
        1: (-6 * r + 6 * r**2, length * (1 - 4 * r + 3 * r**2), 6 * r - 6 * r**2, length * (3 * r**2 - 2 * r)),
        2: (-6 + 12 * r, length * (-4 + 6 * r), 6 - 12 * r, length * (6 * r - 2)),
    }
    return np.array(rows[derivative]) / length**derivative


def _hermite_row(s: float, length: float, elements: int, derivative: int) -> np.ndarray:
    """The same over the dofs (w, w') of all nodes of a line."""
    h = length / elements
    j = min(int(s / h), elements - 1)
    row = np.zeros(2 * (elements + 1))
    row[2 * j : 2 * j + 4] = _hermite(s / h - j, h, derivative)
    return row


def _line_row(s: float, length: float, elements: int, derivative: int) -> np.ndarray:
    """Of a line clamped at s = 0."""
    return _hermite_row(s, length, elements, derivative)[2:]


def _line_stiffness(length: float, elements: int, EI: float) -> np.ndarray:
    K = np.zeros((2 * elements, 2 * elements))
    for weight, s in zip(*_gauss(0.0, length, elements), strict=True):
        row = _line_row(s, length, elements, 2)
        K += weight * EI * np.outer(row, row)
    return K


def plate_row(s: float, t: float, n: int, along: int = 0, across: int = 0) -> np.ndarray:
    """Deflection of a plate clamped at s = 0, or a derivative, over (w, w_s, w_t, w_st); nodes s outer, t inner."""
    span = _hermite_row(s, SIDE, n, along).reshape(n + 1, 2)
    chord = _hermite_row(t + SIDE / 2, SIDE, n, across).reshape(n + 1, 2)
    # (node s, kind s) x (node t, kind t) -> node s, node t, (w, w_s, w_t, w_st)
    product = np.einsum("ia,jb->ijba", span, chord)
    return product[1:].ravel()


def _plate_stiffness(n: int) -> np.ndarray:
    D = YOUNG * THICKNESS**3 / (12 * (1 - NU**2))
    law = D * np.array([[1.0, NU, 0.0], [NU, 1.0, 0.0], [0.0, 0.0, 2 * (1 - NU)]])
    K = np.zeros((4 * n * (n + 1),) * 2)
    for weight_s, s in zip(*_gauss(0.0, SIDE, n), strict=True):
        for weight_t, t in zip(*_gauss(-SIDE / 2, SIDE / 2, n), strict=True):
            rows = np.array([plate_row(s, t, n, *order) for order in ((2, 0), (0, 2), (1, 1))])
            K += weight_s * weight_t * rows.T @ law @ rows
    return K


def _gauss(start: float, stop: float, elements: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights and places of four Gauss points in each element."""
    nodes, weights = np.polynomial.legendre.leggauss(4)
    h = (stop - start) / elements
    places = [start + h * (j + 0.5 * (1 + nodes)) for j in range(elements)]
    return np.tile(0.5 * h * weights, elements), np.concatenate(places)


def _cross(v) -> np.ndarray:
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])

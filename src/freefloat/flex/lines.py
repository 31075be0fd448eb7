"""Gauss quadrature along a line of panels, and running integrals from its start."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import legendre, polynomial


@dataclass(frozen=True)
class GaussLine:
    """Panels between `edges`, each with `order` Gauss points: exact for polynomials of degree 2 order - 1."""

    edges: np.ndarray
    order: int

    @cached_property
    def _rule(self) -> tuple[np.ndarray, np.ndarray]:
        return legendre.leggauss(self.order)

    @cached_property
    def points(self) -> np.ndarray:
        """All Gauss points, ascending."""
        middles, halves = 0.5 * (self.edges[1:] + self.edges[:-1]), 0.5 * np.diff(self.edges)
        return (middles[:, None] + halves[:, None] * self._rule[0]).ravel()

    @cached_property
    def weights(self) -> np.ndarray:
        """Weights of all Gauss points."""
        return (0.5 * np.diff(self.edges)[:, None] * self._rule[1]).ravel()

    def running_integral(self, values: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Integral from the first edge to each place in `at` of a field given by its values at the Gauss points.

        Exact where the field is a polynomial of degree below `order` in each panel.
        """
        panels = len(self.edges) - 1
        values = values.reshape(panels, self.order, -1)
        halves = 0.5 * np.diff(self.edges)
        whole = np.einsum("p,g,pgn->pn", halves, self._rule[1], values)
        before = np.vstack([np.zeros(values.shape[2]), np.cumsum(whole, axis=0)])
        panel = np.clip(np.searchsorted(self.edges, at, side="right") - 1, 0, panels - 1)
        local = (at - self.edges[panel]) / halves[panel] - 1.0  # in [-1, 1]
        rows = self._partial_weights(local) * halves[panel, None]
        return before[panel] + np.einsum("kg,kgn->kn", rows, values[panel])

    def _partial_weights(self, local: np.ndarray) -> np.ndarray:
        """Weights of the integral from -1 to each local place: the interpolant's Legendre series, integrated."""
        nodes, weights = self._rule
        at_nodes = legendre.legvander(nodes, self.order - 1)
        at_places = legendre.legvander(local, self.order)
        integrals = np.empty((len(local), self.order))  # of P_l from -1
        integrals[:, 0] = local + 1.0
        for degree in range(1, self.order):
            integrals[:, degree] = (at_places[:, degree + 1] - at_places[:, degree - 1]) / (2 * degree + 1)
        series = at_nodes * weights[:, None] * (2 * np.arange(self.order) + 1) / 2.0
        return integrals @ series.T


def mesh_lines(start: float, stop: float, elements: int, through: list[float]) -> np.ndarray:
    """Evenly spaced mesh lines that pass through given places; an even line too close to one of them gives way."""
    even = np.linspace(start, stop, elements + 1)
    gap = 0.25 * (stop - start) / elements
    inner = [x for x in through if min(abs(x - start), abs(x - stop)) > 1e-9 * (stop - start)]
    kept = [x for x in even[1:-1] if all(abs(x - y) > gap or abs(x - y) < 1e-12 * gap for y in inner)]
    merged = np.unique(np.round(np.array([start, *kept, *inner, stop]), 15))
    distinct = np.concatenate([[True], np.diff(merged) > 1e-9 * (stop - start)])
    return merged[distinct]


def hermite_row(edges: np.ndarray, x: float, derivative: int) -> np.ndarray:
    """Row over (value, slope) at every mesh line that gives a cubic Hermite field or its derivative at x.

    Where two elements meet it is the mean of their rows, which only differ from the second derivative on.
    """
    rows = []
    for element in elements_at(edges, x):
        h, row = edges[element + 1] - edges[element], np.zeros(2 * len(edges))
        cubics = np.array([(1, 0, -3, 2), (0, h, -2 * h, h), (0, 0, 3, -2), (0, 0, -h, h)], float)
        row[2 * element : 2 * element + 4] = (
            _polynomial_values(cubics, (x - edges[element]) / h, derivative) / h**derivative
        )
        rows.append(row)
    return np.sum(rows, axis=0) / len(rows)


def quadratic_row(edges: np.ndarray, x: float, derivative: int) -> np.ndarray:
    """Row over values at every mesh line and in between that gives a quadratic field or its derivative at x."""
    rows = []
    for element in elements_at(edges, x):
        h, row = edges[element + 1] - edges[element], np.zeros(2 * len(edges) - 1)
        parabolas = np.array([(1, -3, 2), (0, 4, -4), (0, -1, 2)], float)
        row[2 * element : 2 * element + 3] = (
            _polynomial_values(parabolas, (x - edges[element]) / h, derivative) / h**derivative
        )
        rows.append(row)
    return np.sum(rows, axis=0) / len(rows)


def elements_at(edges: np.ndarray, x: float) -> list[int]:
    """The element that a place is in, or the two that meet there."""
    tight = 1e-9 * (edges[-1] - edges[0])
    return [int(k) for k in np.flatnonzero((edges[:-1] <= x + tight) & (x - tight <= edges[1:]))]


def _polynomial_values(rows: np.ndarray, r: float, derivative: int) -> np.ndarray:
    """Values at r of polynomials (a row of coefficients each), or of their derivatives."""
    return np.asarray(polynomial.polyval(r, polynomial.polyder(rows, derivative, axis=1).T))

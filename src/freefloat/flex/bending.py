"""Foreshortening of a beam: its axis does not stretch, so points move inwards when it bends."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from freefloat.flex.lines import GaussLine


@dataclass(frozen=True)
class Bending:
    """Slopes of a straight beam in its two planes, at the Gauss points of a line along it."""

    line: GaussLine
    slopes: np.ndarray  # (2, points, coordinates): dy/dx, dz/dx
    axis: np.ndarray  # unit vector along the beam at rest, body frame
    held_at: float = 0.0  # where along the beam it does not move [m]

    def project(self, basis: np.ndarray) -> Bending:
        """Bending of the same beam with fewer coordinates."""
        return replace(self, slopes=self.slopes @ basis)

    def place_at(self, R: np.ndarray) -> Bending:
        """Bending of the same beam in another frame."""
        return replace(self, axis=R @ self.axis)

    def foreshortening(self, stations: np.ndarray) -> np.ndarray:
        """Second-order field chi_ij (stations, 3, n, n): -axis times int phi_i' phi_j' from where the beam is held."""
        n = self.slopes.shape[2]
        products = np.einsum("dki,dkj->kij", self.slopes, self.slopes)
        places = np.concatenate([[self.held_at], np.atleast_1d(stations)])
        running = self.line.running_integral(products.reshape(-1, n * n), places)
        running = running[1:] - running[0]
        return -np.einsum("a,kij->kaij", self.axis, running.reshape(-1, n, n))


def turn_arm(rotation: np.ndarray, arm: np.ndarray) -> np.ndarray:
    """Second-order field chi (3, n, n) of a point at `arm` from a turning place: 1/2 theta x (theta x arm)."""
    inner = np.cross(rotation.T, arm)  # theta_j x arm
    twice = np.cross(rotation.T[:, None, :], inner[None, :, :])  # theta_i x (theta_j x arm)
    return np.moveaxis(0.5 * (twice + twice.swapaxes(0, 1)), 2, 0)

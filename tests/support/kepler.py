"""Two-body motion written apart from the package: Kepler's equation by Newton steps, positions in a fixed plane."""

import numpy as np


def eccentric_anomaly(mean: float, e: float) -> float:
    """Newton's method on E - e sin E = M."""
    E = mean + e * np.sin(mean)
    for _ in range(50):
        E = E - (E - e * np.sin(E) - mean) / (1.0 - e * np.cos(E))
    return E


def propagate(mu: float, r: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
    """Position after t of a mass at r with velocity v, by Lagrange's f and g of an ellipse."""
    distance, radial = np.linalg.norm(r), float(r @ v)
    a = 1.0 / (2.0 / distance - v @ v / mu)
    n = np.sqrt(mu / a**3)
    cosine, sine = 1.0 - distance / a, radial / np.sqrt(mu * a)  # e cos E0, e sin E0
    turned = n * t
    for _ in range(50):  # Kepler's equation for the difference of the eccentric anomalies
        miss = turned - cosine * np.sin(turned) + sine * (1.0 - np.cos(turned)) - n * t
        turned -= miss / (1.0 - cosine * np.cos(turned) + sine * np.sin(turned))
    f = 1.0 - a / distance * (1.0 - np.cos(turned))
    g = t - (turned - np.sin(turned)) / n
    return f * r + g * v


def place(mu: float, a: float, e: float, mean: float, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity on an ellipse in the plane of x and y, perigee along x."""
    n = np.sqrt(mu / a**3)
    E = eccentric_anomaly(mean + n * t, e)
    b = a * np.sqrt(1.0 - e**2)
    rate = n / (1.0 - e * np.cos(E))
    return (
        np.array([a * (np.cos(E) - e), b * np.sin(E), 0.0]),
        np.array([-a * np.sin(E) * rate, b * np.cos(E) * rate, 0.0]),
    )

"""Designs: the point of the unit cube for each run of a campaign.

`random`: run i depends on (seed, i) alone. The others spread their points, so that a run also depends on the number of
runs: Latin hypercube and Sobol sequence (scipy.stats.qmc), and pairs of Sobol points that share all coordinates but one
(Saltelli 2010), from which sensitivity indices are computed.
"""

from __future__ import annotations

import warnings
from functools import lru_cache

import numpy as np

from freefloat.campaign.errors import CampaignError
from freefloat.campaign.random_words import uniforms

DESIGNS = ("random", "latin-hypercube", "sobol", "saltelli")
_EDGE = 2.0**-53  # points on a face of the cube are moved inside by this


def require_design(design: str, runs: int, columns: int) -> None:
    """Raise an error if a design does not exist or does not fit its number of runs."""
    if design not in DESIGNS:
        raise CampaignError(f"There is no design '{design}'. Designs: {', '.join(DESIGNS)}.")
    if design == "saltelli" and runs % (columns + 2):
        whole = max(1, round(runs / (columns + 2))) * (columns + 2)
        raise CampaignError(
            f"A saltelli design of {columns} draws takes {columns + 2} runs for each point: {runs} is no multiple of "
            f"that. Take runs = {whole}."
        )


def shares(design: str, seed: int, size: int, runs: np.ndarray, columns: int) -> np.ndarray:
    """Points of the runs in the unit cube, (runs, columns): between 0 and 1, neither included."""
    runs = np.asarray(runs)
    if design == "random" or columns == 0:
        return uniforms(seed, runs, columns)
    if design == "latin-hypercube":
        return _inside(_latin_hypercube(seed, size, columns)[runs])
    if design == "sobol":
        return _inside(_sobol(seed, columns, runs))
    return _inside(_saltelli(seed, columns, runs))


def _inside(points: np.ndarray) -> np.ndarray:
    return np.clip(points, _EDGE, 1.0 - _EDGE)


@lru_cache(maxsize=1)
def _latin_hypercube(seed: int, size: int, columns: int) -> np.ndarray:
    from scipy.stats import qmc

    return qmc.LatinHypercube(columns, rng=np.random.default_rng(seed)).random(size)


def _sobol(seed: int, columns: int, points: np.ndarray) -> np.ndarray:
    """Some points of the scrambled Sobol sequence, without computing the points before them."""
    from scipy.stats import qmc

    first, last = int(points.min()), int(points.max())
    sequence = qmc.Sobol(columns, scramble=True, rng=np.random.default_rng(seed))
    if first:
        sequence.fast_forward(first)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # blocks are pieces of one sequence: their sizes are no powers of two
        block = sequence.random(last - first + 1)
    return block[points - first]


def _saltelli(seed: int, columns: int, runs: np.ndarray) -> np.ndarray:
    """Points of a Saltelli design: for each pair of points A, B, then A with one coordinate of B for every draw."""
    point, kind = np.divmod(runs, columns + 2)
    both = _sobol(seed, 2 * columns, point)
    a, b = both[:, :columns], both[:, columns:]
    taken = np.where((kind == 1)[:, None], b, a)
    rows = np.flatnonzero(kind >= 2)
    taken[rows, kind[rows] - 2] = b[rows, kind[rows] - 2]
    return taken

"""Whether the target filter is as wrong as it says: normalised errors of many runs against the chi-square law."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import chi2, kstest

from support.tumbling_client import DEG, INERTIA, SPIN, Study, run_studies

SIZES = {"nees": 20, "motion_nees": 12, "nis": 6}  # degrees of freedom
# A principal spin shows two products of inertia, xy and yz, and neither a moment nor xz.
SHOWN, HIDDEN = [2, 4], [0, 1, 3]
# Believed: the body of inverse second moments, whose equations of Euler have the other sign.
_S = 0.5 * sum(INERTIA) - np.array(INERTIA)
TURNED_SIGN = tuple(1e5 * (np.sum(1.0 / _S) - 1.0 / _S))
# 20 deg and 0.5 deg/s wrong.
FAR_OFF = np.concatenate(
    [20 * DEG / np.sqrt(3) * np.ones(3), np.zeros(3), 0.5 * DEG * np.array([0.6, -0.8, 0.0]), np.zeros(11)]
)
STUDIES = {
    "right": Study(60),
    "a fifth of the noise": Study(20, told=0.2),
    "half the pictures": Study(40, dropout=0.5),
    "wrong sign": Study(20, believed_inertia=TURNED_SIGN),
    "far off": Study(20, angle_sigma=20 * DEG, errors=FAR_OFF),
    "sure and wrong": Study(20, angle_sigma=0.5 * DEG, errors=9.0 * FAR_OFF),
    "principal spin": Study(20, rate=SPIN, errors=np.zeros(20)),
    "badly known": Study(40, shape_sigma=0.1, shape_noise=0.005),
    "badly known, never forgotten": Study(20, shape_sigma=0.1),
}
Channels = dict[str, np.ndarray]


@pytest.fixture(scope="module")
def studies() -> dict[str, Channels]:
    """All of them as one batch, 60 s each, an instant kept every 10 s."""
    return dict(zip(STUDIES, run_studies(*STUDIES.values()), strict=True))


def interval(name: str, runs: int, outside: float = 0.01) -> np.ndarray:
    """In which the mean of so many normalised squares lies with 99 %."""
    return chi2.ppf([0.5 * outside, 1.0 - 0.5 * outside], SIZES[name] * runs) / runs


def require_chi_square(found: Channels, names: tuple[str, ...] = tuple(SIZES), outside: float = 0.01 / 6) -> None:
    """Means and, by Kolmogorov and Smirnov, whole distributions, at every instant but the first.

    Means must lie within 99 % for the six instants together.
    """
    for name in names:
        low, high = interval(name, len(found[name]), outside)
        means = found[name][:, 1:].mean(axis=0)
        assert np.all((low < means) & (means < high)), (name, means)
        shares = [kstest(column, chi2(SIZES[name]).cdf).pvalue for column in found[name][:, 1:].T]
        assert min(shares) > 0.001, (name, shares)  # of 6 instants


def share_within(found: Channels, name: str, since: int = 1) -> float:
    """Share of errors within three sigma."""
    return float(np.mean(np.abs(found[f"{name}_error"][:, since:]) < found[f"{name}_three_sigma"][:, since:]))


def length(found: Channels, name: str) -> np.ndarray:
    """Of an error vector (runs, instants)."""
    return np.linalg.norm(found[f"{name}_error"], axis=-1)


def test_errors_are_distributed_as_the_filter_says(studies: dict[str, Channels]) -> None:
    require_chi_square(studies["right"])


def test_it_survives_the_loss_of_half_the_pictures(studies: dict[str, Channels]) -> None:
    require_chi_square(studies["half the pictures"], ("motion_nees", "nis"))
    assert np.max(length(studies["half the pictures"], "rate")[:, -1]) < 0.2 * DEG


@pytest.mark.parametrize("name", ["a fifth of the noise", "wrong sign"])
def test_a_filter_that_is_told_wrong_things_fails(studies: dict[str, Channels], name: str) -> None:
    motion = studies[name]["motion_nees"]
    assert np.all(motion[:, 1:].mean(axis=0) > interval("motion_nees", len(motion))[1])
    assert studies[name]["nis"][:, 1:].mean() > interval("nis", len(motion))[1]


@pytest.mark.parametrize("name", ["far off", "sure and wrong"])
def test_it_converges_from_afar(studies: dict[str, Channels], name: str) -> None:
    # The second is 180 deg and 4.5 deg/s wrong, and sure of its attitude: it refuses pictures, then begins anew.
    found = studies[name]
    assert np.all(length(found, "angle")[:, 0] > 19.9 * DEG)
    assert np.max(length(found, "angle")[:, 2:]) < 1.0 * DEG
    assert np.max(length(found, "rate")[:, 3:]) < 0.2 * DEG
    assert np.max(length(found, "position")[:, 2:]) < 0.04  # [m]
    np.testing.assert_array_equal(found["condition"][:, -1] < 2.0, True)


def test_a_nutating_client_shows_its_inertia_ratios(studies: dict[str, Channels]) -> None:
    found = studies["right"]
    left = np.mean(found["shape_three_sigma"][:, -1] / found["shape_three_sigma"][:, 0], axis=0)
    assert np.all(left < 0.7), left  # of all five
    assert left[1] < 0.2, left
    assert share_within(found, "shape") > 0.99


def test_a_principal_spin_hides_them_and_the_filter_says_so(studies: dict[str, Channels]) -> None:
    sigmas = studies["principal spin"]["shape_three_sigma"]
    assert np.all(sigmas[:, -1, HIDDEN] > 0.97 * sigmas[:, 0, HIDDEN])
    assert np.all(sigmas[:, -1, SHOWN] < 0.2 * sigmas[:, 0, SHOWN])
    com = studies["principal spin"]["com_three_sigma"]  # along the spin it cannot be told from the client's place
    assert np.all(com[:, -1, 1] > 0.9 * com[:, 0, 1])
    assert np.all(com[:, -1, [0, 2]] < 0.1 * com[:, 0, [0, 2]])


def test_badly_known_inertia_must_be_forgotten(studies: dict[str, Channels]) -> None:
    kept, never = studies["badly known"], studies["badly known, never forgotten"]
    # A linear filter is too sure of what it learnt while its derivatives were wrong.
    assert np.mean(never["nees"][:, -1]) > 2.0 * SIZES["nees"]
    assert np.all(kept["nees"][:, 1:].mean(axis=0) < 1.25 * SIZES["nees"])
    assert np.all(kept["motion_nees"][:, 1:].mean(axis=0) < interval("motion_nees", 40)[1])
    assert share_within(kept, "shape") > 0.98


@pytest.mark.slow
def test_200_seeds() -> None:
    names = ("right", "a fifth of the noise", "half the pictures", "wrong sign")
    many = [dataclasses.replace(STUDIES[name], runs=200) for name in names]
    found = dict(zip(names, run_studies(*many), strict=True))
    require_chi_square(found["right"], outside=0.01)  # each instant by itself
    require_chi_square(found["half the pictures"], ("motion_nees", "nis"))
    for name in ("a fifth of the noise", "wrong sign"):
        with pytest.raises(AssertionError):
            require_chi_square(found[name])

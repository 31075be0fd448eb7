"""Intervals must cover: of many repeated campaigns of a problem with a closed form, 95 in 100 contain the truth."""

import numpy as np
import pytest
from scipy import stats

from freefloat.campaign import statistics
from freefloat.campaign.designs import shares
from freefloat.campaign.distributions import Normal
from freefloat.campaign.random_words import uniforms

REPEATED = 4000  # campaigns; their count scatters by 0.33 %, so that 2 % are six of these
# The speed of a pushed body is FORCE * TIME / mass: below a limit exactly when the mass is above one.
IMPULSE, MASS = 8.0, Normal(100.0, 10.0)  # [N s], [kg]


def speeds(seed: int, runs: int) -> np.ndarray:
    return IMPULSE / MASS.value(uniforms(seed, np.arange(runs), 1)[:, 0])


@pytest.mark.parametrize("probability", [0.1, 0.3, 0.5, 0.9])
def test_probabilities_are_covered_as_often_as_promised(probability):
    runs, limit = 1000, IMPULSE / float(MASS.value(np.array([1.0 - probability]))[0])
    inside, known = 0, {}
    for seed in range(REPEATED):
        hits = int((speeds(seed, runs) <= limit).sum())
        found = known[hits] = known.get(hits) or statistics.probability(hits, runs)
        inside += found.low <= probability <= found.high
    assert 0.93 * REPEATED <= inside <= 0.97 * REPEATED


def test_the_exact_coverage_lies_between_95_and_97_percent_for_a_thousand_runs_and_more():
    for runs in (1000, 3000, 10_000):
        hits = np.arange(runs + 1)
        ends = stats.beta.ppf([[0.025], [0.975]], [hits, hits + 1], [runs - hits + 1, runs - hits])
        low, high = np.nan_to_num(ends[0], nan=0.0), np.nan_to_num(ends[1], nan=1.0)
        for truth in np.linspace(0.1, 0.9, 33):
            covered = stats.binom.pmf(hits, runs, truth)[(low <= truth) & (truth <= high)].sum()
            assert 0.95 <= covered <= 0.97


@pytest.mark.parametrize("share", [0.05, 0.5, 0.99])
def test_quantiles_are_covered_as_often_as_promised(share):
    truth, inside = IMPULSE / float(MASS.value(np.array([1.0 - share]))[0]), 0
    for seed in range(1000):
        found = statistics.quantile(speeds(seed, 1000), share)
        inside += found.low <= truth <= found.high
    # Exactly, by the binomial: 95.8, 95.4 and, where it has few steps, 97.6 %. A thousand scatter by 0.65 %: four.
    exact = {0.05: 0.958, 0.5: 0.954, 0.99: 0.976}[share]
    assert inside == pytest.approx(1000 * exact, abs=26)


def test_bounds_are_infinite_where_runs_are_too_few():
    found = statistics.quantile(np.arange(10.0), 0.99)
    assert found.high == np.inf
    assert found.value == 9.0


def test_the_median_of_a_thousand_lies_between_the_469th_and_the_532nd():
    assert statistics.quantile(np.arange(1.0, 1001.0), 0.5) == (500.0, 469.0, 532.0)  # tables of order statistics


def test_probabilities_of_none_and_all():
    assert statistics.probability(0, 100).low == 0.0
    assert statistics.probability(0, 100).high == pytest.approx(1.0 - 0.025**0.01)
    assert statistics.probability(100, 100) == (1.0, pytest.approx(0.025**0.01), 1.0)


def test_rank_correlation_agrees_with_scipy_and_knows_monotone_functions():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 500))
    assert statistics.rank_correlation(x, y + x).value == pytest.approx(stats.spearmanr(x, y + x).statistic)
    value, low, high = statistics.rank_correlation(x, y)
    # Fisher's transformation is straight near zero; 2 %: its curvature at these bounds.
    assert high - low == pytest.approx(2.0 * 1.96 * 1.03 / np.sqrt(497.0) * (1.0 - value**2), rel=0.02)
    assert statistics.rank_correlation(x, np.exp(x)).value == pytest.approx(1.0)
    assert np.isnan(statistics.rank_correlation(x, np.ones(500)).value)


def test_sobol_indices_of_the_ishigami_function():
    """Ishigami and Homma (1990), a = 7, b = 0.1: indices in closed form; the third acts only with the first."""
    points, draws = 4096, 3
    x = np.pi * (2.0 * shares("saltelli", 2, points * (draws + 2), np.arange(points * (draws + 2)), draws) - 1.0)
    y = np.sin(x[:, 0]) + 7.0 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])
    a, b = 7.0, 0.1
    parts = 0.5 * (1 + b * np.pi**4 / 5) ** 2, a**2 / 8, b**2 * np.pi**8 * 8 / 225
    variance = sum(parts)
    first, total = np.array([parts[0], parts[1], 0.0]) / variance, np.array([parts[0] + parts[2], parts[1], parts[2]])
    found = statistics.sobol_indices(y, draws)
    # Sobol points converge faster than random ones: of 4096, 1/sqrt(n) = 0.016 is a cautious bound.
    np.testing.assert_allclose([one.first.value for one in found], first, atol=0.016)
    np.testing.assert_allclose([one.total.value for one in found], total / variance, atol=0.016)


def test_convergence_ends_with_all_runs():
    hits = np.arange(100) % 4 == 0
    found = statistics.convergence(hits)
    assert [n for n, _ in found] == [16, 32, 64, 100]
    assert found[-1][1] == statistics.probability(25, 100)

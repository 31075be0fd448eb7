"""Fewer samples, the same picture."""

import numpy as np
import pytest

from freefloat.report.decimation import decimated_indices


@pytest.mark.parametrize("samples", [1, 7, 999, 1000, 1001, 54_321])
def test_every_peak_of_every_component_stays(samples: int, rng: np.random.Generator) -> None:
    values = rng.standard_normal((samples, 3))
    rows = decimated_indices(values, 400)
    assert np.all(np.diff(rows) > 0)
    assert (rows[0], rows[-1]) == (0, samples - 1)
    assert np.array_equal(values[rows].max(axis=0), values.max(axis=0))
    assert np.array_equal(values[rows].min(axis=0), values.min(axis=0))
    assert len(rows) <= max(2 * 400, 10)  # buckets are whole, so a little more than asked for


def test_one_sample_in_a_million_is_seen() -> None:
    values = np.zeros((1_000_000, 1))
    values[654_321] = -5.0
    assert 654_321 in decimated_indices(values, 500)


@pytest.mark.parametrize("size", [3.0, -3.0])
def test_a_peak_in_the_last_bucket_that_is_not_full_stays(size: float) -> None:
    """1003 samples in 133 buckets of 8: the last has three, and the peak is neither the first nor the last of them."""
    values = np.zeros((1003, 1))
    values[1001] = size
    assert 1001 in decimated_indices(values, 400)


def test_a_gap_stays_a_gap() -> None:
    values = np.sin(np.linspace(0.0, 9.0, 100_000))[:, None]
    values[40_000:40_003] = np.nan
    rows = decimated_indices(values, 500)
    assert np.isnan(values[rows]).any()


def test_nothing_but_gaps() -> None:
    assert len(decimated_indices(np.full((10_000, 2), np.nan), 100)) <= 200

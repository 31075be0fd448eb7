"""Exact bounds of a rate, from the binomial distribution itself."""

import pytest
from scipy.stats import binom

from freefloat.values.rates import Rate


@pytest.mark.parametrize(("k", "n"), [(0, 5), (1, 5), (5, 5), (9, 10), (50, 100), (100, 100)])
def test_bounds_leave_half_of_the_rest_on_each_side(k, n) -> None:
    """At the lower bound k or more successes have 2.5 %, at the upper bound k or fewer."""
    lower, upper = Rate(k, n).bounds(0.95)
    assert lower <= k / n <= upper
    if k:
        assert binom.sf(k - 1, n, lower) == pytest.approx(0.025, rel=1e-9)
    if k < n:
        assert binom.cdf(k, n, upper) == pytest.approx(0.025, rel=1e-9)
    assert (lower == 0.0, upper == 1.0) == (k == 0, k == n)


def test_a_rate_in_words() -> None:
    assert str(Rate.of([True] * 100)) == "100 of 100 (96.4 to 100 %)"
    with pytest.raises(ValueError, match="0 to n successes"):
        Rate(3, 2)

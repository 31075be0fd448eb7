"""Claims: what holds, at the edge and beside it."""

import math

import pytest

from freefloat.values.claims import Claim, Source

PRINTED = Source("printed", "a table")


def claim(relation: str, ours: float, tolerance: float | None = None, reference: float = 200.0) -> Claim:
    return Claim("a number", relation, reference, ours, "m", PRINTED, tolerance)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("relation", "tolerance", "inside", "outside"),
    [
        ("about", 0.5, (199.5, 200.5), (199.49, 200.51)),  # metres
        ("within", 0.01, (198.0, 202.0), (197.9, 202.1)),  # a hundredth of the reference
        ("below", None, (199.9, -1e9), (200.0, 200.1)),
        ("above", None, (200.1, 1e9), (200.0, 199.9)),
    ],
)
def test_a_claim_holds_up_to_its_tolerance_and_no_further(relation, tolerance, inside, outside):
    assert all(claim(relation, ours, tolerance).holds is True for ours in inside)
    assert all(claim(relation, ours, tolerance).holds is False for ours in outside)
    assert claim(relation, math.nan, tolerance).holds is False


def test_a_tolerance_that_is_a_share_is_one_of_the_size_of_the_reference():
    assert claim("within", -198.0, 0.01, reference=-200.0).holds
    assert not claim("within", -197.0, 0.01, reference=-200.0).holds


def test_what_is_not_reproduced_neither_holds_nor_fails():
    assert claim("not reproduced", 7.0).holds is None
    with pytest.raises(ValueError, match="compares by 'about' and needs a tolerance"):
        _ = claim("about", 7.0).holds

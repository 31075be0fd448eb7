"""Verdicts as records: decisions, margins, order, reasons, and the way through a file."""

import dataclasses
import json
import math

import pytest

from freefloat.values.verdicts import UNCHOSEN, Criterion, Signature, Verdict, digest_of


def criterion(value, limit=10.0, relation="at most", *, name="way", required=True):
    return Criterion(name, relation, limit, value, "mm", "It stays near.", f"It went {value}.", required)


@pytest.mark.parametrize(
    ("one", "decision", "margin", "stops"),
    [
        (criterion(4.0), "go", 0.6, False),
        (criterion(10.0), "go", 0.0, False),
        (criterion(12.0), "no-go", -0.2, True),
        (criterion(12.0, relation="at least"), "go", 0.2, False),
        (criterion(9.0, relation="at least"), "no-go", -0.1, True),
        (criterion(-4.0, limit=-2.0), "go", 1.0, False),
        (criterion(math.nan), "no-go", None, True),  # never within a limit
        (criterion(math.inf), "no-go", -math.inf, True),
        (criterion(1.0, limit=0.0), "no-go", None, True),
        (criterion(None), "not judged", None, True),
        (criterion(None, required=False), "not judged", None, False),
    ],
)
def test_a_value_is_judged_by_its_limit(one, decision, margin, stops) -> None:
    assert (one.decision, one.stops) == (decision, stops)
    if margin is None:
        assert one.margin_share is None or math.isnan(one.margin_share)
    else:
        assert one.margin_share == pytest.approx(margin)


def test_the_verdict_is_that_of_its_worst_criterion() -> None:
    good, near, idle = (
        criterion(1.0, name="good"),
        criterion(9.0, name="near"),
        criterion(None, required=False, name="idle"),
    )
    verdict = Verdict("Mine", (good, idle, near))
    assert verdict.go
    assert verdict.headline == (
        "GO: all 2 criteria that could be judged are met, 1 was not judged. Nearest to its limit: near, 10 % left."
    )
    assert [one.name for one in verdict.by_margin] == ["near", "good", "idle"]
    for stopper in (criterion(11.0, name="bad"), criterion(None, name="bad")):
        stopped = Verdict("Mine", (good, stopper, near, stopper))
        assert not stopped.go
        unknown = ", 2 were not judged" if stopper.value is None else ""
        assert stopped.headline == f"NO-GO: 2 of 4 criteria stand against it{unknown}."
        assert stopped.reasons(1) == [f"bad: {stopper.reason}", "and 1 more"]
        assert stopped.by_margin[0].name == "bad"
    assert not Verdict("Mine", ()).go  # nobody judged anything


def test_words_of_limit_and_value() -> None:
    assert (criterion(4.25).statement, criterion(4.25).value_text) == ("at most 10 mm", "4.25 mm")
    assert criterion(None).value_text == "–"
    assert Criterion("n", "at least", 2.0, 3.0, "1", "m", "r").statement == "at least 2"


def test_it_goes_through_a_file_and_back() -> None:
    made = Verdict(
        "Mine", (criterion(math.inf), criterion(math.nan), criterion(None)), Signature({"a": "1"}, {"b": "2"}, "do it")
    )
    text = json.dumps(made.as_dict(), allow_nan=False)  # what is not finite is a word
    back = Verdict.from_dict(json.loads(text))
    assert back.signature == made.signature
    assert [repr(one) for one in back.criteria] == [repr(one) for one in made.criteria]
    with pytest.raises(KeyError):
        Verdict.from_dict({"title": "Mine"})


def test_signatures_tell_what_was_judged_from_what_made_it() -> None:
    then = Signature({"jax": "1", "numpy": "2"}, {"run.nc": "a", "code": "b", "gone": "c"})
    now = Signature({"jax": "1", "numpy": "3"}, {"run.nc": "x", "code": "y"})
    assert then.changed_inputs(now) == ("run.nc", "gone")
    assert then.changed_programs(now) == ("numpy", "code")
    assert then.changed_inputs(then) == then.changed_programs(then) == ()
    assert digest_of({"a": 1, "b": [2]}) == digest_of({"b": [2], "a": 1}) != digest_of({"a": 1, "b": [3]})


@pytest.mark.parametrize(
    ("value", "limit", "relation", "unit", "text"),
    [
        (4.0, 10.0, "at most", "mm", "60 % left"),
        (12.0, 10.0, "at most", "mm", "20 % beyond"),
        (1630.0, 10.0, "at most", "mm", "163 times the limit"),
        (-37.5, 10.0, "at least", "%", "47.5 percentage points short"),
        (58.0, 10.0, "at least", "%", "48 percentage points to spare"),
        (0.0, 0.0, "at most", "1", "met"),
        (2.0, 0.0, "at most", "1", "2 beyond"),
        (None, 1.0, "at most", "mm", "–"),
        (math.nan, 1.0, "at most", "mm", "no number"),
    ],
)
def test_margins_are_as_people_read_them(value, limit, relation, unit, text) -> None:
    assert Criterion("n", relation, limit, value, unit, "m", "r").margin_text == text


def test_a_value_keeps_to_its_limit_by_two_deviations() -> None:
    sure = dataclasses.replace(criterion(9.0), uncertainty=0.4)
    unsure = dataclasses.replace(criterion(9.0), uncertainty=0.6)
    low = dataclasses.replace(criterion(11.0, relation="at least"), uncertainty=0.6)
    assert [one.decision for one in (sure, unsure, low)] == ["go", "no-go", "no-go"]
    assert sure.value_text == "9 ± 0.8 mm"


def test_what_tests_the_simulation_alone_is_not_counted_and_still_stops() -> None:
    apart = dataclasses.replace(criterion(1.0, name="mass"), simulation_only=True)
    verdict = Verdict("Mine", (criterion(1.0), apart))
    assert verdict.headline.startswith("GO: all 1 criteria that could be judged are met. 1 that test the simulation")
    wrong = dataclasses.replace(apart, value=12.0)
    assert not Verdict("Mine", (criterion(1.0), wrong)).go


def test_limits_that_nobody_chose_are_named() -> None:
    verdict = Verdict("Mine", (dataclasses.replace(criterion(1.0), limit_from=UNCHOSEN), criterion(2.0, name="other")))
    assert verdict.unchosen_limits == ("way",)

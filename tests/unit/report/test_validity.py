"""A value that nobody may use is not drawn: samples that are not valid are gaps of a plot, and the plot says so."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.control.target_filter import CONDITIONS, TargetFilter
from freefloat.model.part_kinds import Measurements, Truth
from freefloat.report.contents import contents
from freefloat.report.figures import curve
from freefloat.report.payload import ArrayStore
from freefloat.report.sections import Sheet
from freefloat.report.validity import valid_samples
from freefloat.sim import Run
from freefloat.sim.record.description import Figure
from freefloat.values.arrays import Numeric
from freefloat.values.channels import NOT_SEEN_YET, Channel, flag
from freefloat.values.labelled import LabelledArrays
from support.recorded import made_up

T = np.arange(10) * 0.1  # [s]
WORDS: dict[str, object] = {"flags": list(CONDITIONS)}
BEFORE = 3  # samples before the first picture


def _run(**channels: tuple[np.ndarray, Mapping[str, object]]) -> Run:
    """A run with these channels, each of values and attributes; `__` in a name stands for a dot."""
    arrays = {
        name.replace("__", "."): (("time", "xyz")[: values.ndim], values, {"units": "m", **attributes})
        for name, (values, attributes) in channels.items()
    }
    recorded = LabelledArrays(arrays, {"time": ("time", T, {"units": "s"}), "xyz": list("xyz")})
    return dataclasses.replace(made_up(2, 1), recorded=recorded)


def _estimate() -> np.ndarray:
    """Errors of 2 mm, after the default of -1100 mm before the first picture."""
    errors = np.full((10, 3), 0.002)  # [m]
    errors[:BEFORE] = -1.1
    return errors


def test_an_estimate_before_its_first_picture_is_a_gap_and_does_not_set_the_scale() -> None:
    condition = np.where(T[BEFORE] - 1e-9 > T, 1.0, 0.0)
    run = _run(chaser__target__position_error=(_estimate(), {}), chaser__target__condition=(condition, WORDS))
    drawn = curve(run, Figure("chaser.target.position_error"))
    assert drawn.unit == "mm"
    assert np.isnan(drawn.values[:BEFORE]).all()
    np.testing.assert_allclose(drawn.values[BEFORE:], 2.0)
    assert (drawn.invalid, drawn.faults) == (BEFORE, 0)
    assert drawn.left_out == "3 samples are not valid: left out"
    assert np.isfinite(curve(run, Figure("chaser.target.condition")).values).all()


def test_without_a_condition_that_says_so_every_sample_is_drawn() -> None:
    """Negative control: neither a lost target, a condition of other software nor none at all leaves out a sample."""
    lost = np.full(10, float(CONDITIONS.index("lost")))
    runs = (
        _run(target__position_error=(_estimate(), {})),
        _run(target__position_error=(_estimate(), {}), target__condition=(lost, WORDS)),
        _run(target__position_error=(_estimate(), {}), other__condition=(np.ones(10), WORDS)),
        _run(target__position_error=(_estimate(), {}), target__condition=(np.ones(10), {"flags": ["fine", "slow"]})),
    )
    for run in runs:
        drawn = curve(run, Figure("target.position_error"))
        assert (drawn.unit, drawn.invalid, drawn.left_out) == ("m", 0, "")
        assert np.isfinite(drawn.values).all()


def test_a_channel_called_valid_speaks_for_those_with_its_prefix() -> None:
    valid = np.array([0, 1, 1, 0, 1, 1, 1, 1, 1, 1], dtype=float)
    run = _run(pilot__way=(T, {}), pilot__valid=(valid, {}), pilot__deep__way=(T, {}), way=(T, {}))
    assert valid_samples(run, "pilot.way").tolist() == (valid == 1.0).tolist()
    for name in ("pilot.valid", "pilot.deep.way", "way"):
        assert valid_samples(run, name).all(), name
    assert curve(run, Figure("pilot.way")).left_out == "2 samples are not valid: left out"


def test_samples_that_are_not_finite_are_counted_apart() -> None:
    values = T.copy()
    values[[0, 5]] = np.nan
    valid = np.ones(10)
    valid[0] = 0.0
    drawn = curve(_run(pilot__way=(values, {}), pilot__valid=(valid, {})), Figure("pilot.way"))
    assert (drawn.invalid, drawn.faults) == (1, 1)
    assert drawn.left_out == "1 sample is not valid: left out"


def test_a_channel_that_is_never_valid_makes_a_page_all_the_same(tmp_path: Path) -> None:
    run = _run(pilot__way=(T, {}), pilot__valid=(np.zeros(10), {}))
    assert curve(run, Figure("pilot.way")).invalid == 10
    assert ff.page(run, tmp_path / "page.html").exists()


def test_the_filter_says_it_in_these_words() -> None:
    """The page knows the filter by its recorded channels only, so that files from elsewhere are read alike."""
    assert NOT_SEEN_YET in CONDITIONS
    names = [channel.name for channel in TargetFilter.channels(None)]  # pyright: ignore[reportArgumentType]
    assert {name.rpartition(".")[0] for name in names} == {"target"}
    assert "target.condition" in names


def test_the_contents_of_a_page_say_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    headers: list[dict[str, object]] = []
    monkeypatch.setattr(ArrayStore, "packed_text", lambda self, header: headers.append(header) or "")
    contents([Sheet("", _run(pilot__way=(T, {}), pilot__valid=((T > 0.05) * 1.0, {})))])
    (run,) = headers[0]["runs"]  # pyright: ignore[reportGeneralTypeIssues]
    told = {channel["name"]: channel["leftOut"] for channel in run["channels"]}
    assert told == {"pilot.way": "1 sample is not valid: left out", "pilot.valid": ""}


@ff.record
class Pilot(ff.Software[None]):
    """Software that knows its way after half a second only."""

    def channels(self) -> tuple[Channel, ...]:
        return (
            Channel("pilot.way", "Way to go", "m"),
            flag("pilot.condition", "Pilot", ("knows", NOT_SEEN_YET)),
        )

    def observe(self, memory: None, y: Measurements, clock: ff.Clock, truth: Truth) -> tuple[Numeric, ...]:
        known = clock.t >= 0.5 - 1e-9
        return jnp.where(known, 0.004, -1.1), jnp.where(known, 0.0, 1.0)


def test_software_of_ones_own_uses_the_same_words() -> None:
    hub = ff.Spacecraft.from_base("hub", mass=10.0, inertia=(1.0, 1.0, 1.0))
    run = ff.simulate(hub, Pilot(), duration=1.0, dt=0.1)
    drawn = curve(run, Figure("pilot.way"))
    assert (drawn.unit, drawn.invalid) == ("mm", 5)
    np.testing.assert_allclose(drawn.values[5:], 4.0)

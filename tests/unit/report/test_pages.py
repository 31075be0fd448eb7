"""The page as text: self-contained, escaped, deterministic, small. What it does in a browser: tests/browser."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import freefloat as ff
from freefloat.model.shapes import Box, Shape
from freefloat.report import compare, page
from freefloat.report.markup import element, text
from freefloat.report.units import display_unit
from freefloat.sim import Run
from support.recorded import made_up


def test_it_refers_to_nothing_outside(gjm_file: Path, tmp_path: Path) -> None:
    words = page(gjm_file, tmp_path / "page.html").read_text()
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:|//|file:)", words)
    assert "default-src 'none'" in words
    assert "unsafe-eval" not in words.split("</head>")[0]
    assert len(words) < 1.5e6


def test_the_same_run_makes_the_same_page(gjm_file: Path, tmp_path: Path) -> None:
    first, second = (page(gjm_file, tmp_path / name).read_bytes() for name in ("a.html", "b.html"))
    assert first == second


def test_a_run_writes_its_page_and_names_it(gjm_folder: Path) -> None:
    assert (gjm_folder / "page.html").stat().st_size > 100_000


def test_a_run_that_failed_says_so_first(gjm_run: Run, tmp_path: Path) -> None:
    entry = dataclasses.replace(gjm_run.audit.entries[0], value=1.0)
    bad = dataclasses.replace(gjm_run, audit=dataclasses.replace(gjm_run.audit, entries=(entry,)), status="stopped")
    words = page(bad, tmp_path / "page.html").read_text()
    assert "do not trust it" in words
    assert "It did not finish: stopped." in words


def test_comparing_needs_two(gjm_file: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least two runs"):
        compare([gjm_file], tmp_path / "page.html")


def test_markup_escapes_what_it_is_given() -> None:
    assert element("p", "<b>", title='"x"') == '<p title="&quot;x&quot;">&lt;b&gt;</p>'
    assert text(element("b", "&")) == "<b>&amp;</b>"


@pytest.mark.parametrize(
    ("unit", "largest", "wanted", "shown", "factor"),
    [
        ("rad", 1.0, "", "deg", 180.0 / np.pi),
        ("rad/s", 1.0, "", "deg/s", 180.0 / np.pi),
        ("m", 0.01, "", "mm", 1e3),
        ("m", 5.0, "", "m", 1.0),
        ("m", 5.0, "mm", "mm", 1e3),
        ("rad, m", 1.0, "", "rad, m", 1.0),
        ("N m", 0.01, "mm", "N m", 1.0),
    ],
)
def test_units_that_people_read(unit: str, largest: float, wanted: str, shown: str, factor: float) -> None:
    assert display_unit(unit, largest, wanted) == (shown, pytest.approx(factor))


def test_a_thousand_channels_stay_below_the_limit(tmp_path: Path) -> None:
    assert page(made_up(2000, 1000), tmp_path / "page.html").stat().st_size < 6e6


def test_pictures_that_are_guesses_are_named_beside_the_scene(tmp_path: Path) -> None:
    plain = ff.Spacecraft.from_base("probe", mass=10.0, inertia=(1.0, 1.0, 1.0))
    shown = plain.with_shapes("base", Shape(Box((1.0, 1.0, 1.0))))
    words = {}
    for name, craft in (("guessed", plain), ("given", shown)):
        run = ff.simulate(craft, duration=0.2, dt=0.1)
        words[name] = page(run, tmp_path / f"{name}.html").read_text()
    assert "because no shapes were given: base." in words["guessed"]
    assert "no shapes were given" not in words["given"]

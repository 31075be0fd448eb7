"""What `print`, `repr` and notebooks show of experiments, runs, audits and linear models."""

import html
import re

import pytest

import freefloat as ff
from freefloat.analysis import linearise
from freefloat.control.lqr import StateSpace
from freefloat.report.notebook import MOST_BYTES
from freefloat.sim.audit.audit import Audit, AuditEntry


@pytest.fixture(scope="module")
def experiment():
    craft = ff.library.ets7()
    software = ff.ResolvedMotion(craft, ff.Line(direction=(1, 0, 0), length=0.02, speed=0.01), frame="hand")
    return ff.Experiment.of(craft, software, joints_deg=(0, 0, 10, -32.8, 0, 0), duration=3.0, dt=0.1)


@pytest.fixture(scope="module")
def run(experiment):
    return ff.simulate(experiment)


def test_an_experiment_shows_steps_parts_start_and_spacecraft(experiment):
    lines = str(experiment).splitlines()
    assert lines[:3] == [
        "Experiment with ets7: 3 s, steps of 0.1 s, rk4",
        "part: ResolvedMotion",
        "start of ets7: joints 0, 0, 10, -32.8, 0, 0 deg",
    ]
    assert lines[3:] == str(experiment.world.crafts[0]).splitlines()
    assert repr(experiment) == "<Experiment with ets7: 3 s, steps of 0.1 s, rk4>"


def test_nothing_shows_an_array(experiment, run):
    model = linearise(experiment)
    shown = (experiment, run, run.audit, run.accuracy, model, StateSpace(model.A, model.B))
    for text in (form(thing) for thing in shown for form in (repr, str)):
        assert "array(" not in text
        assert len(text.splitlines()) <= 40
        assert len(text) < 4000
    assert all(len(repr(thing).splitlines()) == 1 for thing in shown)


def test_linear_models_list_their_names(experiment):
    model = linearise(experiment)
    assert str(model).splitlines()[2].startswith("12 inputs: base.force.x, base.force.y, base.force.z, base.torque.x")


def test_an_audit_says_in_one_line_what_is_violated():
    entries = [AuditEntry(f"balance {k}", "at most", 1.0, 2.0 * (k == 60), "N s", 0.5) for k in range(70)]
    audit = Audit(tuple(entries), "rk4")
    assert repr(audit) == "<Audit: 69 of 70 balances hold; VIOLATED: balance 60>"
    lines = str(audit).splitlines()
    assert len(lines) <= 40
    assert "balance 60" in lines[0], "what does not hold comes first where not all are shown"


def test_a_run_in_a_notebook_is_its_page_without_a_network(run):
    shown = run._repr_html_()
    assert len(shown.encode()) < MOST_BYTES
    assert shown.startswith("<iframe")
    assert 'sandbox="allow-scripts"' in shown
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', shown)[1])
    assert page.startswith("<!doctype html>")
    assert "default-src 'none'" in page
    assert not re.search(r'(?:src|href)="https?:', page)


def test_a_long_run_fits_into_a_notebook_too(experiment):
    long = ff.simulate(experiment.world.crafts[0], duration=30.0, record_dt=0.01)
    assert len(long._repr_html_().encode()) < MOST_BYTES
    assert long._repr_html_().startswith("<iframe")


def test_a_page_that_is_too_large_is_text_with_a_remedy(run, monkeypatch):
    monkeypatch.setattr("freefloat.report.notebook.MOST_BYTES", 1000)
    assert "ff.page(run, &quot;run.html&quot;)" in run._repr_html_()


def test_a_channel_is_plotted_in_one_line(run, tmp_path):
    plot = run.plot("hand.position", "joints.rate")
    assert repr(plot) == "<Plot of hand.position, joints.rate: save it by .save('plot.png')>"
    picture, size = plot._repr_png_()
    assert picture.startswith(b"\x89PNG")
    assert size["width"] == 715
    assert plot.save(tmp_path / "hand.svg").read_text().startswith("<?xml")
    with pytest.raises(ValueError, match=r"png, svg, pdf, not 'hand.txt'"):
        plot.save(tmp_path / "hand.txt")


def test_an_unknown_channel_is_answered_by_the_likely_one(run):
    with pytest.raises(ValueError, match=r"'hand.positon' to draw. Did you mean 'hand.position'"):
        run.plot("hand.positon")
    with pytest.raises(KeyError, match=r"no channel 'base.rol_pitch_yaw'. Did you mean 'base.roll_pitch_yaw'"):
        run["base.rol_pitch_yaw"]
    with pytest.raises(KeyError, match=r"Did you mean 'hand.position_error'"):
        run["position_error"]

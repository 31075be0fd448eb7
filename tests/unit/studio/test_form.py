"""The form says what is wrong beside the field, and gives the scenario that was meant."""

from typing import Any

import pytest

pytest.importorskip("viser", reason="viser is not installed")

from freefloat.scenarios import find
from freefloat.scenarios.settings import settings_of
from freefloat.studio.form import Form
from freefloat.studio.panels import deadlines, lights


class _Handle:
    def __init__(self, value: Any = "", visible: bool = True) -> None:
        self.value, self.content, self.visible = value, value, visible

    def on_update(self, _: Any) -> None:
        pass


class _Gui:
    """Stands in for the viewer's panel."""

    def __init__(self) -> None:
        self.fields: dict[str, _Handle] = {}
        self.notes: list[_Handle] = []

    def add_text(self, label: str, value: str, hint: str | None = None) -> _Handle:
        self.fields[label] = _Handle(value)
        return self.fields[label]

    def add_html(self, content: str, visible: bool = True) -> _Handle:
        self.notes.append(_Handle(content, visible))
        return self.notes[-1]


@pytest.fixture
def gui() -> _Gui:
    return _Gui()


@pytest.fixture
def form(gui: _Gui) -> Form:
    server = type("Server", (), {"gui": gui})()
    return Form(server, find("ets7-gjm").variants()["nominal"])


def _shown(gui: _Gui) -> list[str]:
    return [note.content for note in gui.notes if note.visible]


def test_untouched_it_gives_the_nominal_scenario(form: Form) -> None:
    assert form.scenario() == find("ets7-gjm").variants()["nominal"]


def test_fields_carry_units(form: Form, gui: _Gui) -> None:
    assert {"duration [s]", "path.speed [m/s]", "joints_deg [deg]", "sample_rate_hz [Hz]"} <= set(gui.fields)


def test_changes_arrive(form: Form, gui: _Gui) -> None:
    gui.fields["sample_rate_hz [Hz]"].value = "4"
    gui.fields["joints_deg [deg]"].value = "1, 2, 3, 4, 5, 6"
    made = form.scenario()
    assert made is not None
    assert made.as_dict()["sample_rate_hz"] == 4.0
    assert made.as_dict()["joints_deg"] == (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("duration [s]", "-1", "must be &gt; 0 s"),
        ("duration [s]", "", "may not be empty"),
        ("dt [s]", "soon", "is not a number"),
        ("joints_deg [deg]", "1, 2", "must be given"),
        ("path.length [m]", "<script>alert(1)</script>", "&lt;script&gt;"),
    ],
)
def test_what_is_wrong_is_said_once_beside_the_field(form: Form, gui: _Gui, field: str, value: str, words: str) -> None:
    gui.fields[field].value = value
    assert form.scenario() is None
    (shown,) = _shown(gui)
    assert words in shown
    assert "<script>" not in shown


def test_settings_have_ranges() -> None:
    found = {s.path: s for s in settings_of(find("ets7-gjm").variants()["nominal"])}
    assert found["path.length"].range == "> 0"
    assert found["sample_rate_hz"].optional


def test_deadlines_and_lights_are_words_too() -> None:
    assert "worst 150.0 ms of 3 frames" in deadlines([0.0, 0.002, 0.15])
    assert "No frame yet" in deadlines([])
    assert 'title="bad"' in lights({"robot <1>": "bad"})
    assert "robot &lt;1&gt;" in lights({"robot <1>": "bad"})

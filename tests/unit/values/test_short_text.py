"""One-line texts of values, and names that a user probably meant."""

import dataclasses

import numpy as np
import pytest

from freefloat.values.errors import unknown_name
from freefloat.values.short_text import TextDisplay, cut, names_line, number_text, record_text, short_text
from freefloat.values.suggestions import close_names, did_you_mean


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.2, "0.3"),
        (np.float64(2.5), "2.5"),
        (np.zeros(3), "(0, 0, 0)"),
        (np.zeros((2, 50)), "<2x50 numbers>"),
        (np.array(4), "4"),
        ({"a": 1.0}, "{a: 1}"),
        (tuple(range(9)), "(0, 1, 2, … 9 in all)"),
        (len, "len"),
        (dict, "dict"),
        ("x" * 200, cut(repr("x" * 200), 120)),
    ],
)
def test_values_take_one_line(value, text):
    assert short_text(value) == text


def test_fields_at_their_defaults_are_left_out():
    @dataclasses.dataclass
    class Gain:
        name: str
        value: float = 1.0
        axis: tuple = (0, 0, 1)

    assert record_text(Gain("pitch")) == "Gain(name='pitch')"
    assert record_text(Gain("pitch", 2.0, (1, 0, 0))) == "Gain(name='pitch', value=2, axis=(1, 0, 0))"
    assert number_text("free") == "'free'", "what is no number is shown as it is"


def test_many_names_are_counted():
    assert names_line("state", "abc", 2) == "3 states: a, b, …"
    assert names_line("input", ()) == "0 inputs"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("rol_pitch_yaw", "base.roll_pitch_yaw"), ("pilot.way", "servicer.pilot.way"), ("4hz", "sampled-4hz")],
)
def test_names_with_another_prefix_or_a_wrong_letter_are_found(wrong, right):
    assert right in close_names(wrong, ["base.roll_pitch_yaw", "servicer.pilot.way", "sampled-4hz", "hand.force"])


def test_nothing_is_suggested_where_nothing_is_like_it():
    assert did_you_mean("qqqq", ["hand", "base"]) == ""
    assert did_you_mean(3, ["hand"]) == ""
    assert did_you_mean("Hand", ["hand", "base"]) == " Did you mean 'hand'?"
    assert did_you_mean("han", ["hand", "hans"]) == " Did you mean 'hans' or 'hand'?"


@pytest.mark.parametrize(
    ("kind", "name", "known", "said"),
    [
        ("frame", "hnd", ("base", "hand"), "has no frame 'hnd'. Frames: base, hand. Did you mean 'hand'?"),
        ("body", "Arm", ("base", "arm"), "has no body 'Arm'. Bodies: base, arm. Did you mean 'arm'?"),
        ("wheel", "x", ("wheel.x", "wheel.y"), "has no wheel 'x'. Wheels: wheel.x, wheel.y. Did you mean 'wheel.x'?"),
        ("joint", "gripper", ("base", "arm"), "has no joint 'gripper'. Joints: base, arm."),
        ("joint", "elbow", (), "has no joint 'elbow'. Joints: none."),
    ],
)
def test_an_unknown_name_lists_the_known_ones_and_the_likely_one(kind, name, known, said):
    assert str(unknown_name("probe", kind, name, iter(known))) == f"Spacecraft 'probe' {said}"


class Thing(TextDisplay):
    def __repr__(self):
        return "<Thing>"

    def __str__(self):
        return "Thing\n  of <two> lines"


class Printer:
    """What IPython gives to `_repr_pretty_`: where text goes, and the objects that are being shown."""

    def __init__(self, *stack):
        self.stack, self.shown = list(stack), ""

    def text(self, words):
        self.shown += words


@pytest.mark.parametrize(
    ("stack", "cycle", "shown"),
    [((1,), False, str(Thing())), ((), False, str(Thing())), ((1, 2), False, "<Thing>"), ((1,), True, "<Thing>")],
)
def test_ipython_shows_the_text_at_the_end_of_a_line_and_one_line_inside_of_a_list(stack, cycle, shown):
    printer = Printer(*stack)
    Thing()._repr_pretty_(printer, cycle)
    assert printer.shown == shown


def test_a_notebook_shows_the_text_and_no_markup_of_it():
    assert "Thing\n  of &lt;two&gt; lines</pre>" in Thing()._repr_html_()

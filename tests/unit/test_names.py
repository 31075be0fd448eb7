"""Names and docstrings that a reader would have to guess do not come back: the numbers may only go down."""

from pathlib import Path

from support.name_counts import (
    bare_names,
    classes_of_two_meanings,
    fragments,
    loops_over_one,
    names_of_laws,
    states_called_loops,
)

BARE_NAMES = 40  # protocol methods such as `tell`, and adjectives such as `completed`


def test_functions_and_classes_have_names_that_say_what_they_are() -> None:
    found = bare_names()
    assert len(found) <= BARE_NAMES, "\n".join(found)


def test_docstrings_can_be_read_without_the_name() -> None:
    assert fragments() == []


def test_loop_variables_are_the_nouns_they_hold() -> None:
    assert loops_over_one() == []


def test_a_class_name_has_one_meaning() -> None:
    """A node of a graph, and a node of a flexible body, are what their fields call them."""
    assert set(classes_of_two_meanings()) == {"Node"}


def test_what_commands_a_spacecraft_is_software() -> None:
    """The laws that are left are mathematics: of the normal force in contact, and of motion."""
    assert names_of_laws() == {
        "effects/contact/compliant_contact.py": ["NormalLaw", "law"],
        "effects/contact/contact_pair.py": ["NormalLaw", "law"],
        "effects/contact/normal_laws.py": ["NormalLaw", "normal_laws"],
        "sim/audit/audit.py": ["law"],
    }


def test_the_state_of_a_system_is_called_its_state() -> None:
    assert states_called_loops() == []


def test_the_counters_see_what_they_count(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        'class Told:\n    """Of a run."""\n\n\n'
        'def felt(parts):\n    """The same."""\n    return [one for one in parts]\n'
    )
    (tmp_path / "b.py").write_text("class _Told:\n    pass\n\n\ndef measured_wrench(): ...\n")
    (tmp_path / "rate_law.py").write_text("class MyLaw:\n    flaws = 0\n\n    def fly(self, law_of_arm): ...\n")
    (tmp_path / "c.py").write_text("def go(loop: SystemState):\n    system, loop = experiment.begin()\n")
    assert len(states_called_loops(tmp_path)) == 2
    (tmp_path / "c.py").unlink()
    assert bare_names(tmp_path) == ["a.py: Told", "a.py: felt", "b.py: _Told"]
    assert [line.split(": ", 1)[1] for line in fragments(tmp_path)] == ["Told: Of a run.", "felt: The same."]
    assert loops_over_one(tmp_path) == ["a.py:7"]
    assert classes_of_two_meanings(tmp_path) == {"Told": ["a.py", "b.py"]}
    assert names_of_laws(tmp_path) == {"rate_law.py": ["MyLaw", "law_of_arm", "rate_law"]}

"""The page of a rehearsal reports the delay that was observed and what is left of it, not what the facility states."""

import pytest

from freefloat.hil.delayed_contact import critical_delay
from freefloat.hil.judging.delays import held_mass
from support.judged_rehearsals import DAMPING, STIFFNESS, contact_rehearsal, jointed_cell, rehearsed


class UnstatedCell(type(jointed_cell())):
    """A cell that is late and states no delay."""

    def __init__(self, *given, **options):
        super().__init__(*given, **options)
        self._late, self.delay = self.delay, 0.0

    def start(self, commands):
        self.delay = self._late
        try:
            return super().start(commands)
        finally:
            self.delay = 0.0


def delay_table(evidence):
    """Values of the page's table on delays, by what they are."""
    table = next(table for table in evidence.run.description.tables if table.title == "Delay")
    return {what: value for _, what, value in table.rows}


def number(text):
    return float(text.split()[0])


def test_margins_are_those_of_the_observed_delay() -> None:
    """8 ms that nobody stated: all of it is left, and the margin is the critical delay less 8 ms."""
    like = jointed_cell()
    cell = UnstatedCell(like.robots, like._wrench, delay=8e-3)
    evidence = rehearsed(contact_rehearsal(), cell)
    told, mass = delay_table(evidence), held_mass(evidence.rehearsal, evidence.rehearsal.touching)
    critical = 1e3 * critical_delay(mass, STIFFNESS, DAMPING)
    assert number(told["delay of the robots"]) == pytest.approx(8.0, abs=0.1)
    for what in ("margin with what is made up for", "margin, if nothing were made up for"):
        assert number(told[what]) == pytest.approx(critical - 8.0, abs=0.1)
    assert number(told["elastic restitution, if nothing were made up for"]) > 1.05


def test_what_is_made_up_for_is_in_the_margin() -> None:
    """8 ms stated and made up for: nothing but the sampling is left."""
    told = delay_table(rehearsed(contact_rehearsal(), jointed_cell(delay=8e-3)))
    critical = number(told["critical delay"])
    assert number(told["margin with what is made up for"]) == pytest.approx(critical, abs=0.2)
    assert number(told["margin, if nothing were made up for"]) == pytest.approx(critical - 8.0, abs=0.2)

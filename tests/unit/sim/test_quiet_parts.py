"""Colours and shapes that a run does not read are not in the key of its code. What it reads is, and acts."""

import dataclasses
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat import engine
from freefloat.engine.runtime import lookup
from freefloat.model.shapes import Box, Shape
from freefloat.values import quiet, record
from freefloat.values.quiet_fields import SealedValue

HUB = ff.Spacecraft.from_base("hub", mass=8.0, inertia=(2.0, 3.0, 4.0))  # [kg], [kg m2]


@pytest.fixture(autouse=True)
def _own_folder(own_cache):
    return own_cache


def hub(side=1.0, colour="bus"):
    return HUB.with_shapes("base", Shape(Box((side, 1.0, 1.0)), colour=colour))


def simulated(craft, *parts, **options):
    return ff.simulate(craft, *parts, duration=1.0, dt=0.25, **options)


def same_bits(one, other):
    assert set(one.recorded) == set(other.recorded)
    return all(np.array_equal(one[name].values, other[name].values) for name in one.recorded)


def test_colour_and_shape_compile_nothing_and_are_shown(traces):
    first = simulated(hub())
    made = len(traces)
    for forget in (False, True):
        for craft in (hub(colour="panel"), hub(side=2.0), HUB):
            if forget:
                lookup.forget()
            run = simulated(craft)
            assert len(traces) == made
            assert same_bits(run, first)
    shown = simulated(hub(2.0, "#102030")).scene["bodies"][0]["shapes"][0]
    assert (shown["colour"], shown["size"]) == ("#102030", (2.0, 1.0, 1.0))


def test_titles_of_an_experiment_compile_nothing_and_are_its_own(traces):
    experiment = ff.Experiment.of(hub(), duration=1.0, dt=0.25)
    ff.simulate(dataclasses.replace(experiment, scenario={"title": "old"}))
    made = len(traces)
    run = ff.simulate(dataclasses.replace(experiment, scenario={"title": "new"}))
    assert len(traces) == made
    assert run.scenario["title"] == "new"


IN_A_PROCESS = """
import freefloat as ff
from freefloat.engine.jaxprs import tracing
from freefloat.model.shapes import Box, Shape
def refuse(*args, **options): raise AssertionError("traced")
if {known}: tracing.trace_with_result = refuse
craft = ff.Spacecraft.from_base("hub", mass=8.0, inertia=(2.0, 3.0, 4.0))
craft = craft.with_shapes("base", Shape(Box(({side}, 1.0, 1.0)), colour="{colour}"))
run = ff.simulate(craft, duration=1.0, dt=0.25)
print(run.scene["bodies"][0]["shapes"][0]["colour"])
"""


def test_a_new_process_finds_it_too():
    for known, side, colour in ((False, 1.0, "bus"), (True, 2.0, "panel")):
        code = IN_A_PROCESS.format(known=known, side=side, colour=colour)
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert told.stdout.strip() == colour


# ---- what reads shapes


def test_a_clearance_reads_shapes_but_no_colours(traces):
    other = ff.Spacecraft.from_base("other", mass=1.0, inertia=(1.0, 1.0, 1.0))
    other = other.with_shapes("base", Shape.ball((0.0, 0.0, 0.0), 0.5))
    away = dataclasses.replace(other.at_rest(), p_NB=np.array([5.0, 0.0, 0.0]))

    def run(craft):
        world = ff.World(hub=craft, other=other)
        return simulated(world, ff.Clearance(), state={"other": away})

    def gap(found):
        return float(found["clearance"].values[-1].squeeze())

    first = run(hub())
    made = len(traces)
    recoloured = run(hub(colour="panel"))
    assert len(traces) == made
    assert same_bits(first, recoloured)
    assert gap(run(hub(2.0))) == pytest.approx(gap(first) - 0.5)
    assert len(traces) > made


@ff.record
class Push(ff.Software):
    """Pushes by what the body looks like."""

    by_colour: bool = ff.static(default=False)
    craft: ff.Spacecraft = dataclasses.field(default_factory=hub)

    def command(self, memory, y, clock):
        shape = self.craft.bodies[0].shapes[0]
        size = len(shape.colour) if self.by_colour else shape.solid.size[0]
        return ff.BaseWrench(size * np.eye(6)[0])


@ff.record
class Damp(ff.Software):
    """Brakes the measured rate, noise included."""

    gyro: str = ff.static()

    def command(self, memory, y, clock):
        return ff.BaseWrench(jnp.concatenate([jnp.zeros(3), -y[f"{self.gyro}.base.rate"]]))


def speed(by_colour, look):
    return float(simulated(HUB, Push(by_colour, look))["base.velocity"].values[-1, 0])


def test_software_that_reads_a_shape_or_a_colour_gives_its_new_answer(traces):
    assert speed(False, hub(1.0)) == pytest.approx(1.0 / 8.0)
    made = len(traces)
    assert speed(False, hub(1.0, "panel")) == pytest.approx(1.0 / 8.0)
    assert len(traces) == made
    assert speed(False, hub(3.0)) == pytest.approx(3.0 / 8.0)
    assert len(traces) > made
    assert speed(True, hub(1.0, "bus")) == pytest.approx(3.0 / 8.0)
    assert speed(True, hub(1.0, "antenna")) == pytest.approx(7.0 / 8.0)
    lookup.forget()
    assert speed(True, hub(1.0, "bus")) == pytest.approx(3.0 / 8.0)


def test_the_name_of_a_sensor_is_in_the_key_for_it_chooses_the_noise():
    runs = [simulated(hub(), ff.sensors.Gyro(noise=0.1, name=name), Damp(name)) for name in ("one", "two", "one")]
    rates = [run["base.rate"].values for run in runs]
    assert not np.array_equal(rates[0], rates[1])
    assert np.array_equal(rates[0], rates[2])


# ---- ways to read, in functions of a record


@record
class Look:
    """A number, and how it looks."""

    number: float
    words: tuple = quiet(default=())


def answer(function, words):
    return engine.compile_varied(function, Look(2.5, words), 1.0)(1.0)


@jax.jit
def jitted(look, x):
    return x * look.number * len(look.words)


WAYS = {
    "field": lambda look, x: x * look.number * len(look.words),
    "replace": lambda look, x: x * look.number * len(dataclasses.replace(look, number=1.0).words),
    "put together by JAX": lambda look, x: x * jax.tree.map(lambda y: y * len(look.words), look).number,
    "vars": lambda look, x: x * look.number * len(vars(look)["words"].open()),
    "text": lambda look, x: x * look.number * str(look.words).count("'w'"),
    "jit": jitted,
    "equal": lambda look, x: x * look.number * sum(
        jax.tree.structure(look) == jax.tree.structure(Look(look.number, n * ("w",))) and n for n in range(4)
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_read_counts(way):
    for _ in range(2):
        for count in (1, 2, 3, 1):
            assert answer(WAYS[way], count * ("w",)) == 2.5 * count
            # Another function that finds the same answers of JAX in memory must hear of them too.
            assert answer(lambda look, x: 2.0 * WAYS[way](look, x), count * ("w",)) == 5.0 * count
        lookup.forget()


def test_what_is_only_passed_on_is_not_read(traces):
    for words in ((), ("w",), ("v", "w")):
        assert answer(lambda look, x: x * jax.tree.map(jnp.negative, look).number, words) == -2.5
    assert len(traces) == 1


def test_the_text_of_a_record_leaves_them_out(traces):
    for words in ((), ("w",), ("v", "w")):
        assert answer(lambda look, x: x * look.number * repr(look).count("w"), words) == 0.0
    assert len(traces) == 1


def test_a_result_has_its_own_words():
    for words in (("v",), ("w",)):
        assert answer(lambda look, x: look, words).words == words


def test_what_is_opened_may_depend_on_what_was_opened(traces):
    def function(pair, x):
        return x * (pair[0].number if pair[0].words else len(pair[1].words))

    def asked(first, second):
        return engine.compile_varied(function, (Look(2.5, first), Look(2.5, second)), 1.0)(1.0)

    assert asked(("w",), ()) == asked(("w",), ("w",)) == 2.5
    assert len(traces) == 1
    assert (asked((), ()), asked((), ("w",)), asked(("w",), ("w", "w"))) == (0.0, 1.0, 2.5)
    assert len(traces) == 3


def test_properties_of_a_spacecraft_open_nothing():
    """They are kept by the object, so that a second trace would not hear of what the first one opened."""
    opened, craft = [], hub()
    names = [name for name, value in vars(ff.Spacecraft).items() if type(value).__name__ == "cached_property"]
    with SealedValue.listen(opened.append):
        for name in names:
            getattr(craft, name)
    assert names
    assert opened == []

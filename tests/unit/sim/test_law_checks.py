"""Laws that cannot act are refused by name, with a remedy, before anything is simulated."""

import math
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.values import record
from freefloat.values.channels import Channel

CRAFT = ff.Spacecraft.from_base("hub", mass=10.0, inertia=(1.0, 1.0, 1.0)).with_link(
    "rod", parent="base", joint="revolute", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.5, 0.0, 0.0)
)
NV = 7


class Push:
    """A force law whose body a test chooses. A plain class will do."""

    def __init__(self, body=lambda state, t: jnp.zeros(NV)):
        self.body = body

    def begin(self, state):
        return self

    def force(self, state, t, hold):
        return self.body(state, t)


def refusal(law, **options) -> str:
    with pytest.raises(ff.LawError) as caught:
        ff.simulate(CRAFT, law, duration=0.1, **options)
    return str(caught.value)


# ---- traced values


def assigns_numpy(state, t):
    force = np.zeros(NV)
    force[6] = state.q[0]
    return force


def assigns_jax(state, t):
    force = jnp.zeros(NV)
    force[6] = state.q[0]
    return force


TRACED = {
    "numpy": (lambda state, t: np.sin(state.q[0]) * np.ones(NV), "Use jax.numpy in place of numpy"),
    "array": (lambda state, t: np.array([state.q[0]] * NV), "Use jax.numpy in place of numpy"),
    "if": (lambda state, t: jnp.ones(NV) if state.q[0] > 0.0 else jnp.zeros(NV), "Use jnp.where in place of if"),
    "max": (lambda state, t: max(state.q[0], 0.0) * jnp.ones(NV), "jnp.maximum in place of max"),
    "float": (lambda state, t: float(t) * jnp.ones(NV), "makes a Python number of a traced value"),
    "math": (lambda state, t: math.sin(t) * jnp.ones(NV), "makes a Python number of a traced value"),
    "mask": (lambda state, t: state.v[state.v > 0.0], "Use jnp.where in place of x[mask]"),
    "index": (lambda state, t: [1.0, 2.0][t.astype(int)] * jnp.ones(NV), "Index a jnp array"),
    "into numpy": (assigns_numpy, "jnp.zeros(n).at[place].set(value)"),
    "in place": (assigns_jax, "x = x.at[place].set(value)"),
}


@pytest.mark.parametrize("engine", ["native", "jax"])
@pytest.mark.parametrize("name", TRACED)
def test_a_slip_with_traced_values_names_the_law_the_line_and_the_remedy(name, engine):
    body, remedy = TRACED[name]
    said = refusal(Push(body), engine=engine)
    assert said.startswith(f"Push.force (test_law_checks.py:{body.__code__.co_firstlineno}") or name in (
        "into numpy",
        "in place",
    )
    assert "test_law_checks.py:" in said
    assert remedy in said


def test_the_error_of_jax_is_kept_as_the_cause():
    with pytest.raises(ff.LawError) as caught:
        ff.simulate(CRAFT, Push(TRACED["numpy"][0]), duration=0.1)
    assert "Tracer" in type(caught.value.__cause__).__name__


def test_other_errors_of_a_law_pass_as_they_are():
    with pytest.raises(ZeroDivisionError):
        ff.simulate(CRAFT, Push(lambda state, t: 1.0 / 0.0), duration=0.1)


# ---- what a law must be


class NoReturn(Push):
    def begin(self, state):
        pass


class FewArguments(Push):
    def force(self, state, t):
        return jnp.zeros(NV)


class Forgetful(Push):
    def memory(self):
        return jnp.zeros(())


class Aimless:
    def begin(self, state):
        return self

    def rates(self, motion, t, hold):
        return jnp.zeros(1)


class Called(Aimless):
    def joints(self):
        return ("rod",)


class Impure(Push):
    total = 0.0

    def __init__(self):
        self.total = 0.0

    def force(self, state, t, hold):
        self.total = self.total + 1.0
        return jnp.zeros(NV)


@pytest.mark.parametrize(
    ("law", "said"),
    [
        (Push, "Push is a class, not a law. Give an instance of it: Push(...)."),
        (NoReturn(), "NoReturn.begin must return the law that will run, got None. End it with `return self`."),
        (ff.Sampled(law=NoReturn(), period=0.01), "NoReturn.begin must return the law"),
        (FewArguments(), "FewArguments.force must take (self, state, t, hold)."),
        (Forgetful(), "Forgetful has `memory` but no `remember` and no `recall`"),
        (Aimless(), "Aimless is not a law: it has `rates` but no `joints`."),
        (Called(), "Called.joints must be a tuple of names (a field or a property)"),
        (Impure(), "Impure.force changes the law's own total"),
    ],
)
def test_what_is_no_law_says_what_it_lacks(law, said):
    assert said in refusal(law)


@pytest.mark.parametrize(
    ("law", "names"),
    [
        (Push, {"Push": "Wave"}),
        (NoReturn(), {"NoReturn": "Wave"}),
        (Aimless(), {"Aimless": "Wave"}),
        (
            Push(lambda state, t: jnp.zeros(1)),
            {"Push": "JointSpring", "7 numbers (base, rod)": "8 numbers (base, wheel, rod)"},
        ),
    ],
)
def test_the_page_about_laws_shows_the_real_messages(law, names):
    said = refusal(law).replace("`", "")
    for ours, theirs in names.items():
        said = said.replace(ours, theirs)
    assert f"| `{said}` |" in (Path(__file__).parents[3] / "docs" / "laws.md").read_text(encoding="utf-8")


def test_a_fixed_joint_cannot_be_moved():
    @record
    class Mover:
        joints: tuple = ff.static(default=("plate",))

        def begin(self, state):
            return self

        def rates(self, motion, t, hold):
            return jnp.zeros(1)

    craft = CRAFT.with_link("plate", parent="base", joint="fixed", mass=1.0, inertia=(0.1, 0.1, 0.1))
    with pytest.raises(ff.ModelError, match="Mover cannot move joint 'plate' of spacecraft 'hub': it is fixed"):
        ff.simulate(craft, Mover(), duration=0.1)


# ---- memory


@record
class Remembers:
    first: object = 0.0
    then: object = ff.static(default=lambda memory, t: memory)

    def begin(self, state):
        return self

    def memory(self):
        return self.first

    def sample(self, memory, state, t, hold):
        new = self.then(memory, t)
        return (new, jnp.zeros(NV)) if new is not None else jnp.zeros(NV)


@pytest.mark.parametrize(
    ("first", "then", "said"),
    [
        (
            0,
            lambda m, t: m + 0.5,
            "from int64[] to float64[]. Let `memory` begin with what it will be: 0.0 instead of 0",
        ),
        (np.zeros(2), lambda m, t: jnp.zeros(3), "from float64[2] to float64[3]"),
        ({"a": np.zeros(2)}, lambda m, t: {"a": jnp.zeros(())}, "changes its memory['a'] from float64[2] to float64[]"),
        ({"a": 0.0}, lambda m, t: {"b": 0.0}, "must return memory nested as `memory` made it"),
        ("much", lambda m, t: m, "Remembers.memory must return numbers or arrays of them"),
        (0.0, lambda m, t: None, "Remembers.sample must return two things, its new memory and the force"),
    ],
)
def test_memory_keeps_its_kind(first, then, said):
    assert said in refusal(ff.Sampled(law=Remembers(first, then), period=0.01))


# ---- channels


@record
class Tells:
    channel: Channel = ff.static()
    value: object = ff.static()

    def begin(self, state):
        return self

    def force(self, state, t, hold):
        return jnp.zeros(NV)

    def channels(self):
        return (self.channel,)

    def observe(self, craft, state, t):
        return self.value


@pytest.mark.parametrize(
    ("channel", "value", "said"),
    [
        (Channel("mine", "Mine", "1"), (), "Tells.observe must return 1 values, one for each channel, got 0"),
        (Channel("mine", "Mine", "1"), (np.zeros(3),), "must return shape () for the channel 'mine', got (3,)"),
        (Channel("base.rate", "Mine", "1"), (0.0,), "Two channels are called 'base.rate'"),
        (Channel("mine", "Mine", "1", "", "xyz", ("a", "b")), (np.zeros(2),), "Give it an axis of its own"),
    ],
)
def test_channels_that_hide_others_are_refused_before_the_run(channel, value, said):
    assert said in refusal(Tells(channel, value))


def test_two_laws_must_not_tell_the_same():
    law = Tells(Channel("mine", "Mine", "1"), (0.0,))
    with pytest.raises(ff.LawError, match="Two channels are called 'mine'"):
        ff.simulate(CRAFT, law, law, duration=0.1)

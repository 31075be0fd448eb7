"""Records whose numbers are inputs of compiled code."""

import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine
from freefloat.engine.runtime import lookup
from freefloat.engine.varied import Template, compile_varied
from freefloat.values import record, static


@record
class Spring:
    """Numbers and a name."""

    stiffness: float
    table: np.ndarray
    count: int = 3
    kind: str = static("soft")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FREEFLOAT_CACHE", str(tmp_path / "cache"))
    lookup.forget()


def test_a_template_and_its_numbers_are_the_tree():
    tree = Spring(2.5, np.array([[0.0, 1.0, -1.0], [0.5, np.inf, np.nan]]))
    template = Template(tree)
    np.testing.assert_array_equal(template.numbers, [2.5, 0.5])
    filled = template.with_numbers(template.numbers)
    np.testing.assert_array_equal(filled.table, tree.table)
    assert (filled.stiffness, filled.count, filled.kind) == (2.5, 3, "soft")
    other = template.with_numbers(np.array([4.0, 7.0]))
    assert other.stiffness == 4.0
    assert other.table[1, 0] == 7.0


def test_leaves_can_be_chosen():
    tree = Spring(2.5, np.full(3, 0.5))
    template = Template(tree, varies=lambda path: path[0].name == "table")
    np.testing.assert_array_equal(template.numbers, [0.5] * 3)
    assert template.with_numbers(np.arange(3.0)).stiffness == 2.5


def force(spring, x):
    return spring.stiffness * x + spring.count * jnp.sum(spring.table)


def test_numbers_are_inputs_and_structure_is_not():
    def compiled(*values, **options):
        return compile_varied(force, Spring(*values, **options), 1.0)

    first = compiled(2.5, np.array([0.5, 0.0]))
    for other in (compiled(3.5, np.array([0.25, 0.0])), compiled(-7.0, np.array([2.0, 0.0]))):
        assert other.compiled is first.compiled
    for different in (
        compiled(1.0, np.array([0.5, 0.0])),
        compiled(2.5, np.array([0.5, 0.5])),
        compiled(2.5, np.array([0.5, -0.0])),
        compiled(2.5, np.array([0.5, 0.0]), count=4),
        compiled(2.5, np.array([0.5, 0.0]), kind="hard"),
        compiled(2.5, np.array([0.5, 0.0, 0.0])),
    ):
        assert different.compiled is not first.compiled
    assert first(2.0) == 2.5 * 2.0 + 3 * 0.5


@pytest.mark.parametrize("stiffness", [2.5, 0.0, 1.0, -1.0, np.pi])
def test_varied_is_baked_to_rounding(rng, stiffness):
    spring = Spring(stiffness, rng.normal(size=(3, 2)))
    baked = engine.compile(lambda x: force(spring, x), 1.0)
    varied = compile_varied(force, spring, 1.0)
    for x in rng.normal(size=5):
        # A sum of seven terms in another order.
        np.testing.assert_allclose(varied(x), baked(x), rtol=1e-14, atol=1e-14)
        assert varied(x) == varied(x)


def test_rollouts_and_batches_carry_the_numbers():
    def step(spring, x):
        return x + 0.1 * spring.stiffness

    program = compile_varied(step, Spring(2.5, np.zeros(1)), 1.0)
    assert program.rollout(0.0, steps=4).state == pytest.approx(1.0, rel=1e-15)
    np.testing.assert_allclose(program.batch(np.arange(3.0)), np.arange(3.0) + 0.25, rtol=1e-15)
    np.testing.assert_allclose(program.rollout_side_by_side(np.arange(3.0), steps=2), np.arange(3.0) + 0.5, rtol=1e-15)


@pytest.mark.parametrize(
    "needs",
    [
        lambda s, x: float(s.stiffness) * x,
        lambda s, x: np.sqrt(s.stiffness) ** 2 * x,
        lambda s, x: s.stiffness * x if s.stiffness > 0 else x,
        lambda s, x: jnp.sum(jnp.ones(int(s.stiffness))) * x + (s.stiffness - int(s.stiffness)) * x,
    ],
)
def test_code_that_needs_its_numbers_has_them_baked(needs):
    for _ in range(2):
        for stiffness in (2.5, 3.5):
            spring = Spring(stiffness, np.zeros(1))
            program = compile_varied(needs, spring, 1.0)
            assert program(2.0) == pytest.approx(2.0 * stiffness, rel=1e-15)
            assert program.numbers.size == 0
        lookup.forget()


def test_an_error_of_the_function_is_its_own():
    def wrong(spring, x):
        raise KeyError("nothing of the kind")

    with pytest.raises(KeyError, match="nothing of the kind"):
        compile_varied(wrong, Spring(2.5, np.zeros(1)), 1.0)

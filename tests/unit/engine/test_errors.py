"""What cannot be compiled says so: the primitive, the user's line, the remedy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine

X = np.zeros(4)


def line(function):
    """How an error names the line after a function's definition."""
    return rf"test_errors\.py:{function.__code__.co_firstlineno + 1} in {function.__name__}"


def test_singular_values():
    def singular(x):
        return jnp.linalg.svd(x.reshape(2, 2))[1]

    with pytest.raises(engine.UnsupportedError, match=rf"'svd'.*{line(singular)}.*normal equations"):
        engine.trace(singular, X)


def test_eigenvalues():
    def eigen(x):
        return jnp.linalg.eigvalsh(x.reshape(2, 2))

    with pytest.raises(engine.UnsupportedError, match=rf"'eigh'.*{line(eigen)}.*closed form"):
        engine.trace(eigen, X)


def test_unknown_primitive():
    def gamma(x):
        return jax.scipy.special.gammainc(1.5, x)

    with pytest.raises(engine.UnsupportedError, match=rf"'igamma'.*{line(gamma)}.*docs/engine\.md"):
        engine.trace(gamma, X)


def test_complex_numbers():
    def fourier(x):
        return jnp.fft.fft(x).real

    with pytest.raises(engine.PrecisionError, match=rf"complex128 at {line(fourier)}.*real and imaginary"):
        engine.trace(fourier, X)


def test_printing():
    def chatty(x):
        jax.debug.print("{x}", x=x)
        return x

    with pytest.raises(engine.UnsupportedError, match=rf"{line(chatty)}.*target='jax'"):
        engine.trace(chatty, X)


def test_the_recommended_target_runs_what_the_engine_refuses(capfd):
    def chatty(x):
        jax.debug.print("at {}", x[0])
        return jnp.linalg.svd(x.reshape(2, 2))[1].astype(jnp.float32)

    program = engine.compile(chatty, X, target="jax")
    np.testing.assert_array_equal(program(X), np.zeros(2))
    assert "at 0.0" in capfd.readouterr().out
    assert program.batch(np.zeros((3, 4))).shape == (3, 2)
    with pytest.raises(engine.EngineError, match=r"debug_print|float32"):  # whichever is met first
        _ = program.operations  # only this asks for a graph


def test_everything_public_is_listed():
    assert dir(engine) == sorted(engine.__all__)
    assert all(getattr(engine, name) for name in dir(engine))


def test_reduced_precision():
    def reduced(x):
        return jax.lax.reduce_precision(x, 8, 7)

    with pytest.raises(engine.UnsupportedError, match=rf"8 bits of exponent and 7 of mantissa at {line(reduced)}"):
        engine.trace(reduced, X)


def test_callback():
    def calls_back(x):
        return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((4,), float), x)

    with pytest.raises(engine.UnsupportedError, match=rf"'pure_callback'.*{line(calls_back)}.*target='jax'"):
        engine.trace(calls_back, X)


def test_shape_that_depends_on_data():
    def positive(x):
        return x[x > 0]

    with pytest.raises(engine.UnsupportedError, match=rf"{line(positive)}.*mask"):
        engine.trace(positive, X)


def test_python_branch_on_data():
    def branches(x):
        return x if x[0] > 0 else -x

    with pytest.raises(engine.UnsupportedError, match=rf"{line(branches)}.*lax\.cond"):
        engine.trace(branches, X)


def test_numpy_on_traced_values():
    def numeric(x):
        return np.sin(x)

    with pytest.raises(engine.UnsupportedError, match=rf"{line(numeric)}.*jax\.numpy in place of numpy"):
        engine.trace(numeric, X)


@pytest.mark.parametrize("steps", [-1, 1.5])
def test_steps_are_whole(steps):
    with pytest.raises(engine.SignatureError, match="steps must be a whole number"):
        engine.compile(lambda x: 2.0 * x, X).rollout(X, steps=steps)


def test_a_file_that_is_no_graph(tmp_path):
    (tmp_path / "junk").write_text("junk")
    with pytest.raises(engine.EngineError, match="is no graph that `save` wrote"):
        engine.load(tmp_path / "junk")


def test_single_precision_inside():
    def casts(x):
        return (x.astype(jnp.float32) * 2).astype(float)

    with pytest.raises(engine.PrecisionError, match=rf"float32 at {line(casts)}.*remove the cast"):
        engine.trace(casts, X)


def test_single_precision_argument():
    with pytest.raises(engine.PrecisionError, match=r"argument 0, leaf \['a'\] is float32.*float64"):
        engine.trace(lambda s: s["a"], {"a": np.zeros(2, np.float32)})


def test_short_integers():
    with pytest.raises(engine.PrecisionError, match=r"is int8.*int32"):
        engine.trace(lambda x: x, np.zeros(2, np.int8))


def test_double_precision_switched_off():
    with jax.enable_x64(False), pytest.raises(engine.PrecisionError, match="jax_enable_x64"):
        engine.trace(jnp.sin, X)


def test_large_pivoted_solve():
    def solves(x):
        return jnp.linalg.solve(x, x[0])

    with pytest.raises(engine.UnsupportedError, match=rf"LU of 30 rows at {line(solves)}.*Cholesky"):
        engine.trace(solves, np.eye(30))


def test_wrong_arguments():
    compiled = engine.compile(lambda s, u: s["x"] * u, {"x": X}, 1.0)
    with pytest.raises(engine.SignatureError, match=r"1 arguments given.*takes 2"):
        compiled({"x": X})
    with pytest.raises(engine.SignatureError, match="Argument 0 is nested as"):
        compiled({"y": X}, 1.0)
    with pytest.raises(engine.SignatureError, match=r"shape \(5,\); expected \(4,\)"):
        compiled({"x": np.zeros(5)}, 1.0)
    with pytest.raises(engine.SignatureError, match=r"Argument 1, leaf \., has shape \(3,\); expected \(2,\)"):
        compiled.batch({"x": np.zeros((2, 4))}, np.zeros(3))
    with pytest.raises(engine.SignatureError, match="in_axes"):
        compiled.batch({"x": X}, 1.0, in_axes=(1, None))
    with pytest.raises(engine.SignatureError, match="No argument has a batch axis"):
        compiled.batch({"x": X}, 1.0, in_axes=(None, None))


def test_only_steps_can_be_rolled_out():
    compiled = engine.compile(lambda x: x[:2], X)
    with pytest.raises(engine.SignatureError, match="rolled out"):
        compiled.rollout(X, steps=3)
    with pytest.raises(engine.SignatureError, match="rolled out"):
        compiled.rollout_batch(X[None], steps=3)


def test_unknown_target():
    with pytest.raises(engine.TargetError, match="Targets: native, jax, gpu, c"):
        engine.compile(jnp.sin, 1.0, target="fortran")


def test_no_source_text():
    with pytest.raises(AttributeError, match="'c' has"):
        _ = engine.compile(jnp.sin, 1.0).source


def test_a_float_is_not_rounded_to_an_integer_argument():
    halved = engine.compile(lambda x: x / 2, 1)
    with pytest.raises(engine.SignatureError, match=r"compiled for int64\. Give an example of the type you mean"):
        halved(3.7)
    assert engine.compile(lambda x: x / 2, 1.0)(3) == 1.5

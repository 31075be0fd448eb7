"""The generator against the published vectors and JAX's own Threefry, and its statistics."""

import jax.numpy as jnp
import numpy as np

from freefloat.sensors import normal, threefry, uniform
from support.compiling import compiled

# Salmon et al. (Random123, kat_vectors): threefry2x32, 20 rounds.
VECTORS = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


def _words(values):
    return tuple(np.asarray(v, np.uint32) for v in values)


def test_generator_gives_the_published_words() -> None:
    for key, counter, expected in VECTORS:
        assert tuple(int(w) for w in threefry(_words(key), _words(counter))) == expected


def test_native_code_draws_the_same_numbers() -> None:
    draw = compiled(lambda sample: normal(3, 1, 64, sample, 5))
    for sample in (0, 1, 12345):
        native = draw(np.asarray(sample, np.int32))
        plain = np.asarray(normal(3, 1, 64, jnp.asarray(sample, jnp.int32), 5))
        # log, sin and cos differ by a unit in the last place between the two libraries.
        np.testing.assert_allclose(native, plain, rtol=1e-12, atol=1e-14)


def test_numbers_are_standard_normal_and_independent() -> None:
    samples = np.arange(20000, dtype=np.int32)
    numbers = np.stack([np.asarray(row) for row in normal(7, 2, 0, jnp.asarray(samples), 3)])
    # Errors of mean, variance and correlation of n numbers are about 1/sqrt(n) = 0.007; four of them are permitted.
    assert np.all(np.abs(numbers.mean(axis=1)) < 0.03)
    assert np.all(np.abs(numbers.var(axis=1) - 1.0) < 0.04)
    assert np.all(np.abs(np.corrcoef(numbers) - np.eye(3)) < 0.03)


def test_every_part_of_the_key_matters_and_nothing_else() -> None:
    def first(*key: int) -> float:
        seed, run, stream, sample = key
        return float(uniform(seed, run, stream, jnp.asarray(sample))[0])

    base = (1, 2, 3, 4)
    assert first(*base) == first(*base)
    for k in range(4):
        other = [*base]
        other[k] += 1
        assert first(*other) != first(*base)

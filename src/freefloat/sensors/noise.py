"""Random numbers without hidden state: a counter-based generator, the same on every target.

Threefry 2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): 32-bit
additions, rotations and exclusive ors only. The key is (seed, run), the counter (stream, sample).
"""

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.values.arrays import Numeric

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)
DRAWS = 64  # pairs of numbers that one sensor may draw for one sample


def _rotate_bits(x: jax.Array, by: int) -> jax.Array:
    return (x << np.uint32(by)) | (x >> np.uint32(32 - by))


def threefry(key: tuple[Numeric, Numeric], counter: tuple[Numeric, Numeric]) -> tuple[jax.Array, jax.Array]:
    """Two random 32-bit words from a key and a counter of two words each."""
    words = [jnp.asarray(k).astype(jnp.uint32) for k in key]
    words.append(words[0] ^ words[1] ^ _PARITY)
    a, b = (jnp.asarray(c).astype(jnp.uint32) for c in counter)
    a, b = a + words[0], b + words[1]
    for block in range(5):
        for rotation in _ROTATIONS[block % 2]:
            a = a + b
            b = _rotate_bits(b, rotation) ^ a
        a = a + words[(block + 1) % 3]
        b = b + words[(block + 2) % 3] + np.uint32(block + 1)
    return a, b


def uniform(seed: Numeric | int, run: Numeric | int, stream: int, sample: Numeric) -> tuple[jax.Array, jax.Array]:
    """Two random numbers between 0 and 1, neither of them included."""
    a, b = threefry((jnp.asarray(seed), jnp.asarray(run)), (np.asarray(stream, np.uint32), sample))
    return (a.astype(jnp.float64) + 0.5) * 2.0**-32, (b.astype(jnp.float64) + 0.5) * 2.0**-32


def normal(seed: Numeric | int, run: Numeric | int, stream: int, sample: Numeric, count: int) -> jax.Array:
    """Independent random numbers of mean 0 and variance 1 (Box and Muller, 1958)."""
    numbers: list[jax.Array] = []
    for pair in range((count + 1) // 2):
        u, v = uniform(seed, run, stream + pair, sample)
        length, angle = jnp.sqrt(-2.0 * jnp.log(u)), 2.0 * jnp.pi * v
        numbers += [length * jnp.cos(angle), length * jnp.sin(angle)]
    return jnp.stack(numbers[:count])

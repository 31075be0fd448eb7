"""Functions of a 16-vector, one per idiom a user may write; every target is tested against plain JAX."""

import functools

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
from jax import lax

TABLE = np.arange(20.0) ** 2
GRID = np.arange(24.0).reshape(6, 4)


def spd(x):
    a = x.reshape(4, 4)
    return a @ a.T + 3 * jnp.eye(4)


def place(x, n=6):
    """An index that depends on the data, inside [0, n)."""
    return jnp.floor(jnp.abs(x) * 7).astype(jnp.int32) % n


@jax.custom_jvp
def cube(x):
    return x**3


@cube.defjvp
def _(p, t):
    return cube(p[0]), 3 * p[0] ** 2 * t[0]


@jax.custom_vjp
def twice(x):
    return 2 * x


twice.defvjp(lambda x: (twice(x), None), lambda _, g: (2 * g,))


def rk4(x):
    def slope(y):
        return jnp.roll(y, 1) * jnp.cos(y) - 0.1 * y

    def stage(carry, weights):
        y, total = carry
        k = slope(y)
        return (x + weights[0] * 0.1 * k, total + weights[1] * 0.1 * k), None

    weights = jnp.array([[0.5, 1 / 6], [0.5, 1 / 3], [1.0, 1 / 3], [0.0, 1 / 6]])
    return lax.scan(stage, (x, x), weights)[0][1]


def philox(counter, key):
    """Philox-4x32-10 in plain uint32 arithmetic (32x32 -> 64 by halves)."""

    def mulhilo(a, b):
        al, ah, bl, bh = a & 0xFFFF, a >> 16, b & 0xFFFF, b >> 16
        mid = al * bh + ((al * bl) >> 16)
        mid2 = ah * bl + (mid & 0xFFFF)
        return ah * bh + (mid >> 16) + (mid2 >> 16), a * b

    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        h0, l0 = mulhilo(jnp.uint32(0xD2511F53), c0)
        h1, l1 = mulhilo(jnp.uint32(0xCD9E8D57), c2)
        c0, c1, c2, c3 = h1 ^ c1 ^ k0, l1, h0 ^ c3 ^ k1, l0
        k0, k1 = k0 + jnp.uint32(0x9E3779B9), k1 + jnp.uint32(0xBB67AE85)
    return jnp.stack([c0, c1, c2, c3])


def seed_words(x):
    return jnp.floor(jnp.abs(x) * 1e6).astype(jnp.uint32)


def delay_line(x):
    """A ring buffer written and read at traced places."""

    def tick(carry, value):
        buffer, k = carry
        buffer = buffer.at[k % 5].set(value)
        return (buffer, k + 1), buffer[(k + 2) % 5]

    return lax.scan(tick, (jnp.zeros(5), jnp.int32(0)), x)[1]


def masked_matrix(x):
    a = x.reshape(4, 4)
    return jnp.where(a > 0, jnp.tril(a), jnp.triu(a, 1).T)


def root_search(x):
    """Where cos(z) = a z, by at most 40 halvings; the test and the body share an expression."""

    def width(search):
        return search[1] - search[0]

    def narrow(search):
        low, high, rounds = search
        middle = low + 0.5 * width(search)
        left = jnp.cos(middle) > jnp.abs(x) * middle
        return jnp.where(left, middle, low), jnp.where(left, high, middle), rounds + 1

    start = (jnp.zeros(()), jnp.full((), 1.6), jnp.int32(0))
    return lax.while_loop(lambda s: (s[2] < 40) & (width(s) > 1e-3 * jnp.abs(x)), narrow, start)


def rare_search(x):
    """A search inside a branch inside a branch."""

    def inner(a):
        return lax.cond(a[1] > 0, lambda z: root_search(z[2])[0] * z, lambda z: jnp.linalg.inv(spd(x))[0, 0] * z, a)

    return lax.cond(x[0] > 0, inner, lambda a: a, x)


def kept_operand(x):
    """Ways that hand an operand through, give the same number, or share an expression."""
    ways = lambda a: (a[0], 2.0, jnp.sin(a[1]) + 1, a[2]), lambda a: (a[0], 2.0, jnp.sin(a[1]), a[3])
    return jnp.stack(lax.cond(x[4] > 0, *ways, x))


IDIOMS = {
    # arithmetic and functions
    "arithmetic": lambda x: (x + 1) * x - x / (2 + x * x),
    "functions": lambda x: jnp.sin(x) + jnp.cos(x) * jnp.exp(x) - jnp.log(jnp.abs(x) + 0.1),
    "inverse_trig": lambda x: jnp.arctan2(x[:4], x[4:8]) + jnp.arcsin(0.3 * x[:4]) * jnp.arccos(0.3 * x[4:8]),
    "arctan": lambda x: jnp.arctan(x) + jnp.tan(0.5 * x),
    "hyperbolic": lambda x: jnp.tanh(x) + jnp.sinh(x) / jnp.cosh(x) + jnp.arctanh(0.1 * x),
    "libm": lambda x: jnp.expm1(x) + jnp.log1p(x * x) + jnp.cbrt(x) + jnp.arcsinh(x) + jax.scipy.special.erf(x),
    "powers": lambda x: jnp.abs(x) ** 1.5 + x**3 + x**-2 + jnp.abs(x) ** 0.3 + jnp.sqrt(jnp.abs(x)),
    "power_of_traced": lambda x: jnp.power(jnp.abs(x[:4]) + 0.1, x[4:8]),
    "norm": lambda x: x / jnp.linalg.norm(x) * lax.rsqrt(jnp.sum(x * x)),
    "rounding": lambda x: jnp.floor(x) + 10 * jnp.ceil(x) + 100 * jnp.round(x) + jnp.trunc(3 * x),
    "round_half": lambda x: lax.round(jnp.round(4 * x) / 2, lax.RoundingMethod.AWAY_FROM_ZERO),
    "mod": lambda x: jnp.mod(x, 0.1) + jnp.remainder(x, -0.7) + jnp.fmod(3 * x, 0.3),
    "floor_divide": lambda x: x // 0.1 + jnp.floor(x / 0.1),
    "sign_abs": lambda x: jnp.sign(x) * jnp.abs(x) + jnp.sign(jnp.zeros(16)),
    "extremes": lambda x: jnp.maximum(x, 0.2) + jnp.minimum(x, x[::-1]) + jnp.clip(x, -0.3, 0.3),
    "logistic": lambda x: jax.nn.sigmoid(x) + jax.nn.softplus(x) + jax.nn.relu(x),
    "softmax": lambda x: jax.nn.softmax(x) + jax.nn.logsumexp(x),
    "exp2": lambda x: jnp.exp2(x),
    "hypot": lambda x: jnp.hypot(x[:8], x[8:]),
    # selection and logic
    "where": lambda x: jnp.where((x > 0) & ~(x > 0.5) | (x < -1), x, -x),
    "nested_where": lambda x: jnp.where(x > 0, jnp.where(x > 0.5, 1.0, 2.0), jnp.where(x < -0.5, 3.0, x)),
    "comparisons": lambda x: (x >= 0) * 1.0 + (x <= 0.1) * 2.0 + (x == x[0]) * 4.0 + (x != x[1]) * 8.0,
    "logic": lambda x: jnp.logical_xor(x > 0, x > 0.3).astype(float) + jnp.all(x > -9) + jnp.any(x > 9),
    "select_n": lambda x: lax.select_n(place(x[:4], 3), x[:4], 2 * x[:4], 3 * x[:4]),
    "piecewise": lambda x: jnp.select([x < -0.5, x < 0.5], [x * 2, x * 3], x * 4),
    "is_finite": lambda x: jnp.isfinite(x / (x > 0)).astype(float) + jnp.isnan(jnp.sqrt(x)) * 2,
    "nan_to_num": lambda x: jnp.nan_to_num(jnp.sqrt(x), nan=7.0),
    "clamp": lambda x: lax.clamp(-0.2, x, 0.4),
    # shapes
    "slices": lambda x: jnp.concatenate([x[2:9:3], x[::-1][:4], x.reshape(4, 4)[1, 2:], x[-3:]]),
    "stack": lambda x: jnp.stack([x[:4], x[4:8]], axis=1).reshape(-1) + jnp.repeat(x[:4], 2) + jnp.tile(x[:4], 2),
    "transpose": lambda x: jnp.einsum("ijk,kl->jil", x.reshape(2, 2, 4), x.reshape(4, 4)).reshape(-1),
    "outer": lambda x: (jnp.outer(x[:4], x[4:8]) @ x[8:12]) + jnp.kron(x[:2], x[2:4]),
    "cross": lambda x: jnp.cross(x[:3], x[3:6]) + jnp.cross(x[:6].reshape(2, 3), x[6:12].reshape(2, 3)).sum(0),
    "block": lambda x: jnp.block([[x[:4].reshape(2, 2), jnp.zeros((2, 1))], [x[4:6][None], jnp.ones((1, 1))]]),
    "pad": lambda x: lax.pad(x[:6], 0.5, [(2, -1, 1)]) + lax.pad(x[:6], 0.5, [(-1, 2, 1)]),
    "triangles": masked_matrix,
    "roll": lambda x: jnp.roll(x.reshape(4, 4), 1, axis=1) + jnp.flip(x.reshape(4, 4), 0),
    "split": lambda x: sum(jnp.split(x, 4)),
    "unstack": lambda x: sum(k * part for k, part in enumerate(jnp.unstack(x.reshape(4, 4), axis=1))),
    "diagonals": lambda x: jnp.diag(x[:4]) + jnp.diag(jnp.diagonal(x.reshape(4, 4))) + jnp.trace(x.reshape(4, 4)),
    "meshgrid": lambda x: sum(jnp.meshgrid(x[:3], x[3:5])),
    "constant": lambda x: jnp.ones(3) * 2,
    "passthrough": lambda x: x,
    "empty": lambda x: jnp.concatenate([x[:0], x[:2]]),
    # indexing
    "constant_gather": lambda x: x[jnp.array([3, 1, 4])] + x.reshape(4, 4)[jnp.array([0, 1, 2]), jnp.array([1, 2, 3])],
    "constant_scatter": lambda x: x.at[jnp.array([1, 3])].set(0.0).at[2].add(x[5]).at[4].multiply(3.0),
    "scatter_duplicates": lambda x: jnp.zeros(4).at[jnp.array([0, 1, 0, 2])].add(x[:4]),
    "scatter_window": lambda x: x.reshape(4, 4).at[1:3, 2].set(x[:2]).at[:, 0].add(1.0),
    "scatter_extremes": lambda x: x.at[3].min(-0.1).at[5].max(0.9),
    "table": lambda x: jnp.asarray(TABLE)[place(x, 20)],
    "table_rows": lambda x: jnp.asarray(GRID)[place(x[0])] + jnp.asarray(GRID)[:, place(x[1], 4)][:4],
    "table_clamped": lambda x: jnp.asarray(TABLE)[(x[:4] * 100).astype(jnp.int32)],
    "take_fill": lambda x: jnp.nan_to_num(jnp.take(jnp.asarray(TABLE), (x[:4] * 30).astype(jnp.int32)), nan=-1.0),
    "take_clip": lambda x: jnp.take(x, (x[:4] * 30).astype(jnp.int32), mode="clip"),
    "computed_table": lambda x: jnp.sin(x)[place(x[:3], 16)],
    "dynamic_slice": lambda x: lax.dynamic_slice(x.reshape(4, 4), (place(x[0], 6), place(x[1], 3)), (2, 2)),
    "dynamic_update": lambda x: lax.dynamic_update_slice(x.reshape(4, 4), jnp.ones((2, 1)), (place(x[0]), place(x[1]))),
    "traced_set": lambda x: x.at[place(x[0], 16)].set(9.0).at[place(x[1], 16)].add(1.0) + x,
    "traced_set_outside": lambda x: x.at[(x[0] * 100).astype(jnp.int32)].set(9.0),
    "interp": lambda x: jnp.interp(x, np.linspace(-1, 1, 7), np.arange(7.0) ** 2),
    "vmapped_index": lambda x: jax.vmap(lambda row, k: row[k])(x.reshape(4, 4), place(x[:4], 4)),
    "vmapped_set": lambda x: jax.vmap(lambda row, k: row.at[k].add(2.0))(x.reshape(4, 4), place(x[:4], 4)),
    "take_along": lambda x: jnp.take_along_axis(x.reshape(4, 4), place(x, 4).reshape(4, 4), axis=1),
    "searchsorted": lambda x: jnp.searchsorted(np.linspace(-1, 1, 9), x[:4]),
    # reductions
    "sums": lambda x: jnp.stack([x.sum(), x.prod(), x.max(), x.min(), x.mean(), x.std()]),
    "axis_sums": lambda x: x.reshape(4, 4).sum(0) + x.reshape(4, 4).max(1) + x.reshape(2, 2, 4).mean((0, 1)),
    "cumulative": lambda x: jnp.cumsum(x) + jnp.cumprod(x) + lax.cummax(x) + lax.cummin(x, reverse=True),
    "cumsum_axis": lambda x: jnp.cumsum(x.reshape(4, 4), axis=1) + lax.cumsum(x.reshape(4, 4), 0, reverse=True),
    "argmax": lambda x: jnp.stack([x[jnp.argmax(x)], x[jnp.argmin(x)]]) + jnp.argmax(x.reshape(4, 4), axis=1)[:2],
    "sort": lambda x: jnp.sort(x) + jnp.argsort(x),
    "sort_axis": lambda x: jnp.sort(x.reshape(4, 4), axis=0),
    "median": lambda x: jnp.median(x[:5]),
    "diff": lambda x: jnp.diff(x) * jnp.diff(x, n=2)[0],
    "unwrap": lambda x: jnp.unwrap(5 * x),
    # linear algebra
    "cholesky": lambda x: jnp.linalg.cholesky(spd(x)),
    "cho_solve": lambda x: jsl.cho_solve(jsl.cho_factor(spd(x)), x[:4]),
    "triangular": lambda x: jsl.solve_triangular(spd(x), x[:4], lower=True, trans=1, unit_diagonal=True),
    "solve": lambda x: jnp.linalg.solve(x.reshape(4, 4), x[:4]),
    "solve_many": lambda x: jnp.linalg.solve(spd(x), x.reshape(4, 4)),
    "zero_pivot": lambda x: jnp.linalg.solve(x.reshape(4, 4).at[0, 0].set(0.0), x[:4]),
    "inverse": lambda x: jnp.linalg.inv(spd(x)),
    "determinant": lambda x: jnp.linalg.det(x.reshape(4, 4)),
    "expm": lambda x: jsl.expm(0.1 * x[:4].reshape(2, 2)),
    "batched_matmul": lambda x: jnp.matmul(x.reshape(4, 2, 2), x[::-1].reshape(4, 2, 2)),
    "batched_cholesky": lambda x: jnp.linalg.cholesky(jnp.stack([spd(x), 2 * spd(x)])),
    "integer_matmul": lambda x: place(x).reshape(4, 4) @ place(x[::-1]).reshape(4, 4),
    # loops and conditions
    "scan": lambda x: lax.scan(lambda c, a: (c * 0.9 + a, c - a), x[:4], x.reshape(4, 4))[1],
    "scan_reverse": lambda x: lax.scan(lambda c, a: (c * 0.9 + a, c), 0.0, x, reverse=True)[1],
    "scan_of_constants": lambda x: lax.scan(lambda c, a: (c * a[0] + a[1], None), x, jnp.asarray(GRID))[0],
    "fori": lambda x: lax.fori_loop(0, 9, lambda i, c: c * 0.9 + x[i] * i, jnp.zeros(())),
    "nested_loops": lambda x: lax.fori_loop(
        0, 4, lambda i, c: lax.fori_loop(0, 3, lambda j, d: d + x[i] * x[j], c), jnp.zeros(4)
    ),
    "integer_carry": lambda x: lax.scan(lambda c, a: ((c[0] + 1, c[1] ^ (c[0] > 3)), a * c[0]), (0, False), x)[1],
    "map": lambda x: lax.map(lambda a: jnp.sin(a) @ a, x.reshape(4, 4)),
    "rk4": rk4,
    "jacobian_of_scan": lambda x: jax.jacfwd(rk4)(x[:4]),
    "delay_line": delay_line,
    "associative_scan": lambda x: lax.associative_scan(jnp.add, x),
    "cond": lambda x: lax.cond(x[0] > 0, lambda a: jnp.sin(a) * 2, lambda a: jnp.cos(a) + 1, x),
    "large_cond": lambda x: lax.cond(x[0] > 0, lambda a: jnp.linalg.inv(spd(a)), lambda a: a.reshape(4, 4).T, x),
    "switch": lambda x: lax.switch(place(x[0], 3), [jnp.sin, jnp.cos, lambda a: a @ spd(x)[0] * a], x[:4]),
    "cond_in_scan": lambda x: lax.scan(
        lambda c, a: (lax.cond(a > 0, lambda z: z * a, lambda z: z + jnp.sin(a), c), None), x, x
    )[0],
    "while": lambda x: lax.while_loop(lambda c: c[0] < 10, lambda c: c * 1.5, jnp.abs(x) + 0.1),
    "fori_traced_bound": lambda x: lax.fori_loop(0, place(x[0], 9), lambda i, c: c * 1.1 + i, x),
    "root_search": lambda x: jnp.stack([part for a in x[:3] for part in root_search(a)[:2]]),
    "search_rounds": lambda x: jnp.stack([root_search(a)[2] for a in x[:4]]),
    "rare_search": rare_search,
    "kept_operand": kept_operand,
    "switch_in_loop": lambda x: lax.fori_loop(
        0, 6, lambda i, c: lax.switch(place(c[0], 5) - 1, [jnp.sin, lambda a: a * 1.5, lambda a: -a], c), x[:4]
    ),
    "tick": lambda x: lax.scan(
        lambda c, k: (lax.cond(k % 3 == 0, lambda a: jnp.cos(a @ spd(x)), lambda a: a, c), c), x[:4], jnp.arange(7)
    )[1],
    "search_derivative": lambda x: jax.jvp(lambda a: rare_search(a)[:4], (x,), (jnp.ones(16),))[1],
    # derivatives
    "grad": lambda x: jax.grad(lambda z: jnp.sum(jnp.sin(z) * z[::-1]) / jnp.linalg.norm(z))(x),
    "jacfwd": lambda x: jax.jacfwd(lambda z: jnp.linalg.solve(spd(z), z[:4]))(x),
    "jacrev": lambda x: jax.jacrev(lambda z: jsl.cho_solve(jsl.cho_factor(spd(z)), z[:4]))(x),
    "hessian": lambda x: jax.hessian(lambda z: jnp.prod(jnp.cos(z)) + z[0] ** 3)(x[:3]),
    "jvp": lambda x: jax.jvp(lambda z: jnp.exp(z[:8]) * z[8:], (x,), (jnp.ones(16),))[1],
    "custom_jvp": lambda x: jax.jacfwd(cube)(x[:3]) @ x[:3],
    "custom_vjp": lambda x: jax.grad(lambda z: twice(z).sum())(x),
    "remat": lambda x: jax.grad(lambda z: jax.checkpoint(lambda y: jnp.sin(y).sum())(z))(x),
    "nested_jit": lambda x: jax.jit(lambda a: jax.jit(jnp.sin)(a) * 2)(x),
    "vmap": lambda x: jax.vmap(lambda a, c: jnp.dot(a, c) * a)(x.reshape(4, 4), x.reshape(4, 4)),
    "vmapped_solve": lambda x: jax.vmap(lambda b: jnp.linalg.solve(spd(x), b))(x.reshape(4, 4)),
    "stop_gradient": lambda x: lax.stop_gradient(x) * 2,
    # integers
    "integer_arithmetic": lambda x: place(x) * 7 - place(x[::-1]) // 2 + place(x) % 3 - (-place(x)) // 4,
    "integer_division": lambda x: lax.div(place(x, 9) - 4, place(x[::-1], 3)) + lax.rem(place(x, 9) - 4, place(x, 3)),
    "unsigned": lambda x: seed_words(x) * jnp.uint32(2654435761) + (seed_words(x) ^ jnp.uint32(0xDEADBEEF)),
    "shifts": lambda x: (seed_words(x) << 5) ^ (seed_words(x) >> 7) ^ ~seed_words(x),
    "traced_shifts": lambda x: lax.shift_left(seed_words(x), seed_words(x) % jnp.uint32(40)),
    "arithmetic_shift": lambda x: (place(x, 9) - 4) >> 1,
    "rotate": lambda x: (seed_words(x) << jnp.uint32(13)) | (seed_words(x) >> jnp.uint32(19)),
    "unsigned_compare": lambda x: (seed_words(x) - jnp.uint32(500000) < seed_words(x)).astype(jnp.int32),
    "bit_counts": lambda x: lax.population_count(seed_words(x)) + lax.clz(seed_words(x)),
    "conversions": lambda x: (x * 1e10).astype(jnp.int32) + (x * 3).astype(jnp.int64).astype(jnp.int32),
    "to_unsigned": lambda x: (x * 1e9).astype(jnp.uint32).astype(jnp.float64) * 1.5,
    "bitcast": lambda x: lax.bitcast_convert_type(x, jnp.uint64) >> jnp.uint64(12),
    "integer_extremes": lambda x: jnp.maximum(place(x), 3) + jnp.minimum(place(x), 2) + abs(place(x) - 3),
    "boolean_result": lambda x: x > 0.1,
    "philox": lambda x: philox(seed_words(x[:4]), seed_words(x[4:6])),
    "threefry": lambda x: jax.random.uniform(jax.random.wrap_key_data(seed_words(x[:2])), (3,)),
    "old_key": lambda x: jax.random.normal(jax.random.fold_in(seed_words(x[:2]), 7)),
    "split_key": lambda x: jax.random.randint(
        jax.random.split(jax.random.wrap_key_data(seed_words(x[:2])))[1], (2,), 0, 1000
    ),
    "seeded": lambda x: x[:2] + jax.random.normal(jax.random.key(3), (2,)),
}

# Idioms with a loop or a branch inside, which can be unrolled or kept.
REPEATED = (
    "interp", "searchsorted", "expm", "scan", "scan_reverse", "scan_of_constants", "fori", "nested_loops",
    "integer_carry", "map", "rk4", "jacobian_of_scan", "delay_line", "cond", "large_cond", "switch",
    "cond_in_scan", "while", "fori_traced_bound", "root_search", "search_rounds", "rare_search", "kept_operand",
    "switch_in_loop", "tick", "search_derivative",
)  # fmt: skip
X = np.random.default_rng(3).normal(size=(5, 16))  # five instances: no multiple of any register width


@functools.cache
def expected(name):
    """What plain JAX says for every row of X."""
    return np.asarray(jax.vmap(IDIOMS[name])(X))


def check(name, found):
    """Integers and logic must agree to the bit, doubles to a few ulp per operation."""
    truth = expected(name)
    assert found.dtype == truth.dtype
    if truth.dtype.kind in EXACT_KINDS:
        np.testing.assert_array_equal(found, truth)
    else:
        # 1e-13: a few ulp per function, sums of two dozen terms; exceptions are named below.
        np.testing.assert_allclose(found, truth, rtol=TOLERANCE.get(name, 1e-13), atol=1e-13)


# A whole result that must agree to the bit: integers and logic.
EXACT_KINDS = "iub"
# A sum of rounded terms may cancel; the solves and products of these functions amplify rounding.
TOLERANCE = {"solve": 1e-10, "zero_pivot": 1e-9, "determinant": 1e-11, "libm": 1e-12}

"""cases.md 1 and 2: bodies free of torque, whose motion is known in closed form (Jacobi 1849; Landau and Lifshitz,
Mechanics, section 37), simulated through the public door."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk, ellipkm1

import freefloat as ff
from support import trees

ASYMMETRIC = (1.0, 2.0, 3.0)  # [kg m2]


def spinning(inertia, rate):
    """A free body and its state: turning with a rate [rad/s] in body axes, its frame off its centre of mass at rest."""
    craft = ff.Spacecraft.from_base("body", mass=6.0, inertia=inertia)  # [kg]
    state = craft.at_rest()
    return craft, ff.State(p_NB=state.p_NB, quat_NB=state.quat_NB, q=state.q, v=np.concatenate([np.zeros(3), rate]))


def test_jacobi_period_and_all_of_it_in_between():
    """Tolerance 1e-12 (cases.md): 8000 RK4 steps a period leave 1e-14 of truncation and 8000 roundings of 1e-16."""
    period, m = 6.288431135196408, 1.0 / 300.0  # [s]; p = 1/s
    assert abs(4.0 * ellipk(m) - period) < 2e-15 * period
    craft, state = spinning(ASYMMETRIC, (0.1, 0.0, 1.0))
    run = ff.simulate(craft, state=state, duration=period, dt=period / 8000)
    sn, cn, dn, _ = ellipj(run["time"].values, m)
    exact = np.stack([0.1 * cn, 0.1 * sn, dn], axis=1)
    rate = run["base.rate"].values
    assert np.max(np.abs(rate[-1] - rate[0])) < 1e-12
    assert np.max(np.abs(rate - exact)) < 1e-12
    # The attitude too: angular momentum in inertial axes stays (0.1, 0, 3) N m s.
    assert np.max(np.abs(run["momentum.angular"].values - np.array([0.1, 0.0, 3.0]))) < 1e-12
    trees.report("period:", np.max(np.abs(rate[-1] - rate[0])), "in between:", np.max(np.abs(rate - exact)))


def test_jacobi_needs_the_sign_of_the_gyroscopic_term():
    """Negative control: time reversed (sn -> -sn) is what w x I w with the wrong sign gives; it is far away."""
    craft, state = spinning(ASYMMETRIC, (0.1, 0.0, 1.0))
    run = ff.simulate(craft, state=state, duration=1.0, dt=0.01)
    sn, *_ = ellipj(1.0, 1.0 / 300.0)
    assert abs(run["base.rate"].values[-1, 1] + 0.1 * sn) > 0.1


def test_jacobi_by_the_adaptive_method():
    """Tolerance 1e-10: the method was asked for 1e-12 a step and makes some hundred of them."""
    period = 6.288431135196408  # [s]
    craft, state = spinning(ASYMMETRIC, (0.1, 0.0, 1.0))
    run = ff.simulate(craft, state=state, duration=period, dt=period / 16, integrator="adaptive", tolerance=1e-12)
    sn, cn, dn, _ = ellipj(run["time"].values, 1.0 / 300.0)
    error = np.max(np.abs(run["base.rate"].values - np.stack([0.1 * cn, 0.1 * sn, dn], axis=1)))
    trees.report("adaptive:", error)
    assert error < 1e-10


def test_intermediate_axis_flips():
    """Flips every 27.530840553 s. The start is 1e-3 from the unstable axis: what rounding leaves in the
    energy is weighed against the 2e-6 J that decide the time. Errors of 2e-10 s at 10 ms were measured, 4e-9 s at
    20 ms (truncation) and at 2.5 ms (more roundings): 3e-9 s are permitted."""
    I, w = np.array(ASYMMETRIC), np.array([1e-3, 1.0, 1e-3])
    energy, squared = np.sum(I * w**2), np.sum((I * w) ** 2)  # 2 T and L^2
    p = np.sqrt((I[2] - I[1]) * (squared - energy * I[0]) / np.prod(I))
    # 1 - m, in a form in which nothing cancels: (I3 - I1)(L^2 - 2 T I2) / ((I3 - I2)(L^2 - 2 T I1)).
    excess = I[0] * (I[0] - I[1]) * w[0] ** 2 + I[2] * (I[2] - I[1]) * w[2] ** 2  # L^2 - 2 T I2
    complement = (I[2] - I[0]) * excess / ((I[2] - I[1]) * (squared - energy * I[0]))
    flip = 2.0 * ellipkm1(complement) / p
    assert abs(flip - 27.530840553) < 1e-9  # as many digits as cases.md prints (27.5308405537 to one more)

    craft, state = spinning(ASYMMETRIC, w)
    run = ff.simulate(craft, state=state, duration=90.0, dt=0.01, record_dt=0.02)
    t, rate = run["time"].values, run["base.rate"].values
    after = np.flatnonzero(rate[:-1, 1] * rate[1:, 1] < 0.0)
    # Quintic interpolation through six records around each change of sign: 0.02^6 / 6! is below 1e-12.
    crossings = [zero_of(t[k - 2 : k + 4], rate[k - 2 : k + 4, 1]) for k in after]
    trees.report("flips:", np.diff(crossings) - flip)
    assert len(crossings) == 3
    assert np.max(np.abs(np.diff(crossings) - flip)) < 3e-9


def zero_of(t, y):
    """Where the polynomial through a few points vanishes, near their middle: t as a polynomial in y."""
    zero = 0.0
    for i, (ti, yi) in enumerate(zip(t, y, strict=True)):
        others = np.delete(y, i)
        zero += ti * np.prod(-others / (yi - others))
    return zero


def test_axisymmetric_body():
    """The rate vector precesses with (I3 - I1)/I1 w3 = 0.22 rad/s; tolerance 1e-12, all that RK4 at 5 ms loses."""
    craft, state = spinning((25.0 / 3.0, 25.0 / 3.0, 12.0), (0.1, 0.0, 0.5))
    run = ff.simulate(craft, state=state, duration=10.0, dt=0.005)
    t, rate = run["time"].values, run["base.rate"].values
    exact = np.stack([0.1 * np.cos(0.22 * t), 0.1 * np.sin(0.22 * t), np.full_like(t, 0.5)], axis=1)
    trees.report("axisymmetric:", np.max(np.abs(rate - exact)))
    assert np.max(np.abs(rate - exact)) < 1e-12
    assert rate[-1] == pytest.approx((-0.05885011, 0.08084964, 0.5), abs=5e-9)  # as printed in cases.md

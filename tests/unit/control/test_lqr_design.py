"""Regulators, filters and compensators of small models: exact answers, identities, and what is refused."""

import numpy as np
import pytest
from scipy import linalg

from freefloat.control.lqr import (
    DesignError,
    SecondOrderModel,
    StateSpace,
    balanced_truncation,
    close_loop,
    controllability,
    design_kalman,
    design_lqg,
    design_lqr,
    frequency_grid,
    lyapunov_cost,
    observability,
    sample,
    sampled_cost,
    simulate_linear,
)
from freefloat.control.lqr.frequency_response import FrequencyResponse
from freefloat.values import ModelError


def one_axis(J=3.0, k=2.0) -> SecondOrderModel:
    return SecondOrderModel([[J]], [[k]], [[1.0]], coordinates=("angle",), inputs=("torque",))


def chain(count=4, damping=0.01) -> SecondOrderModel:
    """Masses and springs in a row, free to drift; a force on the first, a sensor on the last."""
    springs = np.diff(np.eye(count), axis=0)
    K = springs.T @ np.diag(np.linspace(1.0, 2.0, count - 1)) @ springs
    C = damping * K
    names = tuple(f"mass {k + 1}" for k in range(count))
    Bf = np.eye(count)[:, :1]
    sensor = {"Cp": np.eye(count)[-1:], "outputs": ("last",)}
    return SecondOrderModel(np.eye(count), K, Bf, None, C, names, ("force",), **sensor)


# ---- exact answers


@pytest.mark.parametrize("k", [0.0, 2.0, -1.0])
def test_one_axis_has_the_gains_of_the_closed_form(k):
    J, q1, q2, r = 3.0, 4.0, 1.0, 0.5
    found = design_lqr(one_axis(J, k), [q1, q2], [r])
    K1 = -k + np.sqrt(k**2 + q1 / r)
    assert found.gain[0] == pytest.approx([K1, np.sqrt(q2 / r + 2 * J * K1)], rel=1e-12)


@pytest.mark.parametrize("method", ["schur", "doubling"])
def test_first_two_examples_of_the_carex_collection(method):
    plain = StateSpace([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]])
    found = design_lqr(plain, [[1.0, 0.0], [0.0, 2.0]], 1.0, method=method)
    assert pytest.approx(np.array([[2.0, 1.0], [1.0, 2.0]]), rel=1e-12) == found.P
    second = StateSpace([[4.0, 3.0], [-4.5, -3.5]], [[1.0], [-1.0]])
    found = design_lqr(second, [[9.0, 6.0], [6.0, 4.0]], 1.0, method=method)
    assert pytest.approx((1 + np.sqrt(2)) * np.array([[9.0, 6.0], [6.0, 4.0]]), rel=1e-10) == found.P


def test_cost_is_that_of_lyapunov_and_of_the_simulated_motion():
    found, x0 = design_lqr(one_axis(), [4.0, 1.0], 0.5), np.array([1.0, -0.5])
    assert lyapunov_cost(found.model, found.gain, found.Q, found.R, x0) == pytest.approx(found.cost(x0), rel=1e-10)
    step = 1e-3
    states, torque = simulate_linear(found.closed_loop, x0, step, 40.0), simulate_linear(found.commands, x0, step, 40.0)
    rate = np.einsum("ki,ij,kj->k", states.values, found.Q, states.values) + 0.5 * torque.values[:, 0] ** 2
    assert np.trapezoid(rate, dx=step) == pytest.approx(found.cost(x0), rel=1e-6)


def test_units_of_the_coordinates_do_not_matter():
    """The same structure in millimetres and megagrams: the gain changes by the units, to rounding."""
    given = chain()
    first = design_lqr(given, 1.0, 1.0)
    units = np.array([1e-3, 1.0, 1e3, 1e-6])
    U = np.diag(units)
    matrices = {name: U @ getattr(given, name) @ U for name in "MKC"}
    other = SecondOrderModel(Bf=U @ given.Bf, coordinates=given.coordinates, inputs=given.inputs, **matrices)
    both = linalg.block_diag(U, U)
    second = design_lqr(other, both @ both, 1.0)
    assert second.gain == pytest.approx(first.gain @ both, rel=1e-9)


# ---- sampled


def test_sampled_model_is_exact_and_delay_is_shared_between_samples():
    plain, T, delay = one_axis().state_space, 0.1, 0.13
    late = sample(plain, T, delay)
    assert late.states[2:] == ("torque, 1 sample ago", "torque, 2 samples ago")
    # By hand: commands that begin at tick k act from k T + delay on, in exact pieces of 10 ms.
    fine, rng = sample(plain, 0.01), np.random.default_rng(3)
    u, x, z = rng.normal(size=30), np.array([0.3, -0.2]), np.array([0.3, -0.2, 0.0, 0.0])
    for piece in range(300):
        if piece % 10 == 0:
            assert z[:2] == pytest.approx(x, abs=1e-12)
            z = late.A @ z + late.B[:, 0] * u[piece // 10]
        k = (piece - 13) // 10
        x = fine.A @ x + fine.B[:, 0] * (u[k] if k >= 0 else 0.0)


def test_sampled_regulator_becomes_the_continuous_one_and_always_costs_more():
    plain, Q, R = one_axis().state_space, np.diag([4.0, 1.0]), np.array([[0.5]])
    best = design_lqr(plain, Q, R)
    errors = []
    for T in (0.2, 0.1, 0.05):
        Qd, Rd, N = sampled_cost(plain, Q, R, T)
        found = design_lqr(sample(plain, T), Qd, Rd, cross=N)
        assert np.all(np.linalg.eigvalsh(found.P - best.P) > 0.0)
        errors.append(np.linalg.norm(found.gain - best.gain))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.15)  # first order in the period
    assert np.log2(errors[1] / errors[2]) == pytest.approx(1.0, abs=0.1)


def test_sampled_cost_is_the_integral():
    plain, Q, R, T = one_axis().state_space, np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([[0.5]]), 0.7
    Qd, Rd, N = sampled_cost(plain, Q, R, T)
    x0, u, count = np.array([0.3, -1.0]), np.array([0.8]), 2000
    x = simulate_linear(plain, x0, T / count, T, u=np.tile(u, (count, 1))).values
    rate = np.einsum("ki,ij,kj->k", x, Q, x) + u @ R @ u
    cost = x0 @ Qd @ x0 + u @ Rd @ u + 2 * x0 @ N @ u
    assert np.trapezoid(rate, dx=T / count) == pytest.approx(cost, rel=1e-6)


def test_a_delay_that_is_known_is_designed_for():
    plain = one_axis(k=0.0).state_space
    late = sample(plain, 0.1, 0.35)
    aware = design_lqr(late, np.diag([4.0, 1.0, 0, 0, 0, 0]), 0.5)
    assert np.max(np.abs(aware.poles)) < 1.0
    assert aware.gain.shape == (1, 6)
    assert abs(aware.gain[0, 2]) > 0.01  # commands on their way count


# ---- filters


@pytest.mark.parametrize("period", [None, 0.1])
def test_poles_of_the_compensated_loop_are_those_of_regulator_and_filter(period):
    model = chain()
    plant = model.state_space if period is None else sample(model.state_space, period)
    regulator = design_lqr(plant, 1.0, 1.0)
    kalman = design_kalman(plant, np.eye(8), 0.1)
    loop = close_loop(plant, design_lqg(regulator, kalman))
    both = np.concatenate([regulator.poles, kalman.poles])
    assert max(np.min(np.abs(both - pole)) for pole in loop.poles) < 1e-6


def test_kalman_filter_of_a_random_walk():
    """x' = w, y = x + v: variance sqrt(W V), gain sqrt(W / V)."""
    walk = StateSpace([[0.0]], [[1.0]])
    found = design_kalman(walk, [[4.0]], [[0.25]])
    assert found.gain[0, 0] == pytest.approx(4.0, rel=1e-12)
    assert found.covariance[0, 0] == pytest.approx(1.0, rel=1e-12)


def test_sampled_filter_knows_how_wrong_it_is(rng):
    plant = sample(chain(2).state_space, 0.2)
    found = design_kalman(plant, 0.01 * np.eye(4), 0.04)
    F = plant.A @ (np.eye(4) - found.gain @ plant.C)
    error, squares, count = np.zeros(4), np.zeros((4, 4)), 40000
    for w, v in zip(0.1 * rng.normal(size=(count, 4)), 0.2 * rng.normal(size=count), strict=True):
        error = F @ error + w - plant.A @ found.gain[:, 0] * v
        squares += np.outer(error, error) / count
    assert np.diag(squares) == pytest.approx(np.diag(found.covariance), rel=0.1)  # 40 000 samples


# ---- reduction


def test_balanced_truncation_keeps_its_bound_and_what_does_not_decay():
    model = chain(8, damping=0.05).state_space
    for states in (6, 10, 14):
        found = balanced_truncation(model, states)
        assert found.kept_unstable == 2  # drift and its rate
        grid = frequency_grid(model)
        grid = grid[grid > 0.02]  # closer to zero the drift, in both, swallows the digits
        both = [FrequencyResponse(m).on(grid) for m in (model, found.model)]
        worst = np.max(np.linalg.norm(both[0] - both[1], 2, axis=(1, 2)))
        assert worst <= found.bound * (1 + 1e-6) + 1e-9
        assert worst >= 0.02 * found.bound  # and the bound says something


# ---- refusals


def test_a_mode_that_no_input_reaches_is_named():
    two = SecondOrderModel(
        np.eye(2), np.diag([1.0, 4.0]), [[1.0], [0.0]], coordinates=("bus", "panel"), inputs=("jet",)
    )
    with pytest.raises(DesignError, match=r"No input reaches mode 2, panel, 2 rad/s\. Inputs: jet\.") as refused:
        design_lqr(two, 1.0, 1.0)
    assert refused.value.modes == ("mode 2, panel, 2 rad/s",)
    assert controllability(two).missed_modes == refused.value.modes
    first = two.state_space
    with pytest.raises(DesignError, match=r"pole .*2i \(panel"):
        design_lqr(StateSpace(first.A, first.B, states=first.states), 1.0, 1.0)
    damped = SecondOrderModel(two.M, two.K, two.Bf, None, np.diag([0.0, 0.1]), two.coordinates, two.inputs)
    assert np.max(design_lqr(damped, 1.0, 1.0).poles.real) < 0.0  # stabilisable is enough


def test_twins_that_one_input_cannot_tell_apart_are_refused():
    twins = SecondOrderModel(np.eye(2), np.eye(2), [[1.0], [1.0]])
    with pytest.raises(DesignError, match="modes 1 to 2"):
        design_lqr(twins, 1.0, 1.0)


def test_a_mode_reached_through_gyroscopic_coupling_only_is_not_refused():
    spin = np.array([[0.0, -1.0], [1.0, 0.0]])
    coupled = SecondOrderModel(np.eye(2), np.diag([1.0, 4.0]), [[1.0], [0.0]], spin)
    assert len(controllability(coupled).missed_modes) == 1  # shapes without G do not know it
    assert np.max(design_lqr(coupled, 1.0, 1.0).poles.real) < -1e-3


def test_weights_and_sensors_that_miss_a_mode_are_refused():
    two = SecondOrderModel(np.eye(2), np.diag([1.0, 4.0]), np.eye(2), coordinates=("bus", "panel"))
    with pytest.raises(DesignError, match="Q does not weigh mode 2, panel"):
        design_lqr(two, [1.0, 0.0, 1.0, 0.0], 1.0)
    with pytest.raises(DesignError, match="Q weighs nothing"):
        design_lqr(two, 0.0, 1.0)
    blind = two.with_outputs(np.array([[1.0, 0.0]]), np.zeros((1, 2)), ("encoder",))
    assert observability(blind).missed_modes == ("mode 2, panel, 2 rad/s",)
    with pytest.raises(DesignError, match="No sensor sees mode 2, panel"):
        design_kalman(blind, 1.0, 1.0)
    with pytest.raises(DesignError, match="No process noise drives mode 2, panel"):
        design_kalman(two, [1.0, 0.0, 1.0, 0.0], 1.0)


def test_a_gyro_does_not_see_where_a_free_body_points():
    free = SecondOrderModel([[2.0]], [[0.0]], [[1.0]], Cv=[[1.0]], outputs=("gyro",), coordinates=("yaw",))
    assert observability(free).missed_modes == ("mode 1, yaw, free",)
    with pytest.raises(DesignError, match=r"No sensor sees mode 1, yaw, free\. Outputs: gyro"):
        design_kalman(free, 1.0, 1.0)


def test_badly_conditioned_models_are_refused_or_right(rng):
    """Random plants in absurd coordinates: whatever is returned stabilises, in the coordinates in which it is true."""
    refused = 0
    for _ in range(30):
        A, B = rng.normal(size=(6, 6)), rng.normal(size=(6, 2))
        T = np.linalg.qr(rng.normal(size=(6, 6)))[0] * 10.0 ** rng.uniform(-7, 7, size=6)
        T = T @ np.linalg.qr(rng.normal(size=(6, 6)))[0]
        back = np.linalg.inv(T)
        try:
            found = design_lqr(StateSpace(T @ A @ back, T @ B), 1.0, 1.0)
        except DesignError as error:
            assert "No input reaches" in str(error) or "condition" in str(error) or "stab" in str(error)  # noqa: PT017
            refused += 1
            continue
        assert np.max(np.linalg.eigvals(A - B @ found.gain @ T).real) < 0.0
    assert refused > 0


def test_a_solver_that_is_wrong_is_found_out(monkeypatch):
    """Solutions that are a little wrong, or right but not the stabilising one."""
    true = linalg.solve_continuous_are

    def answer(wrong):
        monkeypatch.setattr("freefloat.control.lqr.riccati.linalg.solve_continuous_are", wrong)
        return design_lqr(one_axis(), 1.0, 1.0)

    with pytest.raises(DesignError, match="relative residual"):
        answer(lambda A, B, Q, R, s=None: (1 + 1e-6) * true(A, B, Q, R))
    with pytest.raises(DesignError, match="the loop is not stable"):
        answer(lambda A, B, Q, R, s=None: -true(-A, B, Q, R))
    with pytest.raises(DesignError, match="not finite"):
        answer(lambda A, B, Q, R, s=None: np.full_like(A, np.nan))
    assert answer(true).residual < 1e-12


def test_nearly_singular_mass_is_refused():
    with pytest.raises(DesignError, match="M is badly conditioned"):
        SecondOrderModel([[1.0, 1.0 - 1e-14], [1.0 - 1e-14, 1.0]], np.eye(2), np.eye(2))
    with pytest.raises(ModelError, match="coordinate 2 has no mass"):
        SecondOrderModel(np.diag([1.0, 0.0]), np.eye(2), np.eye(2))


BAD = {
    "NaN": (lambda m: design_lqr(m, [np.nan, 1.0], 1.0), "Q must be finite"),
    "asymmetric": (
        lambda m: design_lqr(m, [[1.0, 0.5], [0.0, 1.0]], 1.0),
        r"\[angle, angle rate\] is 0.5 and its mirror 0",
    ),
    "negative": (lambda m: design_lqr(m, [-1.0, 1.0], 1.0), "Q must not be negative"),
    "R zero": (lambda m: design_lqr(m, 1.0, 0.0), r"R must be positive definite.*torque"),
    "length": (lambda m: design_lqr(m, [1.0, 1.0, 1.0], 1.0), "Q: 2 weights are needed"),
    "shape": (lambda m: design_lqr(m, np.eye(3), 1.0), "Q must be 2 x 2"),
    "method": (lambda m: design_lqr(m, 1.0, 1.0, method="magic"), "Methods: schur, doubling"),
    "name": (lambda m: design_lqr(m, 1.0, 1.0).entry("torqe", "angle"), "no input 'torqe'. Inputs: torque"),
    "part": (lambda m: m.state_space.submodel(outputs=("angel",)), "no output 'angel'"),
    "start": (lambda m: simulate_linear(m.state_space, np.zeros(3), 0.1, 1.0), "2 finite numbers"),
    "twice": (lambda m: sample(sample(m.state_space, 0.1), 0.1), "sampled already"),
    "period": (lambda m: sample(m.state_space, -0.1), "period must be positive"),
    "Bf": (lambda m: SecondOrderModel(np.eye(2), np.eye(2), np.eye(3)), "Bf must be 2 x 3"),
    "names": (
        lambda m: SecondOrderModel(np.eye(2), np.eye(2), np.eye(2), coordinates=("a", "a")),
        "'a' is there twice",
    ),
    "infinite": (lambda m: StateSpace([[np.inf]], [[1.0]]), "A must be finite"),
    "modes": (lambda m: m.keep_modes([4]), "numbered 0 to 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_the_thing_named(case):
    action, message = BAD[case]
    with pytest.raises(ModelError, match=message):
        action(one_axis())

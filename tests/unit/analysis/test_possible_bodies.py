"""Identification that keeps to bodies that can exist, finds them from far off, and raises where it found none."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.stats import chi2

import freefloat as ff
from freefloat.analysis import IdentificationError, Identifier, identify, sensor_data
from freefloat.analysis.identification.levenberg_marquardt import minimise
from freefloat.analysis.identification.parameters import find_parameters
from freefloat.analysis.identification.possible_bodies import PossibleBodies

SIGMA = 1e-4  # of a rate [rad/s]
NOISE = {"base.rate": SIGMA}
TRUTH, GUESS = (21.0, 27.0, 33.0), (25.0, 25.0, 25.0)  # principal moments [kg m2]
MOMENTS = [f"base.inertia.{ab}" for ab in ("xx", "yy", "zz")]


def tumbling(moments, duration: float = 40.0, rate=(0.2, 0.05, 0.3)) -> ff.Experiment:
    """A free body that turns about no principal axis, with a known torque for two seconds, which sets the scale."""
    craft = ff.Spacecraft.from_base("client", mass=100.0, inertia=moments)
    push = ff.WrenchPulse("base", (0.0, 0.0, 0.0, 0.5, -0.3, 0.4), stop=2.0)
    state = dataclasses.replace(craft.at_rest(), v=np.array([0.0, 0.0, 0.0, *rate]))
    return ff.Experiment.of(craft, push, duration=duration, dt=0.05, record_dt=0.5, state=state)


def measured(experiment: ff.Experiment, seed: int = 1) -> dict[str, np.ndarray]:
    data = sensor_data(experiment, tuple(NOISE))
    return data | {"base.rate": data["base.rate"] + SIGMA * draw(seed, len(data["base.rate"]))}


def draw(seed: int, instants: int) -> np.ndarray:
    """White noise of unit variance on a rate."""
    return np.random.default_rng(seed).normal(size=(instants, 3))


@pytest.mark.parametrize("duration", [20.0, 60.0])
def test_principal_moments_are_found_from_a_sphere_as_scipy_finds_them(duration):
    """MINPACK's lm on the same residuals with the same derivatives ends at the same minimum."""
    data, begin = measured(tumbling(TRUTH, duration)), Identifier(tumbling(GUESS, duration), MOMENTS, tuple(NOISE))

    def residuals(values):
        (seen,), _ = begin.sensitivities.along(values, np.zeros((1, 3)))
        return ((data["base.rate"] - seen) / SIGMA).ravel()

    def slopes(values):
        _, (change,) = begin.sensitivities(values)
        return -change.reshape(3, -1).T / SIGMA

    theirs = least_squares(residuals, np.array(GUESS), jac=slopes, method="lm")
    ours = begin.fit(data, noise=NOISE)
    assert theirs.success
    # Both stop within 1e-4 deviations of the minimum or where the sum changes by 1e-8 of itself: 1e-3 deviations.
    np.testing.assert_allclose(ours.values, theirs.x, atol=2e-3 * np.min(ours.deviations))
    assert ours.normalised_error(np.array(TRUTH)) < 16.3  # chi-square of 3 degrees: in one of 1000


SIX = np.array([*TRUTH, 0.0, 0.0, 0.0])  # the inertia [kg m2]: xx, yy, zz, xy, xz, yz


class LinearTheory:
    """What noise does to the six where the motion is linear in them: J = Q R at the truth, R error = Q^T noise."""

    def __init__(self, identifier: Identifier) -> None:
        (self.clean,), (change,) = identifier.sensitivities(SIX)
        self.Q, self.R = np.linalg.qr(change.reshape(6, -1).T / SIGMA)

    def errors(self, noise: np.ndarray) -> np.ndarray:
        """Errors of the best estimates in standard deviations; the sum of their squares is chi-square of 6 degrees."""
        return self.Q.T @ noise.ravel()

    def distance(self, values: np.ndarray, noise: np.ndarray, factor: float = 1.0) -> float:
        """Estimates from what linear theory makes of the same noise times a factor [standard deviations]."""
        return float(np.linalg.norm(self.R @ (values - SIX) / factor - self.errors(noise)))


@pytest.mark.parametrize("duration", [60.0, 120.0, 240.0])
def test_all_six_are_found_where_phases_have_gone_astray_by_turns(duration):
    """From the sphere MINPACK's lm ends elsewhere at each of these lengths.

    How far estimates are from the truth is the luck of the draw: the noise of this seed has 4.9 standard deviations
    along the six at 120 s, one of 1600 draws. So the error itself is compared with what that noise must make of it.
    """
    begin = Identifier(tumbling(GUESS, duration), ["base.inertia"], tuple(NOISE))
    theory, noise = LinearTheory(begin), draw(1, round(duration / 0.5))
    result = begin.fit(measured(tumbling(TRUTH, duration)), noise=NOISE)
    assert result.converged
    # Estimates are known to 1.4e-4 of their size, and the body turns by 44 rad in 120 s: curvature makes 6e-3 of these.
    assert theory.distance(result.values, noise) < 0.01
    assert result.normalised_error(SIX) == pytest.approx(np.sum(theory.errors(noise) ** 2), rel=0.005)


@pytest.fixture(scope="module")
def nearby() -> Identifier:
    """Two minutes of data, begun one percent from the truth."""
    return Identifier(tumbling((21.2, 26.8, 33.3), 120.0), ["base.inertia"], tuple(NOISE))


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_the_search_ends_at_the_minimum_that_scipy_finds(nearby, seed):
    theory = LinearTheory(nearby)
    data = theory.clean + SIGMA * draw(seed, len(theory.clean))

    def residuals(values):
        (seen,), _ = nearby.sensitivities.along(values, np.zeros((1, 6)))
        return ((data - seen) / SIGMA).ravel()

    def slopes(values):
        return -nearby.sensitivities(values)[1][0].reshape(6, -1).T / SIGMA

    theirs = least_squares(residuals, SIX, jac=slopes, method="lm", xtol=1e-14, ftol=1e-14, gtol=1e-14)
    ours = nearby.fit({"base.rate": data}, noise=NOISE)
    assert np.linalg.norm(theory.R @ (ours.values - theirs.x)) < 1e-4  # standard deviations: where the search may end
    assert ours.fit.chi_square == pytest.approx(2.0 * theirs.cost, abs=1e-8)  # the square of that


def test_what_the_covariance_leaves_out_is_proportional_to_the_noise(nearby):
    """Curvature of the motion in the parameters: errors of second order, which are of first in standard deviations."""
    theory, noise = LinearTheory(nearby), draw(1, 240)

    def distance(factor: float) -> float:
        data = {"base.rate": theory.clean + factor * SIGMA * noise}
        return theory.distance(nearby.fit(data, noise={"base.rate": factor * SIGMA}).values, noise, factor)

    full = distance(1.0)
    assert 0.0 < full < 0.01
    assert distance(0.1) == pytest.approx(0.1 * full, rel=0.05)  # third order: a hundredth, and where the search ends


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.1, 1.0, 100.0])
def test_errors_of_200_draws_are_as_large_as_their_covariances_say(nearby, factor):
    """Normalised errors squared have the mean of chi-square of 6 degrees, and differ from linear theory by little."""
    theory, found = LinearTheory(nearby), []
    for seed in range(200):
        noise = draw(seed, 240)
        data = {"base.rate": theory.clean + factor * SIGMA * noise}
        error = nearby.fit(data, noise={"base.rate": factor * SIGMA}).normalised_error(SIX)
        found.append((error, np.sum(theory.errors(noise) ** 2)))
    ours, linear = np.mean(found, axis=0)
    low, high = chi2.ppf([0.005, 0.995], 200 * 6) / 200.0
    words = f"mean {ours:.3f} ({low:.3f} to {high:.3f}), of the same noise in linear theory {linear:.3f}"
    print(f"noise {factor * SIGMA:.0e} rad/s: {words}")  # noqa: T201
    assert low < ours < high
    # A draw is 1e-3 standard deviations from linear theory, times twice its length of 2.5: 5e-3 of either sign, 4e-4 in
    # the mean of 200, with a margin of five; all in proportion to the noise.
    assert abs(ours - linear) < 2e-3 * factor


def test_a_covariance_of_noise_that_is_told_too_small_is_found_out(nearby):
    """Noise a tenth larger than told: errors squared are larger by a fifth, and so is chi-square of the fit."""
    theory, noise = LinearTheory(nearby), draw(1, 240)
    result = nearby.fit({"base.rate": theory.clean + 1.1 * SIGMA * noise}, noise=NOISE)
    assert result.normalised_error(SIX) == pytest.approx(1.21 * np.sum(theory.errors(noise) ** 2), rel=0.005)


def test_what_is_not_found_raises_with_the_best_point_inside():
    """Data of another body altogether, with 100 rad between the phases: no estimate leaves by the back door."""
    data = {"base.rate": 0.3 * np.random.default_rng(0).normal(size=(480, 3))}
    with pytest.raises(IdentificationError, match=r"(did not converge|edge of possible).*\.best") as raised:
        identify(tumbling(GUESS, 240.0), data, ["base.inertia"], noise={"base.rate": 1e-6})
    best = raised.value.best
    assert not best.converged
    assert best.names == tuple(f"base.inertia.{ab}" for ab in ("xx", "yy", "zz", "xy", "xz", "yz"))
    assert "NOT CONVERGED" in str(best)


def test_data_that_ask_for_an_impossible_body_end_at_the_edge_and_say_so():
    """A plate spun up with one axis 4 % too stiff for any mass distribution: 20 + 20 < 41.6."""
    impossible = tumbling((20.0, 20.0, 39.0))
    wrong = dataclasses.replace(
        impossible.world.crafts[0],
        bodies=(_with_inertia(impossible.world.crafts[0].bodies[0], np.diag([20.0, 20.0, 41.6])),),
    )
    system = dataclasses.replace(impossible.system, world=ff.World.of(wrong))
    data = measured(dataclasses.replace(impossible, system=system))
    with pytest.raises(IdentificationError, match=r"edge of possible bodies.*'base' has principal moments") as raised:
        identify(tumbling(GUESS), data, MOMENTS, noise=NOISE)
    moments = sorted(raised.value.best.values)
    assert moments[0] + moments[1] >= moments[2]


def _with_inertia(body, inertia):
    """A body that no check has seen."""
    changed = object.__new__(type(body))
    for field in dataclasses.fields(body):
        object.__setattr__(changed, field.name, inertia if field.name == "inertia" else getattr(body, field.name))
    return changed


def arm_with_panel() -> ff.Experiment:
    beam = ff.flex.beam(length=5.0, mass=10.0, bending_stiffness=400.0, modes=2)
    craft = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(40.0, 50.0, 60.0), com=(0.1, 0.0, -0.2))
    link = {"mass": 5.0, "com": (0.5, 0.0, 0.0), "inertia": (0.1, 0.5, 0.5)}
    craft = craft.with_link("arm.1", parent="base", joint="revolute", **link).mount(beam, name="panel", to="base")
    target = ff.Spacecraft.from_base("target", mass=20.0, inertia=(3.0, 4.0, 5.0))
    return ff.Experiment.of(craft.grasp(target, name="payload", hand="arm.1"), duration=0.1, dt=0.05)


def number(body, path: str) -> float:
    field, _, entry = path.partition(".")
    value = np.asarray(getattr(body, field))
    if not entry:
        return float(value)
    return float(value[tuple("xyz".index(letter) for letter in entry)])


ENTRIES = ("mass", "com.x", "com.z", "inertia.xx", "inertia.zz", "inertia.xy", "inertia.yz")


@pytest.mark.parametrize("body", ["base", "arm.1", "panel", "payload"])
@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_of_every_body_has_a_name_and_changes_nothing_else(body, entry):
    experiment = arm_with_panel()
    found = find_parameters(experiment, [f"{body}.{entry}"])
    assert found.names == (f"{body}.{entry}",)
    before = experiment.world.crafts[0].body(body)
    assert found.nominal[0] == pytest.approx(number(before, entry), abs=1e-12)
    system, _ = found.placement.insert_values(experiment.system, experiment.start, found.nominal + 0.25)
    after = system.world.crafts[0].body(body)
    for other in ENTRIES:
        step = 0.25 if other == entry else 0.0
        assert number(after, other) == pytest.approx(number(before, other) + step, abs=1e-12), other
    np.testing.assert_allclose(after.inertia, np.transpose(after.inertia), atol=1e-12)


def test_entries_of_one_inertia_stand_side_by_side_and_an_unknown_one_is_named():
    experiment = arm_with_panel()
    both = find_parameters(experiment, ["panel.mass", "panel.inertia.xx", "panel.com.y", "arm.1.inertia.xy"])
    assert both.units == ("kg", "kg m2", "m", "kg m2")
    with pytest.raises(ValueError, match=r"no parameter 'base.inertia.xw'"):
        find_parameters(experiment, ["base.inertia.xw"])
    with pytest.raises(ValueError, match="share a number"):
        find_parameters(experiment, ["base.inertia", "base.inertia.xy"])


def test_a_change_shorter_than_one_leads_to_a_possible_body(rng):
    """The ellipsoid of the metric lies within the bodies that can exist (Dikin): random bodies, random directions."""
    experiment = tumbling((20.0, 30.0, 49.0))  # near the triangle inequality
    parameters = find_parameters(experiment, ["base.inertial"])
    bodies, values = PossibleBodies(experiment, parameters), parameters.nominal
    lower = np.linalg.cholesky(bodies.metric(values, parameters.scale) + 1e-12 * np.eye(10))
    for _ in range(50):
        direction = np.linalg.solve(lower.T, rng.normal(size=10))
        direction *= 0.999 / np.linalg.norm(lower.T @ direction)
        assert bodies.metric(values + parameters.scale * direction, parameters.scale) is not None
    far = values + parameters.scale * np.array([0, 0, 0, 0, -1.0, 0, 0, 0, 0, 0])
    assert bodies.metric(far, parameters.scale) is None


def test_the_search_takes_the_curved_valley_of_rosenbrock():
    """Least squares of (10 (y - x^2), 1 - x) from (-1.2, 1): the minimum is at (1, 1), exactly."""

    def valley(z):
        x, y = z
        return -np.array([10.0 * (y - x * x), 1.0 - x]) * 1e3, np.array([[-20.0 * x, 10.0], [-1.0, 0.0]]) * 1e3

    found = minimise(valley, np.array([-1.2, 1.0]), lambda z: np.zeros((2, 2)))
    assert found.converged
    np.testing.assert_allclose(found.z, 1.0, atol=1e-6)

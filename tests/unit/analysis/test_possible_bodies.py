"""Identification that keeps to bodies that can exist, finds them from far off, and raises where it found none."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import least_squares

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


def measured(experiment: ff.Experiment, seed: int = 3) -> dict[str, np.ndarray]:
    data = sensor_data(experiment, tuple(NOISE))
    noise = SIGMA * np.random.default_rng(seed).normal(size=data["base.rate"].shape)
    return data | {"base.rate": data["base.rate"] + noise}


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


@pytest.mark.parametrize("duration", [60.0, 120.0, 240.0])
def test_all_six_are_found_where_phases_have_gone_astray_by_turns(duration):
    """From the sphere MINPACK's lm ends elsewhere at each of these lengths."""
    result = identify(tumbling(GUESS, duration), measured(tumbling(TRUTH, duration)), ["base.inertia"], noise=NOISE)
    assert result.converged
    assert result.normalised_error(np.array([*TRUTH, 0.0, 0.0, 0.0])) < 22.5  # chi-square of 6 degrees: one of 1000


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
    system, _ = found.placement.put(experiment.system, experiment.start, found.nominal + 0.25)
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

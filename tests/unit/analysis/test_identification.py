"""Identification: exact derivatives, estimates and covariances of closed forms, what data cannot tell, refusals."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import chi2

import freefloat as ff
from freefloat.analysis import Identifier, NotIdentifiable, Sensitivities, identify, sensor_data
from freefloat.analysis.identification.parameters import find_parameters
from freefloat.control import JointSpline
from freefloat.effects import Friction, JointFriction
from freefloat.sensors import Gyro, Ideal

I_B, M_B, M, A = 10.0, 20.0, 5.0, 1.0  # of case 3: base, and a rod whose centre of mass is A from the joint
SIGMA = 1e-5  # of a rate [rad/s]


def rod_craft(inertia: float = I_B) -> ff.Spacecraft:
    hub = ff.Spacecraft.from_base("hub", mass=M_B, inertia=(inertia, inertia, inertia))
    rod = {"mass": M, "com": (A, 0.0, 0.0), "inertia": (0.01, 5.0 / 3.0, 5.0 / 3.0)}
    return hub.with_link("rod", parent="base", joint="revolute", **rod)


def swing(inertia: float = I_B, **options) -> ff.Experiment:
    """The rod turns by 90 degrees, its joint rates prescribed."""
    craft = rod_craft(inertia)
    spline = JointSpline.through(craft, [(0.0,), (90.0,)], durations=[4.0])
    return ff.Experiment.of(craft, spline, duration=4.0, dt=0.05, record_dt=0.25, **options)


def rubbing(coulomb: float = 0.05, viscous: float = 0.3) -> ff.Experiment:
    """A joint driven by a known torque against friction, on a base that turns: every way a number can enter."""
    craft = rod_craft()
    parts = JointFriction(Friction(coulomb=coulomb, viscous=viscous, smoothing=0.05)), Gyro(period=0.1), Ideal()
    state = dataclasses.replace(craft.at_rest(), v=np.array([0.1, 0.0, 0.02, 0.05, -0.04, 0.03, 0.2]))
    push = {"command.joints.torque": np.array([0.4])}
    return ff.Experiment.of(craft, *parts, duration=2.0, dt=0.05, record_dt=0.1, state=state, inputs=push)


def test_other_values_need_no_new_code(traces):
    Sensitivities(rubbing(), WAYS, SEEN)
    known = len(traces)
    Sensitivities(rubbing(0.08, 0.2), WAYS, SEEN)
    assert len(traces) == known


FRICTION = ["JointFriction.friction.coulomb", "JointFriction.friction.viscous"]
WAYS = ["base.inertial", "rod.com.2", *FRICTION, "Gyro.bias", "start.base.rate"]
SEEN = ("base.rate", "joints.position", "base.attitude")


def test_derivatives_are_those_of_central_differences():
    predict = Sensitivities(rubbing(), WAYS, SEEN)
    parameters = predict.parameters
    _, slopes = predict(parameters.nominal)
    for k in range(len(parameters.names)):
        small = 1e-4 * parameters.scale[k] * np.eye(len(parameters.names))[k]
        ahead, behind = (predict.along(parameters.nominal + s * small, small[None])[0] for s in (1.0, -1.0))
        for a, b, slope in zip(ahead, behind, slopes, strict=True):
            # Second-order differences of 1e-4 of a parameter's size, over values of order one: 1e-8, with a margin.
            np.testing.assert_allclose((a - b) / 2e-4, parameters.scale[k] * slope[k], atol=2e-7, err_msg=str(k))


def test_friction_is_found_beside_a_bias_and_an_inertia(rng):
    data, noise = sensor_data(rubbing(), SEEN[:2]), {"base.rate": SIGMA, "joints.position": SIGMA}
    noisy = {name: data[name] + SIGMA * rng.normal(size=data[name].shape) for name in noise}
    result = identify(rubbing(0.08, 0.2), noisy, [*FRICTION, "Gyro.bias", "rod.mass"], noise=noise)
    assert result.converged
    assert result.rank == 6
    assert result.normalised_error(np.array([0.05, 0.3, 0.0, 0.0, 0.0, M])) < chi2.ppf(0.999, 6)
    assert result.main_channel(FRICTION[0]) == "joints.position"


def ratio(inertia: float) -> float:
    """Turn of the base per turn of the joint at zero momentum, with the other sign (case 3)."""
    arm = 5.0 / 3.0 + M_B * M / (M_B + M) * A**2
    return arm / (inertia + arm)


def test_the_rod_of_case_3_tells_the_base_inertia_and_how_well(rng):
    """The base's rate is -ratio(I) times the joint's: least squares of it has a closed form, covariance included."""
    truth = swing()
    data = sensor_data(truth, ("base.rate", "joints.rate"))
    joint = data.pop("joints.rate")[:, 0]
    np.testing.assert_allclose(data["base.rate"][:, 2], -ratio(I_B) * joint, atol=1e-9)  # RK4 of 0.05 s
    data["base.rate"] = data["base.rate"] + SIGMA * rng.normal(size=data["base.rate"].shape)
    result = identify(swing(inertia=13.0), data, ["base.inertia"], noise={"base.rate": SIGMA})
    told = -(data["base.rate"][:, 2] @ joint) / (joint @ joint)  # the ratio that fits best
    expected = (1.0 / told - 1.0) * (5.0 / 3.0 + M_B * M / (M_B + M) * A**2)
    slope = -ratio(expected) / (expected + 5.0 / 3.0 + M_B * M / (M_B + M) * A**2)
    deviation = SIGMA / (abs(slope) * np.linalg.norm(joint))
    # Out of plane, noise moves xz and yz by some 1e-4, and zz by their squares.
    assert result["base.inertia.zz"] == pytest.approx(expected, abs=1e-3 * deviation)
    assert result.deviation("base.inertia.zz") == pytest.approx(deviation, rel=1e-4)
    assert result.converged
    assert 0.3 < result.fit.reduced_chi_square < 2.0
    assert result.covariance_from == "noise"
    doubled = identify(
        swing(inertia=13.0),
        data,
        ["base.inertia"],
        noise={"base.rate": 2.0 * SIGMA},
        covariance_from="residuals",
    )
    assert doubled.deviation("base.inertia.zz") == pytest.approx(
        deviation * np.sqrt(result.fit.reduced_chi_square), rel=1e-3
    )


def test_planar_motion_does_not_tell_what_turns_out_of_the_plane():
    """About z alone: moments about x and y and their product do nothing; xz and yz would tilt the base."""
    experiment = swing()
    result = identify(experiment, ff.simulate(experiment), ["base.inertia"], noise={"base.rate": SIGMA})
    hidden = {name for one in result.untold for name in one.names}
    assert hidden == {"base.inertia.xx", "base.inertia.yy", "base.inertia.xy"}
    assert all(np.isinf(one.deviation) and len(one.names) == 1 for one in result.untold)
    assert result.rank == 3
    assert np.isnan(result.values[0])
    assert np.isinf(result.deviation("base.inertia.xx"))
    with pytest.raises(NotIdentifiable, match=r"'base.inertia.xx'. base.inertia.xx has no effect on the data"):
        result["base.inertia.xx"]
    assert "not told by the data" in str(result).splitlines()[1]
    held = identify(
        experiment,
        sensor_data(experiment, ("base.rate",)),
        ["base.inertia"],
        noise={"base.rate": SIGMA},
        prior={"base.inertia": 0.5},
    )
    assert held.deviation("base.inertia.xx") == pytest.approx(0.5, rel=1e-9)  # the prior's, and it says so
    assert "base.inertia.xx is as the prior has it" in str(held)


def test_without_a_force_that_is_known_only_ratios_of_masses_are_told():
    """Zero momentum: every equation is linear and homogeneous in all masses; a measured torque sets the scale."""
    experiment, paths = swing(), ["base.inertial", "rod.inertial"]
    noise = {"base.rate": SIGMA, "base.velocity": SIGMA}
    blind = identify(experiment, sensor_data(experiment, tuple(noise)), paths, noise=noise)
    assert any(one.common for one in blind.untold)
    assert "a common factor has no effect on the data" in str(blind)
    noise |= {"joints.torque": 1e-3}
    seeing = identify(experiment, sensor_data(experiment, tuple(noise)), paths, noise=noise)
    assert not any(one.common for one in seeing.untold)
    assert seeing.rank == blind.rank + 1
    assert seeing["base.inertia.zz"] == pytest.approx(I_B, rel=1e-9)


def test_frequencies_and_damping_of_a_panel_from_a_gyro(rng):
    """A hub with a beam, pushed: stiffness a twentieth off, two modes are found within their deviations."""
    beam = ff.flex.beam(length=5.0, mass=10.0, bending_stiffness=400.0, modes=2, damping_ratio=0.01)
    craft = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(40.0, 40.0, 40.0))
    craft = craft.mount(beam, name="panel", to="base", at=ff.Pose(position=(0.5, 0.0, 0.0)))
    push = ff.WrenchPulse("base", (0.0, 0.0, 0.0, 0.5, 2.0, 2.0), stop=0.4)
    truth = ff.Experiment.of(craft, push, duration=4.0, dt=0.02, record_dt=0.04)
    noise, paths = {"base.rate": 1e-5}, ["panel.frequencies", "panel.damping_ratios"]
    exact = Identifier(truth, paths, ("base.rate",)).parameters.nominal
    data = sensor_data(truth, ("base.rate",))
    data["base.rate"] = data["base.rate"] + 1e-5 * rng.normal(size=data["base.rate"].shape)
    stiffness = 1.05 * np.asarray(craft.body("panel").stiffness)
    wrong = ff.Experiment.of(
        craft.with_value("panel.stiffness", stiffness), push, duration=4.0, dt=0.02, record_dt=0.04
    )
    result = identify(wrong, data, paths, noise=noise)
    assert result.converged
    seen = np.isfinite(result.values)
    assert np.all(seen[:2])
    np.testing.assert_array_less(np.abs(result.values - exact)[seen], 4.5 * result.deviations[seen])
    assert result.main_channel(result.names[0]) == "base.rate"


def test_in_a_world_of_two_parameters_say_whose_they_are():
    world = ff.World(one=rod_craft(), two=rod_craft())
    experiment = ff.Experiment.of(world, duration=1.0)
    found = find_parameters(experiment, ["two.rod.inertial", "one.rod.damping", "start.two.base.rate"])
    assert found.names[:2] == ("two.rod.mass", "two.rod.moment.x")
    assert found.names[10:] == ("one.rod.damping", *(f"start.two.base.rate.{axis}" for axis in "xyz"))
    values = found.nominal + np.arange(1.0, 15.0)
    system, start = found.placement.insert_values(experiment.system, experiment.start, values)
    one, two = system.world.crafts
    assert float(two.body("rod").mass) == M + 1.0
    assert float(one.body("rod").mass) == M
    assert float(one.joint("rod").damping) == 11.0
    np.testing.assert_array_equal(start[1].v[3:6], [12.0, 13.0, 14.0])
    np.testing.assert_allclose(two.body("rod").mass * two.body("rod").com, values[1:4], rtol=1e-15)


def grasping() -> ff.Experiment:
    craft = rod_craft().with_frame("tip", body="rod")
    world = ff.World(one=craft, two=rod_craft()).connection("grasp", "one.tip", "two.base")
    return ff.Experiment.of(world, duration=4.0, dt=0.05, record_dt=0.25)


def rounded() -> ff.Experiment:
    craft = rod_craft()
    return ff.Experiment.of(craft, Gyro(step=1e-4), duration=4.0, dt=0.05, record_dt=0.25)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"parameters": ["base.mas"]}, "no parameter 'base.mas'.*base.mass"),
        ({"parameters": "base.mass"}, "list of dotted paths"),
        ({"parameters": ["base.mass", "base.inertial"]}, "share a number"),
        ({"noise": {}}, "Say how good the data are"),
        ({"noise": {"base.spin": 1.0}}, "'base.spin' is not in the data"),
        ({"noise": {"base.rate": -1.0}}, "noise of 'base.rate' must be one positive number, or 3"),
        ({"data": {"base.rate": np.full((16, 3), np.nan)}}, "'base.rate' has a number that is not finite at 0.25 s"),
        ({"data": {"base.rate": np.zeros((9, 3))}}, r"must have shape \(16, 3\)"),
        ({"data": {"time": np.arange(16.0), "base.rate": np.zeros((16, 3))}}, "no instant 0.25 s"),
        ({"data": {"hand.speed": np.zeros(16)}, "noise": {"hand.speed": 1.0}}, "No channel is called 'hand.speed'"),
        ({"prior": {"rod.mass": 1.0}}, "'rod.mass' is not estimated"),
        ({"prior": {"base.mass": 0.0}}, "prior of 'base.mass'.*positive"),
        ({"experiment": grasping()}, "an event or a contact has none"),
        ({"experiment": rounded()}, "Gyro rounds to steps"),
        ({"experiment": swing(integrator="adaptive")}, "needs integrator='rk4'"),
        ({"experiment": rod_craft()}, "need an Experiment, got"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change, words):
    given = {
        "experiment": swing(),
        "data": {"base.rate": np.zeros((16, 3))},
        "parameters": ["base.mass"],
        "noise": {"base.rate": SIGMA},
    } | change
    with pytest.raises(ValueError, match=words):
        identify(given.pop("experiment"), given.pop("data"), given.pop("parameters"), **given)

"""Numbers that are probably in another unit are warned of by name, and no experiment of the package is."""

import warnings

import numpy as np
import pytest

import freefloat as ff
from freefloat.actuators import Thrusters, torque_pairs
from freefloat.control import PoseSpline, ResolvedMotion
from freefloat.scenarios.catalogue import SCENARIOS
from freefloat.sim.experiment import Experiment
from freefloat.sim.unit_warnings import UnitWarning, unit_warnings

DEGREES = (0.0, 0.0, 10.0, -32.8, 0.0, 0.0)


def slips(craft, *parts, **options) -> tuple[str, ...]:
    experiment = Experiment.of(craft, *parts, duration=1.0, **options)
    return unit_warnings(experiment.system, experiment.start)


def bus(inertia: float = 60.0) -> ff.Spacecraft:
    return ff.Spacecraft.from_base("bus", mass=300.0, inertia=(inertia, inertia, inertia))


def test_degrees_given_as_radians_are_named():
    craft = ff.library.ets7()
    (said_10, said_32) = slips(craft, state=craft.at_rest(joints=DEGREES))
    assert "starts at 10 rad" in said_10
    assert "starts at -32.8 rad, 5.2 turns. Was that in degrees? Give joints_deg" in said_32
    assert slips(craft, state=craft.at_rest(joints_deg=DEGREES)) == ()


def test_a_line_in_millimetres_is_named():
    craft = ff.library.ets7()
    far, near = (
        ResolvedMotion(craft, frame="hand", path=ff.Line(direction=(1, 0, 0), length=length, speed=0.05 * length))
        for length in (200.0, 0.2)
    )
    start = craft.at_rest(joints_deg=DEGREES)
    (said,) = slips(craft, far, state=start)
    assert "ResolvedMotion.path leads 'hand' 200 m away" in said
    assert "Was that in mm?" in said
    assert slips(craft, near, state=start) == ()


def test_a_path_of_any_kind_in_millimetres_is_named():
    """A line is judged by its length, any other path by where it is at some times; both agree."""
    craft = ff.library.ets7()
    line = ff.Line(direction=(0, 1, 0), length=200.0, speed=10.0)
    spline = PoseSpline.through([ff.Pose(), ff.Pose(position=(0.0, 200.0, 0.0))], [20.0])
    leading = [ResolvedMotion(craft, frame="hand", path=path) for path in (line, spline)]
    said = [slips(craft, software, state=craft.at_rest(joints_deg=DEGREES)) for software in leading]
    assert said[0] == said[1]
    assert "leads 'hand' 200 m away" in said[0][0]


def test_an_inertia_that_its_mass_cannot_have_is_named():
    (said,) = slips(bus(9e10))
    assert "Body 'base' of 'bus': its inertia of 9e+10 kg m2 puts its 300 kg" in said
    assert "kg mm2" in said
    (small,) = slips(bus(6e-8))
    assert "within 0.01" in small
    assert slips(bus()) == ()


def test_rates_speeds_offsets_and_thrust_are_named():
    craft = bus().with_link("arm", parent="base", joint="revolute", mass=5.0, inertia=(1.0, 1.0, 1.0), at=(0.5, 0, 0))
    state = craft.in_motion(rate=(0.0, 100.0, 0.0), velocity=(75000.0, 0.0, 0.0), joints={"arm": 90.0})
    words = " ".join(slips(craft, state=state))
    assert "starts with 100 rad/s" in words
    assert "starts with 7.5e+04 m/s" in words
    assert "Joint 'arm' of 'bus' starts with 90 rad/s" in words
    long = craft.with_link(
        "tool", parent="arm", joint="revolute", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(12000.0, 0.0, 0.0)
    )
    assert any("sits 1.2e+04 m from" in said for said in slips(long))
    strong, weak = (Thrusters.from_nozzles(torque_pairs(arm=0.5, thrust=thrust)) for thrust in (2e4, 20.0))
    assert any("has 2e+04 N" in said for said in slips(bus(), strong))
    assert slips(bus(), weak) == ()


def test_a_run_warns_once_before_it_begins_and_keeps_it_with_its_audit():
    craft = bus()
    with pytest.warns(UnitWarning, match="starts with 100 rad/s") as caught:
        run = ff.simulate(craft, state=craft.in_motion(rate=(0.0, 0.0, 100.0)), duration=0.01, dt=0.001)
    assert len([one for one in caught if one.category is UnitWarning]) == 1
    assert any("starts with 100 rad/s" in said for said in run.audit.warnings)


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_scenario_is_warned_of(name):
    experiment = SCENARIOS[name]().build()
    assert unit_warnings(experiment.system, experiment.start) == ()


@pytest.mark.parametrize("name", ["ets7", "srms", "envisat", "servicer", "station"])
def test_no_spacecraft_of_the_library_is_warned_of(name):
    craft = getattr(ff.library, name)()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert slips(craft, state=craft.at_rest(np.zeros(craft.layout.nq))) == ()

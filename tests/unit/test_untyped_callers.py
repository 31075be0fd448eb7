"""What a caller meets who gives the wrong kind of thing: a sentence, not a traceback from the depths.

Elsewhere in the tests the annotations run and would refuse it first. Here the calls are made in one process of their
own without them, as a user's would be.
"""

import subprocess
import sys

import pytest

START = """
import numpy as np
import freefloat as ff
from freefloat.control import *
from freefloat.model import *
from freefloat.actuators import *
from freefloat.effects import *
from freefloat.sensors import *

hub = ff.Spacecraft.from_base("hub", mass=10.0, inertia=(1.0, 1.0, 1.0))
craft = hub.with_link("rod", parent="base", joint="revolute", mass=1.0, inertia=(0.1, 0.1, 0.1))
ets7 = ff.library.ets7(wheels=True)
HOLD = HoldJoints(joints=ets7.layout.moving_joints)


@ff.record
class Pilot(ff.Software):
    # Gives one command, or whatever else.

    answer: object = ff.static()

    def command(self, memory, y, clock):
        return self.answer()


def link(**change):
    usual = {"parent": "base", "joint": "revolute", "mass": 1.0, "inertia": (1, 1, 1)}
    return craft.with_link("new", **{**usual, **change})


def base(**change):
    return ff.Spacecraft.from_base("new", **{"mass": 1.0, "inertia": (1.0, 1.0, 1.0), **change})


def simulate(*parts, of=craft, **change):
    return ff.simulate(of, *parts, **{"duration": 0.1, **change})
"""

CALLS = {
    # ---- spacecraft
    "base(mass='heavy')": "Body 'base': mass must be numeric [kg], got 'heavy'.",
    "base(mass='10')": "mass must be numeric",
    "base(mass=[1.0, 2.0])": "Body 'base': mass must be one number [kg], got shape (2,)",
    "base(com='middle')": "Body 'base': com must be numeric [m]",
    "base(inertia=None)": "Body 'base': inertia must be numeric [kg m2]",
    "ff.Spacecraft.from_base(5, mass=1.0, inertia=(1, 1, 1))": "needs a name that is text, got 5",
    "link(joint='ball')": "Joint 'new': unknown kind 'ball'. Kinds: revolute, prismatic, fixed, rail.",
    "link(limits=(-1, 1))": "Joint 'new': limits must be JointLimits(lower=..., upper=...), got (-1, 1).",
    "link(axis='z')": "Joint 'new': axis must be numeric, got 'z'.",
    "link(at='here')": "Joint 'new': Pose.position must be numeric [m], got 'here'.",
    "link(damping='much')": "Joint 'new': damping must be numeric [N m s/rad or N s/m], got 'much'.",
    "craft.mount('panel', name='panel')": "Only a Spacecraft, a RigidBody or a flexible body can be mounted",
    "ff.control.Circle(centre=(0, 0, 1), axis=(1, 0, 0), profile=2.0)": "must be a profile such as Quintic",
    "ff.control.FunctionPath(3.0, duration=1.0)": "FunctionPath.function must be a function of the time, got 3.0",
    "craft.grasp('box', name='box', hand='rod')": "Only a Spacecraft can be grasped",
    "craft.with_shapes('base', 'box')": "is drawn by Shape(...), got 'box'",
    "craft.with_value('base.mass', 'heavy')": "Body 'base': mass must be numeric [kg], got 'heavy'.",
    "craft.at_rest({'rod': 1.0})": "Give joints by name as joints={...}",
    "craft.at_rest(joints={'rod': 'bent'})": "joints['rod'] must be numeric [rad, m], got 'bent'",
    "craft.require_state(None)": "Spacecraft 'hub' needs a State, for example craft.at_rest(), got None.",
    "ff.Pose(position=5.0)": "Pose.position must have shape (3,), got (). Give x, y, z in metres.",
    "ff.Pose.from_rpy_deg((1.0, 2.0))": "needs roll, pitch and yaw in degrees, got shape (2,)",
    "ff.read_urdf(5)": "URDF 'int': it is 5. Give the path of a URDF file, or its XML text.",
    "ff.read_urdf(ff.write_urdf(craft), names={'rod': 5})": "'rod' cannot be called 5. Give a name that is text.",
    "craft.with_link('a', parent='base', joint='revolute', mass=1.0, inertia=(1, 1, 1), follows='rod')": (
        "Joint 'a': follows must be Follow(leader, ratio=..., offset=...), got 'rod'"
    ),
    "ff.write_urdf('hub')": "write_urdf writes a Spacecraft, got 'hub'.",
    "ff.flex.beam(length='long', mass=1.0, bending_stiffness=1.0)": "Beam 'beam': length must be numeric [m]",
    "ff.flex.beam(length=1.0, mass=1.0, bending_stiffness=1.0, modes=2.5)": "Give a whole number, or a dictionary",
    # ---- dynamics
    "ff.dynamics.generalized_force(craft, np.zeros(1), 'rod', np.zeros(3))": "A wrench at 'rod' must have 6 numbers",
    "ff.dynamics.mass_matrix(craft, 'zero')": "q must have 1 numbers, got a str, which is no array",
    # ---- simulate
    "simulate(of=ff.library.ets7)": "simulate needs an Experiment, or a Spacecraft or World and parts, got",
    "simulate(duration='long')": "duration must be numeric [s], got 'long'",
    "simulate(duration=1e12)": "is 1e+14 steps of dt=0.01 s, and a run has at most 1.07e+09",
    "simulate(duration=10000.03)": "Give record_dt, or a duration that is a rounder number of steps",
    "simulate(dt='fast')": "The step dt must be numeric [s], got 'fast'",
    "simulate(tolerance='fine')": "tolerance must be numeric",
    "simulate(state={'hub': [0.0]})": "needs a State, for example craft.at_rest()",
    "simulate(state=[0.0])": "needs a State, for example craft.at_rest()",
    "simulate(state={'q': [0.0]})": "The world has no spacecraft 'q'. Spacecraft: hub.",
    "simulate(progress='bar')": "progress must be a function",
    "simulate(HoldJoints(joints=('rod',), period=float('nan')))": "HoldJoints: period must be finite [s]",
    "simulate(HoldJoints(joints=('rod',), period='slow'))": "HoldJoints: period must be numeric [s], got 'slow'",
    "simulate(HoldJoints)": "HoldJoints is a class, not a part. Give an instance of it: HoldJoints(...).",
    "simulate(ff.Pose)": "Pose is a class, not a part. Give an instance of it: Pose(...).",
    "simulate(ff.Pose())": "Pose is nothing that can act in a run: derive it from ff.Software",
    "simulate('push')": "str is nothing that can act in a run: derive it from ff.Software",
    "simulate(HoldJoints(joints=('rod',), on=5))": "HoldJoints: on must be the name of a spacecraft, got 5",
    "simulate(WrenchPulse(frame='tip', wrench=[0] * 6))": "WrenchPulse: Spacecraft 'hub' has no frame 'tip'. Frames:",
    # ---- world, experiments, inputs
    "ff.World()": "A world needs at least one spacecraft: World(servicer=craft).",
    "ff.World(servicer='hub')": "World: 'servicer' must be a Spacecraft, got 'hub'.",
    "ff.World(base=craft)": "World: a spacecraft cannot be called 'base': names are words",
    "ff.Experiment.of('hub', duration=1.0)": "A Spacecraft or a World is needed, got 'hub'.",
    "simulate(of=ff.World(a=craft, b=craft), state=craft.at_rest())": "Give states by name for a world of several",
    "simulate(of=ff.World(a=craft, b=craft), joints=[0.0])": "joints and joints_deg are for one spacecraft",
    "simulate(of=ff.World(a=craft, b=craft), state={'c': craft.at_rest()})": "The world has no spacecraft 'c'",
    "simulate(inputs={'rod.wrench': 'much'})": "Input 'rod.wrench' must be numeric, got 'much'",
    "simulate(inputs={'rod.wrench': None})": "Input 'rod.wrench' must be",
    "simulate(inputs={'rod.wrench': lambda tick: 'much'})": "Input 'rod.wrench' must be numeric, got 'much'",
    "simulate(inputs={5: 0.0})": "A port is called by its name, got 5",
    "simulate(inputs=[0.0])": "inputs must be signals by port",
    "ff.stepper(ff.Experiment.of(craft, duration=1.0), measure=('nothing',))": "'nothing' is nothing that can",
    "ff.stepper(craft)": "stepper needs an Experiment, got",
    # ---- software
    "simulate(Pilot(lambda: ff.BaseWrench(np.zeros(3))))": "must give 6 numbers (force x, force y, force z, torque x,",
    "simulate(Pilot(lambda: ff.JointTorques(('rod',), 1.0)))": "give 1 numbers (rod) in JointTorques, got shape ()",
    "simulate(Pilot(lambda: ff.JointRates('rod', np.zeros(1))))": "Pilot: joints of JointRates must be a tuple",
    "simulate(Pilot(lambda: ff.JointRates(('rod',), 'fast')))": "command must give numbers in JointRates, got 'fast'",
    "simulate(Pilot(lambda: ff.JointRates(('rod',), None)))": "Pilot.command must give numbers in JointRates, got None",
    "simulate(Pilot(lambda: np.zeros(7)))": "Pilot.command must return commands",
    "ff.check_software(Pilot(lambda: None), craft)": "nothing wrong: ['Pilot.command must return commands",
    "ff.check_software(Pilot(tuple), 'hub')": "nothing wrong: [\"A Spacecraft or a World is needed, got 'hub'.\"]",
    "ResolvedMotion(craft=ets7, frame='hand', path='straight')": "path must be a path such as Line, Turn",
    "Turn(axis=(1, 0, 0), profile=None)": "Turn.profile must be a profile such as Quintic or Trapezoid",
    "AttitudeHold(craft=ets7, stiffness=-1.0)": "AttitudeHold.stiffness must be at least 0, got -1 N m/rad",
    "AttitudeHold(craft=ets7, feed_forward='arm')": "feed_forward must be RateSoftware",
    "JointServo(craft=ets7, arm=None)": "must be RateSoftware, software that gives joint rates, got",
    "JointServo(craft=ets7, arm=HOLD, bandwidth=0.0)": "JointServo.bandwidth must be positive, got 0 rad/s",
    "Friction(coulomb=-1.0)": "Friction.coulomb must be at least 0, got -1 N m",
    "Friction(viscous=float('nan'))": "Friction.viscous must be finite [N m s/rad]",
    "Friction(smoothing=0.0)": "Friction.smoothing must be positive",
    "WrenchPulse(frame='base', wrench=(1, 0, 0))": "force and torque, six numbers, got shape (3,)",
    "WrenchPulse(frame='base', wrench=[0] * 6, start=1.0, stop=0.5)": "before it starts at 1 s",
    "JointSpline.through(ets7, [[0] * 6, [1] * 6], [-1.0])": "JointSpline.durations must be positive",
    "Thruster(name='a', position=(0, 0, 0), direction=(0, 0, 0), thrust=1.0)": "Thruster 'a': direction must be three",
    "Thruster(name='a', position=(0, 0, 0), direction=(1, 0, 0), thrust=-1.0)": "thrust must be positive, got -1 N",
    "Thrusters.from_nozzles([])": "at least one thruster",
    "Thrusters.from_nozzles(torque_pairs(1.0, 1.0), specific_impulse=0.0)": "impulse must be positive, got 0 s",
    # ---- sensors and orbit
    "Gyro(noise=-1.0)": "Gyro.noise must be at least 0, got -1 rad/s",
    "Imperfection(dropout=2.0)": "Imperfection.dropout must be at most 1, got 2",
    "Imperfection(seed=1.5)": "Imperfection.seed must be a whole number, got 1.5",
    "StarTracker(period=0.0)": "StarTracker.period must be positive, got 0 s",
    "StarTracker(R_BS=2.0 * np.eye(3))": "StarTracker.R_BS: the placement is not a rotation",
    "RelativePoseCamera(frame='rod', target='client.base', latency=-1.0)": "latency must be at least 0",
    "CircularOrbit(altitude=-1e6)": "CircularOrbit.altitude must be at least 0",
    "CircularOrbit(altitude=550.0)": "Give metres: 550 km is altitude=550e3",
    "GravityGradient(550e3)": "orbit must be a CircularOrbit or an EllipticOrbit, got 550000.0",
    "co_rotating_states(ff.World(a=hub, b=hub), CircularOrbit(550e3), (1, 2))": "places by name, {'a': PlaceInOrbit",
    "co_rotating_states(ff.World.of(hub), CircularOrbit(550e3), {'hub': (0, 0, 1)})": "'hub' must be a PlaceInOrbit",
}


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """What every call answers, from one process."""
    code = START + "import json\n"
    code += f"calls, said = {list(CALLS)!r}, []\n"
    code += "for call in calls:\n"
    code += "    try:\n        said.append('nothing wrong: ' + repr(eval(call))[:80])\n"
    code += "    except ValueError as error:\n        said.append(str(error))\n"
    code += "    except Exception as error:\n        said.append('raw ' + type(error).__name__ + ': ' + str(error))\n"
    code += "print(json.dumps(said))"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    import json

    return dict(zip(CALLS, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_call_gets_a_sentence(call, said):
    assert CALLS[call] in said[call]

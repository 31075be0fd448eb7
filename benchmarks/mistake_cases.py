# ruff: noqa: E501 (a table)
"""Mistakes that a new user makes, 38 in Python and 31 on the command line, and what an answer must have.

An answer has the thing that is wrong, the value or name that was given, and what is possible or what to do. Each is a
regular expression here; the value is empty where nothing was given.
"""

from dataclasses import dataclass

SETUP = """
import numpy as np
import jax.numpy as jnp
import freefloat as ff
ets7 = ff.library.ets7()
line = ff.Line(direction=(1, 0, 0), length=0.2, speed=0.01)
def probe(**changes):
    return ff.Spacecraft.from_base("probe", **{"mass": 100.0, "inertia": (10.0, 10.0, 10.0), **changes})
def arm(**changes):
    link = {"parent": "base", "joint": "revolute", "mass": 3.0, "inertia": (0.1, 0.1, 0.1), "at": (1, 0, 0), **changes}
    return probe().with_link("elbow", **link).with_frame("hand", body="elbow", at=(1, 0, 0))
"""


@dataclass(frozen=True)
class Mistake:
    """What was done, in Python or as the words of a command, and what the answer must have."""

    title: str
    done: str
    thing: str
    value: str
    remedy: str
    python: bool = True


PYTHON = (
    Mistake("negative mass", "probe(mass=-5.0)", "'base'.*mass", "-5 kg", "positive"),
    Mistake("zero mass", "probe(mass=0.0)", "'base'.*mass", "got 0", "positive"),
    Mistake("inertia of the wrong shape", "probe(inertia=(1.0, 2.0))", "inertia", r"\(2,\)|1\.0, 2\.0", r"3 x 3|\(3, 3\)|three"),
    Mistake("inertia that no body has", "probe(inertia=(1.0, 1.0, 9.0))", "'base'.*triangle", "9", "Give the inertia"),
    Mistake("mass as text with its unit", "probe(mass='100 kg')", "'base'.*mass", "100 kg", "numeric|number"),
    Mistake("unknown kind of joint", "arm(joint='hinge')", "'elbow'.*kind", "'hinge'", "revolute, prismatic"),
    Mistake("unknown parent", "arm(parent='bus')", "body|frame", "'bus'", "base"),
    Mistake("unknown frame", "ff.simulate(ets7, ff.ResolvedMotion(ets7, line, frame='hnd'), duration=1.0)", "frame", "'hnd'", "hand"),
    Mistake("unknown joint", "ets7.at_rest(joints_deg={'elbow': 3.0})", "joint", "'elbow'", r"arm\.1"),
    Mistake("unknown channel", "ff.simulate(probe(), duration=0.1)['position']", "channel", "'position'", r"base\.position"),
    Mistake(
        "unknown measurement",
        "@ff.record\nclass Mine(ff.Software):\n    def command(self, memory, y, clock):\n"
        "        return ff.JointTorques(('elbow',), y['joints.positon'])\nff.simulate(arm(), Mine(), duration=1.0)",
        "Mine", r"'joints\.positon'", r"joints\.position",
    ),
    Mistake("joints in the wrong number", "ff.simulate(ets7, joints_deg=(0, 0, 10), duration=1.0)", "joints_deg", "3|0, 0, 10", r"6 numbers \(arm\.1"),
    Mistake("missing file", "ff.read_urdf('missing.urdf')", "missing.urdf", "", "no file|not exist|no such|Give"),
    Mistake("not a robot file", "ff.read_urdf('notes.txt')", "notes.txt", "", "XML|URDF"),
    Mistake("MJCF given to the URDF reader", "ff.read_urdf('robot.xml')", "robot.xml", "mujoco|MJCF", "read_mjcf"),
    Mistake("mistyped path of a number", "ets7.with_value('arm.3.maas', 3.0)", r"arm\.3\.maas", "maas", r"Did you mean.*arm\.3\.mass"),
    Mistake(
        "software without its decorator",
        "class Mine(ff.Software):\n    gain: float = 2.0\n    def command(self, memory, y, clock):\n"
        "        return ff.JointTorques(('elbow',), -self.gain * y['joints.rate'])\nff.simulate(arm(), Mine(gain=3.0), duration=1.0)",
        "Mine", "gain|decorat", "@ff.record",
    ),
    Mistake(
        "command with the wrong arguments",
        "@ff.record\nclass Mine(ff.Software):\n    def command(self, y):\n        return ff.JointTorques(('elbow',), y['joints.rate'])\n"
        "ff.simulate(arm(), Mine(), duration=1.0)",
        r"Mine\.command", r"\(self, y\)|y", r"memory, y, clock",
    ),
    Mistake(
        "torque that is one number",
        "@ff.record\nclass Mine(ff.Software):\n    def command(self, memory, y, clock):\n        return ff.JointTorques(('elbow',), 3.0)\n"
        "ff.simulate(arm(), Mine(), duration=1.0)",
        "Mine|JointTorques", r"shape \(\)|3\.0|scalar", r"\(1,\)|1 number|one number for each|array",
    ),
    Mistake("missing on= in a world of two", "ff.simulate(ff.World(a=arm(), b=probe()), ff.effects.JointSpring('elbow', stiffness=1.0), duration=1.0)", "several spacecraft", "", "on=|a, b"),
    Mistake("quaternion that is no unit", "import dataclasses\nprobe().require_state(dataclasses.replace(probe().at_rest(), quat_NB=np.array([1.0, 1.0, 0.0, 0.0])))", "quat", r"1\.41|2|length", "unit"),
    Mistake(
        "software that is unstable",
        "@ff.record\nclass Mine(ff.Software):\n    def command(self, memory, y, clock):\n"
        "        return ff.JointTorques(('elbow',), 50.0 * y['joints.position'])\n"
        "ff.simulate(arm(), Mine(), joints={'elbow': 0.1}, duration=60.0)",
        "Mine|motion", "grows", "signs|gains",
    ),
    Mistake(
        "step too long for a mode",
        "panel = ff.flex.beam(length=2.0, mass=2.0, bending_stiffness=5e4, modes=3)\n"
        "ff.simulate(probe().mount(panel, name='panel'), duration=1.0, dt=0.05)",
        "panel", r"rad/s|Hz|1/s", r"dt\b",
    ),
    Mistake("package of an extra that is missing", "import sys\nsys.modules['matplotlib'] = None\nff.simulate(probe(), duration=0.1).plot('base.position')", "Figures", "", r"pip install 'freefloat\[export\]'"),
    Mistake("name that is taken", "arm().with_frame('hand', body='base')", "already|frame", "'hand'", "another name"),
    Mistake("state and joints at once", "ff.simulate(ets7, state=ets7.at_rest(), joints=np.zeros(6), duration=1.0)", "state", "joints", "not both|Give"),
    Mistake("duration that is no whole number of steps", "ff.simulate(probe(), duration=1.0, dt=0.3)", "duration", "1 s|1.0|0.3", "whole|multiple"),
    Mistake("negative duration", "ff.simulate(probe(), duration=-1.0)", "duration", "-1", "positive"),
    Mistake("unknown spacecraft of a world", "ff.World(a=probe(), b=probe()).craft('c')", "spacecraft", "'c'", "a, b"),
    Mistake("degrees given as radians", "ff.simulate(ets7, joints=(0, 0, 10, -32.8, 0, 0), duration=1.0)", r"arm\.4", "32.8", "joints_deg"),
    Mistake("millimetres given as metres", "ff.simulate(ets7, ff.ResolvedMotion(ets7, ff.Line(direction=(1, 0, 0), length=200.0, speed=10.0), frame='hand'), duration=1.0)", "path", "200", "mm"),
    Mistake("inertia in g mm2", "ff.simulate(probe(mass=400.0, inertia=(9e10, 9e10, 9e10)), duration=1.0)", "'base'.*inertia", r"9e\+10", "kg mm2|kg m2"),
    Mistake("no duration", "ff.simulate(ets7)", "simulate|duration", "", "duration=|Give"),
    Mistake("mistyped option", "ff.simulate(ets7, durations=1.0)", r"simulate\(\)", "'durations'", "Did you mean 'duration'"),
    Mistake("mistyped spacecraft of the library", "ff.library.ets8()", "library", "'ets8'", "Did you mean 'ets7'"),
    Mistake("mistyped component", "ff.simulate(probe(), duration=0.1)['base.roll_pitch_yaw'].sel(rpy='pich')", "rpy", "'pich'", "pitch"),
    Mistake("mistyped channel", "ff.simulate(probe(), duration=0.1)['base.rol_pitch_yaw']", "channel", "'base.rol_pitch_yaw'", r"Did you mean 'base\.roll_pitch_yaw'"),
    Mistake("print of an object", "print(ets7)\nprint(ff.World(a=arm(), b=ets7))", "Spacecraft 'ets7'", "2690.4 kg", r"arm\.6 .* revolute about x"),
)  # fmt: skip


def _command(title: str, words: str, thing: str, value: str, remedy: str) -> Mistake:
    return Mistake(title, words, thing, value, remedy, python=False)


COMMANDS = (
    _command("mistyped command", "rn ets7-gjm", "command", "'rn'", "'run'"),
    _command("mistyped option", "run ets7-gjm --ou x", "option", "--ou", "--out"),
    _command("no scenario", "run", "argument", "(?i)'scenario'", "--help"),
    _command("mistyped scenario", "run ets7-gmj", "scenario", "'ets7-gmj'", "Did you mean 'ets7-gjm'"),
    _command("a file without its ending", "run mission", "scenario", "'mission'", r"'mission\.py'"),
    _command("part of a variant's name", "run ets7-gjm --variant 4hz", "variant", "'4hz'", "'sampled-4hz'"),
    _command("mistyped setting", "run ets7-gjm --set durations=30", "setting", "'durations'", "'duration'"),
    _command("mistyped setting within a record", "run ets7-gjm --set path.sped=1", "setting", r"'path\.sped'", r"'path\.speed'"),
    _command("negative speed", "run ets7-gjm --set path.speed=-0.02", r"path\.speed", "-0.02", "must be > 0 m/s"),
    _command("a word for a number", "run ets7-gjm --set path.speed=fast", r"path\.speed", "'fast'", r"number \[m/s\]"),
    _command("not a number", "run ets7-gjm --set dt=nan", "dt", "nan", "finite"),
    _command("setting without a value", "run ets7-gjm --set duration", "setting", "'duration'", "--set path=value"),
    _command("folder that is taken", "run ets7-gjm --out taken", "taken", "exist", "--force"),
    _command("folder that is a file", "run ets7-gjm --out notes.txt", "notes.txt", "", "another --out"),
    _command("missing file of settings", "run missing.toml", "scenario file", r"missing\.toml", "Give scenario.toml"),
    _command("broken file of settings", "run broken.toml", r"broken\.toml", "line 1|at line", "TOML"),
    _command("settings of no scenario", "run nameless.toml", r"nameless\.toml", "which scenario", 'scenario = "ets7-gjm"'),
    _command("missing Python file", "run missing.py", "file", r"missing\.py", "Check its path"),
    _command("Python file with an error", "run faulty.py", r"faulty\.py", "line 2", "nothing_of_that_name|NameError"),
    _command("Python file without an experiment", "run empty.py", r"empty\.py", "nothing to run", r"build\(\)"),
    _command("missing robot file", "check missing.urdf", "robot file", r"missing\.urdf", "URDF, MJCF or SDF"),
    _command("page of no run", "page nowhere", "run", "nowhere", "--out"),
    _command("comparison of one run", "compare taken", "two runs", "1", "at least two"),
    _command("unknown kind of export", "export taken --to exel", "--to", "'exel'", "'?csv'?"),
    _command("map of one joint", "map ets7 --joint arm.2=-90:90", "two joints", "1", "--joint"),
    _command("mistyped spacecraft of a map", "map ets8 --joint arm.2=-90:90 --joint arm.3=-90:90", "library", "'ets8'", "'ets7'"),
    _command("unknown frame of a map", "map ets7 --joint arm.2=-90:90 --joint arm.3=-90:90 --frame hnd", "frame", "'hnd'", "hand"),
    _command("rehearsal of what names no robots", "rehearse ets7-gjm", "robots", "'ets7-gjm'", "RehearsedScenario"),
    _command("dispersed setting", "campaign run gain.toml --out c", "number", "'gain'", r"settings of its scenario are not"),
    _command("run that a campaign does not have", "campaign replay nowhere 3", "campaign", "nowhere", "--out"),
    _command("studio of nothing", "studio ets7-gmj", "scenario", "'ets7-gmj'", "Did you mean 'ets7-gjm'"),
)  # fmt: skip

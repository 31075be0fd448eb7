"""What `print` shows of spacecraft and worlds: every name and limit, at most 40 lines, never an array."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest

import freefloat as ff
from freefloat.model import Frame, JointLimits, RigidBody
from freefloat.model.craft_text import MOST_LINES, world_lines

LINK = {"mass": 2.0, "inertia": (0.1, 0.1, 0.1)}


def arm(joints: int, **limits: float) -> ff.Spacecraft:
    craft = ff.Spacecraft.from_base("probe", mass=100.0, inertia=(10.0, 10.0, 10.0))
    parent = "base"
    for number in range(joints):
        name = f"link{number}"
        craft = craft.with_link(
            name, parent=parent, joint="revolute", at=(0, 0, 0.3), limits=JointLimits(**limits), **LINK
        )
        parent = name
    return craft


def test_masses_joints_limits_wheels_and_frames_are_shown_with_units():
    craft = arm(1, lower=-np.pi / 2, upper=np.pi, rate=np.deg2rad(20.0), effort=30.0)
    craft = craft.with_link(
        "slide", parent="link0", joint="prismatic", axis=(-1, 0, 0), limits=JointLimits(0.0, 0.25), **LINK
    )
    craft = craft.with_wheel("spin", axis=(0, 0, 1), inertia=0.1, max_torque=0.2, max_momentum=12.0)
    assert str(craft.with_frame("hand", body="slide")).splitlines() == [
        "Spacecraft 'probe': 104 kg, 3 bodies, 2 moving joints, 1 wheel",
        "base              100 kg",
        "└─ link0            2 kg  revolute about z, -90 to 180 deg, 20 deg/s, 30 N m",
        "   └─ slide         2 kg  prismatic along -x, 0 to 0.25 m",
        "wheels on base: spin (0.2 N m, 12 N m s)",
        "frames: hand on slide",
    ]


@pytest.mark.parametrize(
    "craft",
    [ff.library.ets7(wheels=True), ff.library.station(), ff.library.srms(), arm(80)],
    ids=["ets7", "station", "srms", "chain"],
)
def test_every_spacecraft_fits_on_a_screen(craft):
    for text in (str(craft), repr(craft), str(ff.World(one=craft, other=craft, third=craft))):
        assert len(text.splitlines()) <= MOST_LINES
        assert "array(" not in text
        assert max(map(len, text.splitlines())) <= 120
    assert len(repr(craft).splitlines()) == 1


def test_what_is_left_out_is_counted():
    lines = str(arm(80)).splitlines()
    assert len(lines) == MOST_LINES
    assert lines[-1] == f"… and {81 - (MOST_LINES - 2)} bodies more"  # a line for the name, one for the rest


def test_a_world_of_many_keeps_every_name():
    craft = arm(6)
    world = ff.World(**{f"craft{k}": craft for k in range(12)}).connection("grasp", "craft0.link5", "craft1.base")
    lines = world_lines(world)
    assert len(lines) <= MOST_LINES
    assert all(any(name in line for line in lines) for name in world.names)
    assert "connection 'grasp': craft0.link5 and craft1.base, holds all" in lines


def test_traced_numbers_are_called_traced():
    @jax.jit
    def mass(value):
        craft = ff.Spacecraft(name="probe", bodies=(RigidBody("base", value, np.zeros(3), np.ones(3)),))
        assert str(craft).splitlines()[0] == "Spacecraft 'probe': traced kg, 1 body"
        assert "mass=traced" in repr(craft.bodies[0])
        return craft.mass

    assert mass(3.0) == 3.0


def test_records_show_few_numbers_and_the_shape_of_many():
    body = ff.library.ets7().bodies[1]
    assert repr(body) == "RigidBody(name='arm.1', mass=35, com=(0, 0, 0.175), inertia=<3x3 numbers>)"
    assert repr(Frame(name="hand", body="base", X_BF=(0, 0, 1.0))).startswith("Frame(name='hand', body='base'")
    assert "craft=<Spacecraft 'ets7'" in repr(
        ff.ResolvedMotion(ff.library.ets7(), ff.Line(direction=(1, 0, 0), length=0.1, speed=0.01), frame="hand")
    )


def test_html_has_the_tree_and_no_markup_of_a_name():
    craft = ff.Spacecraft.from_base("<b>probe", mass=1.0, inertia=(1, 1, 1))
    assert "&lt;b&gt;probe" in craft._repr_html_()
    assert "<b>" not in craft._repr_html_()


@pytest.mark.parametrize("things", [ff.library.ets7(), ff.World(chaser=ff.library.ets7())])
def test_the_terminal_of_ipython_shows_what_print_shows(things):
    shown = []
    things._repr_pretty_(SimpleNamespace(text=shown.append), cycle=False)
    assert shown == [str(things)]

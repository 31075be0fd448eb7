"""Attitude against the orbit, forces at frames, deflections, and a linear controller that uses them."""

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.control import OrbitAttitude, attitude_at
from freefloat.control.lqr import LinearController, StateSpace
from freefloat.dynamics import frame_pose
from freefloat.effects import CircularOrbit
from freefloat.model.part_kinds import Clock, Truth
from freefloat.spatial.rotations import rotation_exp, rotation_matrix

ORBIT = CircularOrbit(altitude=400e3)


@pytest.fixture(scope="module")
def boom() -> ff.Spacecraft:
    panel = ff.flex.beam(length=4.0, mass=8.0, bending_stiffness=400.0, modes={"z": 1}, damping_ratio=0.01)
    hub = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 25.0, 30.0))
    return hub.mount(panel, name="boom", at=ff.Pose(position=(0.5, 0.0, 0.0)))


def static_controller(D: np.ndarray, craft: ff.Spacecraft, reads, **more) -> LinearController:
    outputs, inputs = D.shape
    empty = np.zeros((0, 0)), np.zeros((0, inputs)), np.zeros((outputs, 0))
    names = more.pop("names")
    controller = StateSpace(*empty, D, (), tuple(f"y{k}" for k in range(inputs)), names, 0.01)
    return LinearController.of(controller, craft, reads, reference=np.zeros(inputs), **more)


class Told:
    """Measurements by name."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def valid(self, name: str) -> Any:
        return True

    def taken(self, name: str) -> Any:
        return 0.0


def test_rotation_in_orbit_is_found_again_at_any_time(rng):
    attitude = np.asarray(rotation_exp(rng.normal(size=3)))
    rotation = 0.3 * rng.normal(size=3)
    for t in (0.0, 1234.5):
        quat = attitude_at(ORBIT, attitude, rotation, t)
        turning = np.asarray(rotation_matrix(quat)).T @ np.array([0.0, -float(ORBIT.rate), 0.0])
        measured = {"base.attitude": quat, "base.rate": turning + np.array([1e-3, 0.0, 0.0])}
        y = Told(measured)
        told = OrbitAttitude(ORBIT, attitude).tell((), y, Clock(t=jnp.asarray(t), tick=jnp.asarray(0), dt=0.01))
        assert np.asarray(told["orbit.rotation"]) == pytest.approx(rotation, abs=1e-12)
        assert np.asarray(told["orbit.rate"]) == pytest.approx([1e-3, 0.0, 0.0], abs=1e-12)


def test_a_force_at_a_tip_does_the_work_of_a_wrench_there(boom):
    """The command pushes as a pulse from outside does, and the audit books it."""
    software = static_controller(np.zeros((1, 3)), boom, ["base.rate"], trim=0.5, names=("boom.tip.force.z",))
    ours = ff.simulate(boom, software, duration=1.0, dt=0.01)
    theirs = ff.simulate(boom, ff.WrenchPulse(frame="boom.tip", wrench=(0, 0, 0.5, 0, 0, 0)), duration=1.0, dt=0.01)
    assert ours["state.q"].values == pytest.approx(theirs["state.q"].values, abs=1e-13)
    assert ours.audit.holds
    assert ours["frames.force"].values[-1] == pytest.approx([0.5])
    assert ours["frames.force"].units == "N"


def test_commands_are_cut_turned_around_and_late():
    craft = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 25.0, 30.0))
    craft = craft.with_wheel("wheel", axis=(0.0, 0.0, 1.0), inertia=0.1)
    D = np.zeros((1, 3))
    parts = {"names": ("pitch",), "ports": {"pitch": "-wheel"}, "trim": 2.0, "largest": 0.5}
    software = static_controller(D, craft, ["base.rate"], **parts)
    run = ff.simulate(craft, software, duration=0.2, dt=0.01)
    assert run["controller.command"].values[-1] == pytest.approx([0.5])
    assert run["wheels.torque"].values[-1] == pytest.approx([-0.5])
    # a command that comes three samples late: before that the trim is given; a record shows the end of a step
    D[0, 2] = -1.0
    turning = dataclasses.replace(craft.at_rest(), v=0.1 * np.eye(craft.layout.nv)[5])
    software = static_controller(D, craft, ["base.rate"], names=("wheel",), late=3)
    run = ff.simulate(craft, software, state=turning, duration=0.1, dt=0.01, record_dt=0.01)
    given = run["controller.command"].values[:, 0]
    assert given[1:4] == pytest.approx([0.0, 0.0, 0.0])
    assert given[4:6] == pytest.approx([-0.1, -0.1], rel=1e-3)


def test_deflections_are_those_of_the_frames(boom):
    rest = np.full(boom.layout.nq, -0.02)  # it may be bent at rest, too
    sensor = ff.sensors.Deflection(("boom.tip",), rest)
    bent = dataclasses.replace(boom.at_rest(), q=rest + 0.01)
    told = sensor.measure(
        Truth(ff.World.of(boom), (bent,)), jnp.zeros((), int), Clock(t=jnp.asarray(0.0), tick=jnp.asarray(0), dt=0.01)
    )
    moved = np.asarray(frame_pose(boom, bent.q, "boom.tip").p - frame_pose(boom, rest, "boom.tip").p)
    assert np.asarray(told["frames.deflection"]) == pytest.approx(moved[2:], rel=1e-12)
    with pytest.raises(ff.ModelError, match="axis must be x, y or z"):
        ff.sensors.Deflection(("boom.tip",), rest, axis="w")
    with pytest.raises(ff.ModelError, match="no frame 'tip'"):
        ff.sensors.Deflection(("tip",), rest).check(boom)


def test_commands_that_nobody_takes_are_refused_by_name(boom):
    with pytest.raises(ff.ModelError, match=r"takes no command 'boom.tip.force.w'.*forces at frames, such as"):
        static_controller(np.zeros((1, 3)), boom, ["base.rate"], names=("boom.tip.force.w",))

    @ff.record
    class Push(ff.Software):
        frames: tuple = ff.static(default=("nowhere",))
        axes: str = ff.static(default="z")

        def command(self, memory, y, clock):
            return ff.FrameForces(self.frames, np.ones(len(self.frames)), self.axes)

    with pytest.raises(ff.SoftwareError, match="no frame 'nowhere'"):
        ff.simulate(boom, Push(), duration=0.1, dt=0.01)
    with pytest.raises(ff.SoftwareError, match=r"axes of FrameForces must be x, y or z"):
        ff.simulate(boom, Push(frames=("boom.tip",), axes="q"), duration=0.1, dt=0.01)

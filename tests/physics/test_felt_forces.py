"""What an accelerometer and a force sensor in a joint feel, against closed forms and Newton's balance."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.effects import CircularOrbit, GravityGradient, WrenchPulse
from freefloat.effects.contact import CompliantContact, HuntCrossley, Plane, Sphere
from freefloat.sensors import JointWrench, SpecificForce
from freefloat.sim import Run
from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_matrix

ARM = np.array([0.5, -0.2, 0.3])  # [m] from the centre of mass to the accelerometer
HUB = ff.Spacecraft.from_base("hub", mass=10.0, inertia=(2.0, 3.0, 4.0)).with_frame("imu", body="base", at=ARM)
LENGTH, PAYLOAD, COM, SPIN_INERTIA = 1.2, 4.0, 0.3, 0.5  # [m], [kg], [m], [kg m2]


def attitude(run: Run, name: str) -> np.ndarray:
    """R_NF of a frame at every record."""
    return np.stack([np.asarray(rotation_matrix(jnp.asarray(quat))) for quat in run.values(f"{name}.attitude")])


# ---- accelerometer


def test_a_constant_wrench_gives_force_over_mass_and_the_lever_arm_of_the_turning() -> None:
    force, torque = np.array([3.0, -1.0, 2.0]), np.array([0.4, -0.3, 0.2])  # [N], [N m]
    spin = np.array([0.3, -0.2, 0.5])  # [rad/s]
    push = WrenchPulse("base", np.concatenate([force, torque]))
    run = ff.simulate(HUB, SpecificForce("imu"), push, state=HUB.in_motion(rate=spin), duration=1.0, dt=0.05)
    inertia, felt, rates = np.diag([2.0, 3.0, 4.0]), run.values("imu.specific_force"), run.values("base.rate")
    alpha = np.linalg.solve(inertia, (torque - np.cross(rates, rates @ inertia)).T).T
    expected = force / 10.0 + np.cross(alpha, ARM) + np.cross(rates, np.cross(rates, ARM))
    # From the second record on: the push begins at the start, and what is felt is what acted until then. The rates are
    # those of the same record, so what is left is rounding.
    np.testing.assert_allclose(felt[1:], expected[1:], atol=1e-13)
    np.testing.assert_allclose(
        felt[0],
        np.cross(spin, np.cross(spin, ARM)) + np.cross(np.linalg.solve(inertia, -np.cross(spin, inertia @ spin)), ARM),
        atol=1e-13,
    )
    # Negative control: with the other sign of the lever arm's part it would be far off.
    assert np.max(np.abs(felt[1:] - (expected[1:] - 2.0 * np.cross(rates[1:], np.cross(rates[1:], ARM))))) > 0.05


def test_a_spinning_body_pulls_its_accelerometer_inwards_wherever_it_drifts() -> None:
    ball = ff.Spacecraft.from_base("ball", mass=5.0, inertia=(1.0, 1.0, 1.0)).with_frame("imu", body="base", at=ARM)
    spin = np.array([0.0, 0.0, 2.0])  # [rad/s]
    start = ball.in_motion(rate=spin, velocity=(7500.0, 0.0, 0.0))  # [m/s]: the drift costs no digits
    run = ff.simulate(ball, SpecificForce("imu"), state=start, duration=0.5, dt=0.05)
    inwards = np.tile([-4.0 * 0.5, 4.0 * 0.2, 0.0], (11, 1))
    np.testing.assert_allclose(run.values("imu.specific_force"), inwards, atol=1e-13)


@ff.record
class Swing(ff.control.RateSoftware):
    """Moves a joint as theta = A sin(w t)."""

    joints: tuple[str, ...] = ff.static(default=("boom",))
    amplitude: float = 0.7  # [rad]
    pulsation: float = 1.5  # [rad/s]

    def rates(self, memory: Any, y: Any, clock: ff.Clock) -> Any:
        return jnp.array([self.amplitude * self.pulsation * jnp.cos(self.pulsation * clock.t)])

    def motion(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rate and acceleration of the joint."""
        w = self.pulsation
        return self.amplitude * w * np.cos(w * t), -self.amplitude * w**2 * np.sin(w * t)


def boom() -> ff.Spacecraft:
    """A boom along x that turns about z, with a payload behind a fixed joint at its end."""
    return (
        ff.Spacecraft.from_base("stand", mass=100.0, inertia=(20.0, 20.0, 20.0))
        .with_link("boom", parent="base", joint="revolute", mass=2.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.2, 0.2))
        .with_link(
            "wrist",
            parent="boom",
            joint="fixed",
            at=(LENGTH, 0.0, 0.0),
            mass=PAYLOAD,
            com=(COM, 0.0, 0.0),
            inertia=(0.4, 0.4, SPIN_INERTIA),
        )
        .with_frame("tip", body="wrist", at=(0.6, 0.0, 0.0))
    )


def test_prescribed_joints_swing_an_accelerometer_and_a_payload_as_a_pendulum() -> None:
    world, swing = ff.World.of(boom()).hold_base(), Swing()
    run = ff.simulate(world, swing, SpecificForce("tip"), JointWrench("wrist"), duration=2.0, dt=0.05)
    rate, acceleration = swing.motion(run.values("time"))
    zero = np.zeros_like(rate)
    out = LENGTH + 0.6
    felt = np.stack([-out * rate**2, out * acceleration, zero], axis=1)
    np.testing.assert_allclose(run.values("tip.specific_force"), felt, atol=2e-9)  # rates 1e-9 of a step before: 2 w dt
    out = LENGTH + COM
    force = PAYLOAD * np.stack([-out * rate**2, out * acceleration, zero], axis=1)
    np.testing.assert_allclose(run.values("wrist.force"), force, atol=1e-8)
    torque = SPIN_INERTIA * acceleration + COM * force[:, 1]
    np.testing.assert_allclose(run.values("wrist.torque")[:, 2], torque, atol=1e-8)
    np.testing.assert_allclose(run.values("wrist.torque")[:, :2], 0.0, atol=1e-12)


def test_in_orbit_only_the_difference_of_gravity_is_felt() -> None:
    orbit = CircularOrbit(altitude=500e3)  # [m]
    craft = ff.Spacecraft.from_base("ball", mass=5.0, inertia=(1.0, 1.0, 1.0)).with_frame("imu", body="base", at=ARM)
    away = Pose(position=(40.0, -20.0, 10.0))  # [m] from N's origin
    parts = GravityGradient(orbit), SpecificForce("imu"), SpecificForce("base")
    run = ff.simulate(craft, *parts, state=craft.at_rest(at=away), duration=10.0, dt=1.0)
    np.testing.assert_allclose(run.values("base.specific_force"), 0.0, atol=1e-18)  # n^2 r = 5e-5: rounding
    for t, felt in zip(run.values("time"), run.values("imu.specific_force"), strict=True):
        nadir = np.asarray(orbit.nadir(t))
        tidal = orbit.rate**2 * (3.0 * np.outer(nadir, nadir) - np.eye(3))
        np.testing.assert_allclose(felt, -tidal @ ARM, atol=1e-15)  # 5e-16 by 1e-9 of a step of turning
    # Negative control: without a field to take off, the same motion would be felt as acceleration.
    assert np.linalg.norm(tidal @ (np.array([40.0, -20.0, 10.0]))) > 1e-5


@ff.record
class Thrust(ff.Software):
    """A force on the base that grows with every tick."""

    def command(self, memory: Any, y: Any, clock: ff.Clock) -> Any:
        return ff.BaseWrench(jnp.array([10.0, 0.0, 0.0, 0.0, 0.0, 0.0]) * (1.0 + clock.tick))


@ff.record
class Listener(ff.Software[Any]):
    """Remembers what it reads."""

    reads: str = ff.static()

    def begin(self, y: Any) -> Any:
        return 1.0 * y[self.reads]

    def remember(self, memory: Any, y: Any, clock: ff.Clock) -> Any:
        return 1.0 * y[self.reads]

    def channels(self) -> tuple[ff.Channel, ...]:
        return (ff.Channel("listener", "What it read", "SI", "", "xyz", ("x", "y", "z")),)

    def observe(self, memory: Any, y: Any, clock: ff.Clock, truth: Any) -> tuple[Any, ...]:
        return (memory,)


@pytest.mark.parametrize("read_by", ["ideal", "sensor"])
def test_a_tick_feels_the_command_that_was_held_until_then(read_by: str) -> None:
    """Whatever runs first: the command of the same tick is felt at the next one."""
    parts = (ff.sensors.Accelerometer("base"),) if read_by == "sensor" else (SpecificForce("base"),)
    craft = ff.Spacecraft.from_base("hub", mass=10.0, inertia=(2.0, 3.0, 4.0))
    run = ff.simulate(
        craft, Thrust(period=0.1), Listener("base.specific_force", period=0.1), *parts, duration=0.5, dt=0.1
    )
    # A record comes before its tick: what it shows was read one tick earlier, where the command before that was held.
    np.testing.assert_allclose(run.values("listener")[:, 0], [0.0, 0.0, 1.0, 2.0, 3.0, 4.0], atol=1e-12)


def test_continuous_software_is_told_to_sample_what_its_own_commands_decide() -> None:
    with pytest.raises(ff.SoftwareError, match=r"(?s)reads 'imu.specific_force'.*period="):
        ff.simulate(HUB, SpecificForce("imu"), _Feedback(), duration=0.1, dt=0.1)


@ff.record
class _Feedback(ff.Software):
    def command(self, memory: Any, y: Any, clock: ff.Clock) -> Any:
        return ff.BaseWrench(jnp.concatenate([-y["imu.specific_force"], jnp.zeros(3)]))


# ---- force and torque through a joint


def test_a_push_at_the_tip_goes_through_the_joint_by_the_share_of_the_masses() -> None:
    """Along the line of the centres of mass nothing turns: the joint carries what the inboard mass needs, and -f."""
    craft = (
        ff.Spacecraft.from_base("hub", mass=6.0, inertia=(1.0, 1.0, 1.0))
        .with_link("wrist", parent="base", joint="fixed", at=(0.5, 0.0, 0.0), mass=2.0, inertia=(0.1, 0.1, 0.1))
        .with_frame("tip", body="wrist", at=(0.2, 0.0, 0.0))
    )
    for frame, share in (("tip", -6.0 / 8.0), ("base", 2.0 / 8.0)):
        push = WrenchPulse(frame, (4.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        run = ff.simulate(craft, push, JointWrench("wrist"), duration=0.2, dt=0.1)
        np.testing.assert_allclose(run.values("wrist.force")[1:], np.tile([4.0 * share, 0.0, 0.0], (2, 1)), atol=1e-13)
        np.testing.assert_allclose(run.values("wrist.torque"), 0.0, atol=1e-13)
    at_port = ff.simulate(
        craft, JointWrench("wrist"), inputs={"tip.wrench": [4.0, 0, 0, 0, 0, 0]}, duration=0.2, dt=0.1
    )
    np.testing.assert_allclose(at_port.values("wrist.force")[1:, 0], -3.0, atol=1e-13)


def test_in_free_flight_nothing_goes_through_a_joint() -> None:
    craft = boom()
    run = ff.simulate(
        craft, JointWrench("wrist"), state=craft.in_motion(velocity=(1.0, 2.0, 3.0)), duration=0.2, dt=0.1
    )
    assert np.max(np.abs(run.values("wrist.force"))) == 0.0
    turning = ff.simulate(craft, JointWrench("wrist"), state=craft.in_motion(rate=(0, 0, 1.0)), duration=0.2, dt=0.1)
    assert np.max(np.abs(turning.values("wrist.force"))) > 1.0  # negative control


@pytest.mark.parametrize("tool", [1e-7, 3.0])  # [kg]
@pytest.mark.parametrize("first", ["arm.hand", "load.ring"])
def test_a_load_on_a_connection_is_felt_in_the_joint_before_it(tool: float, first: str) -> None:
    """Newton's balance of the tool: what the wrist gives it, less what it gives the load, accelerates it."""
    arm = (
        ff.Spacecraft.from_base("hub", mass=50.0, inertia=(9.0, 9.0, 9.0))
        .with_link("elbow", parent="base", joint="revolute", axis=(0.0, 1.0, 0.0), mass=3.0, inertia=(0.2, 0.2, 0.2))
        .with_link("wrist", parent="elbow", joint="fixed", at=(0.8, 0, 0), mass=tool, inertia=(0.1 * tool,) * 3)
        .with_frame("hand", body="wrist", at=Pose(position=(0.1, 0.0, 0.0)))
    )
    load = ff.Spacecraft.from_base("load", mass=8.0, inertia=(0.5, 0.6, 0.7)).with_frame(
        "ring", body="base", at=(-0.3, 0.1, 0.0)
    )
    second = "load.ring" if first == "arm.hand" else "arm.hand"
    world = ff.World(arm=arm, load=load).connection("grasp", first, second, on=True)
    states = {"arm": arm.at_rest(joints={"elbow": 0.4})}
    hand = np.asarray(ff.dynamics.inertial_frame_pose(arm, states["arm"], "hand").p)
    turned = ff.dynamics.inertial_frame_pose(arm, states["arm"], "hand").R
    states["load"] = load.at_rest(at=Pose(position=hand - turned @ np.array([-0.3, 0.1, 0.0]), rotation=turned))
    push = WrenchPulse("base", (0.0, 0.0, 5.0, 0.3, -2.0, 0.1), on="arm")
    run = ff.simulate(world, push, JointWrench("wrist", on="arm"), state=states, duration=0.4, dt=0.02)
    force, turn = run.values("arm.wrist.force")[1:], run.values("arm.wrist.torque")[1:]
    R = attitude(run, "arm.hand")[1:]  # aligned with the axes of the tool
    given = (
        np.einsum("kij,kj->ki", R, force)
        - (1.0 if first == "arm.hand" else -1.0) * run.values("connection.grasp.force")[1:]
    )
    assert np.max(np.abs(run.values("connection.grasp.force"))) > 0.1
    speed = run.values("arm.hand.velocity") - np.cross(  # of the tool's centre of mass, which is at the wrist
        run.values("arm.hand.rate"), np.einsum("kij,j->ki", attitude(run, "arm.hand"), [0.1, 0.0, 0.0])
    )
    acceleration = (speed[3:] - speed[1:-2]) / 0.04  # central: to third order of the step, about 2e-4 here
    np.testing.assert_allclose(given[1:-1], tool * acceleration, atol=2e-4 * tool + 1e-7)
    if tool < 1.0:  # about the wrist: the torque at the grasp, and its force at the lever of 0.1 m
        grasp = (1.0 if first == "arm.hand" else -1.0) * run.values("connection.grasp.torque")[1:]
        carried = np.einsum("kij,kj->ki", R.transpose(0, 2, 1), grasp) + np.cross([0.1, 0.0, 0.0], force)
        np.testing.assert_allclose(turn, carried, atol=1e-6)


def test_gravity_beyond_the_joint_is_taken_off() -> None:
    """A dumbbell along the vertical does not turn: its payload would fall away by the difference of gravity."""
    orbit = CircularOrbit(altitude=500e3)  # [m]
    nadir = np.asarray(orbit.nadir(0.0))
    craft = ff.Spacecraft.from_base("hub", mass=6.0, inertia=(1.0, 1.0, 1.0)).with_link(
        "wrist", parent="base", joint="fixed", at=tuple(4.0 * nadir), mass=2.0, inertia=(0.1, 0.1, 0.1)
    )
    start = craft.at_rest(at=Pose(position=-nadir))  # the centre of mass at N's origin
    for field in ("linear", "full"):
        run = ff.simulate(
            craft, GravityGradient(orbit, field=field), JointWrench("wrist"), state=start, duration=0.02, dt=0.01
        )
        pulled = 2.0 * orbit.rate**2 * 2.0 * 3.0  # mass times 2 n^2 r, r = 3 m from the centre
        # The full field adds terms of r/R = 4e-7; in 0.02 s the vertical turns by 2e-5 rad.
        np.testing.assert_allclose(run.values("wrist.force")[0], -pulled * nadir, rtol=2e-6, atol=1e-10)


@ff.record
class Wind(ff.Effect):
    """A push that does not say where."""

    def force(self, craft: ff.Spacecraft, state: ff.State, clock: ff.Clock) -> Any:
        return jnp.zeros(craft.layout.nv).at[0].set(1.0)


@ff.record
class Pull(Wind):
    """A push on both sides of the wrist."""

    def pushed_frames(self, craft: ff.Spacecraft) -> tuple[str, ...]:
        return "base", "tip"


@ff.record
class Jets(ff.Software):
    """Small jets at a frame."""

    frames: tuple[str, ...] = ff.static(default=("tip",))

    def command(self, memory: Any, y: Any, clock: ff.Clock) -> Any:
        return ff.FrameForces(self.frames, 0.1 * jnp.ones(len(self.frames)))


@ff.record
class Vane(ff.Actuator):
    """An actuator that does not say where it pushes."""

    def accepts(self, craft: ff.Spacecraft) -> tuple[ff.CommandPort, ...]:
        return (ff.CommandPort("vane.angle", "rad", ("one",)),)

    def force(self, truth: Any, memory: Any, u: Any, clock: ff.Clock) -> Any:
        return jnp.zeros(truth.craft.layout.nv)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (Wind(), "not known on which bodies Wind pushes.*pushed_frames"),
        (Pull(), "Pull pushes on both sides.*base, tip"),
        (Vane(), "not known on which bodies Vane pushes.*pushed_frames"),
        (Jets(("tip", "base"), period=0.1), "IdealFrameForces pushes on both sides.*tip, base"),
    ],
)
def test_what_cannot_be_divided_between_the_sides_of_a_joint_is_an_error(part: Any, message: str) -> None:
    with pytest.raises(ff.SoftwareError, match=message):
        ff.simulate(boom(), part, JointWrench("wrist"), duration=0.1, dt=0.1)


def test_jets_beyond_the_joint_are_felt_as_a_wrench_from_outside_is() -> None:
    jets = ff.simulate(boom(), Jets(period=0.1), JointWrench("wrist"), duration=0.3, dt=0.1)
    inputs = {"tip.wrench": [0.0, 0.0, 0.1, 0.0, 0.0, 0.0]}
    wrench = ff.simulate(boom(), JointWrench("wrist"), inputs=inputs, duration=0.3, dt=0.1)
    assert np.min(np.abs(wrench.values("wrist.force")[1:, 2])) > 0.01
    for name in ("wrist.force", "wrist.torque"):
        np.testing.assert_allclose(jets.values(name)[1:], wrench.values(name)[1:], atol=1e-14)


def test_jets_before_the_joint_are_felt_beyond_it_as_motion() -> None:
    """The payload feels nothing but its joint: force is its mass times the specific force of its centre of mass."""
    craft = boom().with_frame("load", body="wrist", at=(COM, 0.0, 0.0))
    parts = Jets(("base",), period=0.1), JointWrench("wrist"), SpecificForce("load")
    run = ff.simulate(craft, *parts, state=craft.in_motion(rate=(0.1, 0.3, 0.2)), duration=0.3, dt=0.1)
    np.testing.assert_allclose(run.values("wrist.force"), PAYLOAD * run.values("load.specific_force"), atol=1e-13)


@pytest.mark.parametrize("where", ["tip", "base"])
def test_a_compliant_contact_is_felt_by_the_joint_that_carries_it(where: str) -> None:
    """Newton's balance of the payload: joint and contact together accelerate its centre of mass."""
    craft = boom().with_frame("load", body="wrist", at=(COM, 0.0, 0.0))
    plane = Pose(position=(LENGTH + 0.6 if where == "tip" else 0.0, 0.0, -0.1))
    contact = CompliantContact(where, Sphere(0.1), "N", Plane(), HuntCrossley(1e4, 0.5), at_b=plane, name="floor")
    run = ff.simulate(
        craft,
        contact,
        JointWrench("wrist"),
        SpecificForce("load"),
        state=craft.in_motion(velocity=(0.0, 0.0, -0.05)),
        duration=0.1,
        dt=0.005,
    )
    on_N = run.values("contact.floor.force")
    assert np.max(np.abs(on_N)) > 1.0
    push = np.einsum("kji,kj->ki", attitude(run, "load"), -on_N) if where == "tip" else np.zeros_like(on_N)
    momentum_rate = PAYLOAD * run.values("load.specific_force")
    np.testing.assert_allclose(run.values("wrist.force") + push, momentum_rate, atol=1e-10)


def test_a_rigid_contact_that_rests_is_felt_too() -> None:
    """Pressed on the plane by its base, the payload stands still: the joint carries what the contact gives."""
    craft = (
        ff.Spacecraft.from_base("hub", mass=6.0, inertia=(1.0, 1.0, 1.0))
        .with_link("wrist", parent="base", joint="fixed", at=(0.0, 0.0, -0.5), mass=2.0, inertia=(0.1, 0.1, 0.1))
        .with_frame("foot", body="wrist", at=(0.0, 0.0, -0.2))
    )
    world = ff.World.of(craft).contact("floor", "foot", Pose(position=(0.0, 0.0, -0.75)), radius=0.05)
    push = WrenchPulse("base", (0.0, 0.0, -4.0, 0.0, 0.0, 0.0))
    start = craft.in_motion(velocity=(0.0, 0.0, -0.01))
    run = ff.simulate(world, push, JointWrench("wrist"), state=start, duration=0.3, dt=0.05)
    assert run.values("contact.floor")[-1] == 1.0
    np.testing.assert_allclose(run.values("contact.floor.force")[-1], 4.0, atol=1e-12)
    np.testing.assert_allclose(run.values("wrist.force")[-1], [0.0, 0.0, -4.0], atol=1e-12)


def test_compiled_code_and_plain_jax_feel_alike_and_finer_integration_changes_no_sample() -> None:
    """Sensors act at whole ticks, however finely they are integrated: so the audit's finer runs read the same."""
    hub = ff.Spacecraft.from_base("hub", mass=10.0, inertia=(2.0, 3.0, 4.0)).with_link(
        "wrist", parent="base", joint="revolute", mass=1.0, com=(0.4, 0.0, 0.0), inertia=(0.1, 0.1, 0.1)
    )
    parts = (
        ff.sensors.Accelerometer("wrist", period=0.1),
        ff.sensors.ForceTorqueSensor("wrist", period=0.1),
        Listener("wrist.torque", period=0.1),
        Swing(("wrist",)),
        GravityGradient(CircularOrbit(altitude=500e3)),  # [m]
        WrenchPulse("base", (3.0, -1.0, 2.0, 0.4, -0.3, 0.2)),
    )
    options: dict[str, Any] = {"state": hub.in_motion(rate=(0.3, -0.2, 0.5)), "duration": 0.4, "dt": 0.1}
    native, plain = (ff.simulate(hub, *parts, engine=engine, accuracy=False, **options) for engine in ("native", "jax"))
    assert np.max(np.abs(native.values("listener"))) > 0.1
    np.testing.assert_allclose(native.values("listener"), plain.values("listener"), atol=1e-12)
    finer = ff.simulate(hub, *parts, **{**options, "dt": 0.05})
    # The swing is prescribed, the spin is not: RK4 at 0.1 s is good to 1e-6.
    np.testing.assert_allclose(finer.values("listener")[2::2], native.values("listener")[1:], atol=1e-5)

"""Channels of a spacecraft with one part of every kind: `freefloat channels` lists them by default."""

from __future__ import annotations

import freefloat as ff
from freefloat.actuators import (
    ControlMomentGyros,
    Magnetorquers,
    Thrusters,
    joint_motor_channels,
    torque_pairs,
    wheel_channel,
)
from freefloat.control import (
    ApproachLimits,
    AttitudeFilter,
    AttitudeHold,
    CaptureApproach,
    GyroSteering,
    JointServo,
    Line,
    MechanicalGrasp,
    MomentumUnloading,
    ParallelJaw,
    ReactionlessTurn,
    ResolvedMotion,
    Turn,
)
from freefloat.effects import CircularOrbit, GravityGradient, JointFriction, JointSpring
from freefloat.effects.contact import CompliantContact, KelvinVoigt, Plane, Sphere
from freefloat.effects.joint_friction import Friction
from freefloat.library import with_gyro_pyramid
from freefloat.model import UniformMagneticField
from freefloat.model.shapes import Shape
from freefloat.sensors import Distance, JointWrench, SpecificForce
from freefloat.values.channels import Channel


def sample_channels() -> tuple[Channel, ...]:
    """Channels of every run first, then those of connections, brakes and contacts, then those of the parts."""
    hub = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0))  # [kg], [kg m2]
    gear = ff.JointFlexibility(stiffness=1e3, motor_inertia=1e-4, ratio=100.0)  # [N m/rad], [kg m2]
    link = {"joint": "revolute", "mass": 5.0, "inertia": (0.1, 0.4, 0.4)}
    hub = hub.with_link("elbow", parent="base", flexibility=gear, **link)
    hub = hub.with_shapes("elbow", Shape.ball((2.0, 0.0, 0.0), 0.1)).with_shapes(
        "base", Shape.ball((0.0, 0.0, 0.0), 0.5)
    )
    hub = hub.with_frame("hand", body="elbow").with_wheel("wheel", axis=(0.0, 0.0, 1.0), inertia=0.05)
    hub = hub.mount(ff.flex.beam(length=2.0, mass=2.0, bending_stiffness=50.0, modes=1), name="panel")
    world = ff.World.of(hub).connection("grasp", "hand", "N").brake("elbow").contact("foot", "hand", "N")
    parts = JointSpring("elbow", stiffness=1.0), JointFriction(Friction(coulomb=0.1))  # [N m/rad], [N m]
    quantities = SpecificForce("hand"), JointWrench("elbow"), Distance("hand", "panel.tip")
    spring = KelvinVoigt(stiffness=1e4)  # [N/m]
    touch = CompliantContact("hand", Sphere(0.1), "N", Plane(), spring, name="finger", pressed=True)  # [m]
    watched = ff.Clearance(pairs=(("base", "elbow"),))
    common = ff.Experiment.of(world, *parts, touch, watched, duration=1.0).channels()
    craft, thrusters = ff.library.ets7(wheels=True), Thrusters.from_nozzles(torque_pairs(arm=1.0, thrust=1.0))
    arm = ResolvedMotion(craft, Line(direction=(1, 0, 0), length=0.2, speed=0.01), frame="hand")
    software = (
        JointServo(craft=craft, arm=arm),
        ReactionlessTurn(craft=craft, path=Turn.by_deg((0, 1, 0), 10.0, 10.0), frame="hand"),
        AttitudeHold(craft=craft, feed_forward=arm),
        AttitudeFilter.steady(0.5, star_noise=1e-4, gyro_noise=1e-5, bias_walk=1e-7, period=0.1),
        MomentumUnloading(craft=craft, thrusters=thrusters),
        CaptureApproach(craft=craft, frame="hand", target="client.ring", limits=ApproachLimits(), period=0.1),
        MechanicalGrasp("grasp", ParallelJaw(angle=0.1, closing_time=1.0), "hand", "client.ring", period=0.1),
    )
    added = [channel for part in software for channel in part.channels()]
    added += [*thrusters.channels(craft), *GravityGradient(CircularOrbit(altitude=550e3)).channels(craft)]
    added += [channel for quantity in quantities for channel in quantity.channels(hub)]
    added += [*joint_motor_channels(craft, craft.layout.moving_joints), wheel_channel(craft, craft.wheel_names)]
    added += attitude_channels()
    known = {channel.name: channel for channel in (*reversed(added), *reversed(common))}
    return tuple(reversed(list(known.values())))


def attitude_channels() -> list[Channel]:
    """Channels of control-moment gyros with their steering, and of magnetorquers."""
    craft = ff.Spacecraft.from_base("satellite", mass=400.0, inertia=(60.0, 70.0, 50.0))  # [kg], [kg m2]
    craft = with_gyro_pyramid(craft, spin_inertia=0.05, mass=8.0, inertia=(0.06, 0.05, 0.04))
    gyros, coils = ControlMomentGyros.of(craft), Magnetorquers(UniformMagneticField(flux_density=(3e-5, 0.0, 0.0)))
    steering = GyroSteering(craft, gyros, AttitudeHold(craft, actuator="base torque"))
    return [*gyros.channels(craft), *steering.channels(), *coils.channels(craft)]

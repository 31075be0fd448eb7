"""Channels of a run, computed from recorded states: derived quantities are neither integrated nor stored twice."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import (
    composite_inertia,
    elastic_energy,
    inertial_frame_pose,
    kinetic_energy,
)
from freefloat.dynamics.elastic import flexible_bodies
from freefloat.dynamics.inner_motion import inner_motion
from freefloat.dynamics.kinematics import body_poses, body_twists
from freefloat.dynamics.momentum import momentum_about_origin, wheel_momentum
from freefloat.dynamics.tree import mount_of
from freefloat.model import Spacecraft, State, Truth, World
from freefloat.model.forces import Forces
from freefloat.sensors.quantities import joint_unit
from freefloat.sensors.quantity_lookup import find_quantity
from freefloat.sim.audit.equations_of_motion import equation_of_motion_residuals
from freefloat.sim.events.clearance_pairs import clearance_channels
from freefloat.sim.motion.accelerations import Balance
from freefloat.sim.motion.forces_before import ForcesBefore, balances_before, tick_before
from freefloat.sim.motion.measurement_bus import truth_of
from freefloat.sim.motion.port_bus import PortBus
from freefloat.sim.record.part_channels import part_channels
from freefloat.sim.record.world_channels import constraint_channels, interaction_channels
from freefloat.sim.system.craft_state import CraftState
from freefloat.sim.system.input_ports import port_shape
from freefloat.sim.system.software_checks import checked_call, require_observed
from freefloat.sim.system.system import Inputs, System, SystemState, tick_of
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import quaternion_conjugate, quaternion_multiply, roll_pitch_yaw, rotation_matrix
from freefloat.values import SoftwareError
from freefloat.values.arrays import Numeric, Vec3
from freefloat.values.channels import Channel, vector

ChannelValue = tuple[Channel, Numeric]

_TAKEN = ("time", "state.q", "state.v", "bodies.position", "bodies.attitude", "scene")  # what every run has besides

_SHARED_AXES = ("xyz", "wxyz", "rpy")  # components that mean the same whatever the spacecraft


def run_channels(system: System, state: SystemState, start: tuple[State, ...], inputs: Inputs) -> list[ChannelValue]:
    """Every channel with its value at a recorded instant; `start` has the states that attitude is reported against."""
    tick = tick_of(system, state)
    last, states, world, found = tick_before(system, tick), state.states, system.world, []
    now = balances_before(system, state, inputs, last, tick.t)

    def forces() -> Forces:
        return ForcesBefore(system, state, inputs, last, tick.t, now)

    for c, craft in enumerate(world.crafts):
        truth = truth_of(system, state, states, c, forces)
        own = [
            *_base(truth, start[c]),
            *_joints(truth, now[c]),
            *_flexible(truth),
            *_frames(truth),
            *_conservation_channels(truth, state.plants[c]),
            *equation_of_motion_residuals(craft, now[c]),
            *part_channels(PortBus(system, state, states, inputs, tick.t, tick.number, forces=forces), c, last.t),
            *_added_quantities(truth),
        ]
        found += [(owned_channel(world, c, channel), value) for channel, value in own]
    if not world.single:
        found += _world_channels(system, state)
    if world.has_events:
        found += constraint_channels(truth_of(system, state, states, 0), state, now)
    if system.interactions:
        found += interaction_channels(system, state)
    found += clearance_channels(system, states)
    found += _world_quantities(truth_of(system, state, states, 0, forces))
    found += [(_input_channel(system, port), inputs[port]) for port in system.ports]
    _require_distinct([channel for channel, _ in found])
    return found


def owned_channel(world: World, c: int, channel: Channel) -> Channel:
    """A channel of a spacecraft with its full name; of several spacecraft each has axes of its own."""
    if world.single:
        return channel
    prefix, name = world.prefix(c), world.names[c]
    axis = channel.axis if channel.axis in _SHARED_AXES or not channel.axis else prefix + channel.axis
    return replace(channel, name=prefix + channel.name, label=f"{name}: {channel.label}", axis=axis)


def _world_channels(system: System, state: SystemState) -> Iterator[ChannelValue]:
    """Channels of momentum, impulse and energy of all spacecraft together."""
    pairs = list(zip(system.world.crafts, state.plants, strict=True))
    momentum = sum(momentum_about_origin(craft, plant.state) for craft, plant in pairs)
    impulse = sum(plant.ledger.impulse for _, plant in pairs)
    yield vector("world.momentum.linear", "Linear momentum of all", "N s", "N"), linear(momentum)
    yield vector("world.momentum.angular", "Angular momentum of all about the origin", "N m s", "N"), angular(momentum)
    yield vector("world.impulse.linear", "External linear impulse on all", "N s", "N"), linear(impulse)
    yield vector("world.impulse.angular", "External angular impulse on all", "N m s", "N"), angular(impulse)
    energy = sum(kinetic_energy(craft, plant.state.q, plant.state.v) for craft, plant in pairs)
    yield Channel("world.energy.kinetic", "Kinetic energy of all", "J"), energy
    yield Channel("world.energy.work", "Work done on all", "J"), sum(plant.ledger.work for _, plant in pairs)


def _input_channel(system: System, port: str) -> Channel:
    name, shape = f"input.{port}", port_shape(system, port)
    axis = f"{name}.number" if shape else ""  # an axis called like the channel would take its place
    return Channel(name, f"From outside: {port}", "SI", "", axis, tuple(str(k + 1) for k in range(*shape or (0,))))


def _require_distinct(channels: list[Channel]) -> None:
    """Raise an error if two channels have one name, or one axis has two meanings."""
    names, axes = Counter((*_TAKEN, *(channel.name for channel in channels))), {}
    for channel in channels:
        if names[channel.name] > 1:
            raise SoftwareError(
                f"Two channels are called '{channel.name}'. Rename the frame or the software's channel."
            )
        if channel.axis and axes.setdefault(channel.axis, channel.components) != channel.components:
            raise SoftwareError(
                f"Channel '{channel.name}' has the axis '{channel.axis}' with {', '.join(channel.components)}, but "
                f"another has it with {', '.join(axes[channel.axis])}. Give it an axis of its own."
            )


def measured_channel(truth: Truth, name: str) -> ChannelValue:
    """Channel and value of a quantity on a part's own spacecraft."""
    found = find_quantity(truth.world, truth.quantities, name, truth.own)
    assert found is not None
    return found.channel, found.quantity.value(truth, name)


def _quantity_channels(truth: Truth, *names: str) -> Iterator[ChannelValue]:
    yield from (measured_channel(truth, name) for name in names)


def _added_quantities(truth: Truth) -> Iterator[ChannelValue]:
    """Channels of the quantities that a user has added on a spacecraft."""
    for quantity in truth.quantities:
        if not quantity.is_of_world and truth.world.index(quantity.on) == truth.own:
            channels = tuple(quantity.channels(truth.craft))
            with checked_call(quantity, "value"):
                values = [quantity.value(truth, channel.name) for channel in channels]
            yield from require_observed(quantity, channels, values, "value")


def _world_quantities(truth: Truth) -> Iterator[ChannelValue]:
    """Channels of added quantities that belong to the whole world."""
    for quantity in truth.quantities:
        for channel in quantity.world_channels(truth.world):
            yield channel, quantity.value(truth, channel.name)


def _base(truth: Truth, start: State) -> Iterator[ChannelValue]:
    state = truth.state
    turned = quaternion_multiply(quaternion_conjugate(jnp.asarray(start.quat_NB)), jnp.asarray(state.quat_NB))
    yield from _quantity_channels(truth, "base.position", "base.attitude")
    rpy = Channel(
        "base.roll_pitch_yaw", "Base rotation since the start (Z-Y-X)", "rad", "B0", "rpy", ("roll", "pitch", "yaw")
    )
    yield rpy, roll_pitch_yaw(rotation_matrix(turned))
    yield from _quantity_channels(truth, "base.velocity", "base.rate")


def _joints(truth: Truth, now: Balance) -> Iterator[ChannelValue]:
    craft, state, layout = truth.craft, truth.state, truth.craft.layout
    joints, wheels = (np.array(i, dtype=int) for i in (layout.joint_velocities, layout.wheel_velocities))
    torque = {"m": "N", "rad": "N m"}.get(joint_unit(craft), "N m, N")
    if joints.size:
        axis, names = "joint", layout.moving_joints
        yield from _quantity_channels(truth, "joints.position", "joints.rate")
        # What a connection elsewhere pulls at a joint, by way of the links, is no torque of the joint.
        own = now.force if now.connection is None else now.force - now.connection.pull
        own = own if now.touch is None else own - now.touch
        yield Channel("joints.torque", "Joint torque, friction subtracted", torque, "", axis, names), own[joints]
    yield from _motors(truth)
    if wheels.size:
        yield from _quantity_channels(truth, "wheels.speed")
        yield Channel("wheels.torque", "Wheel motor torque", "N m", "", "wheel", layout.wheels), now.force[wheels]
        yield from _quantity_channels(truth, "wheels.absolute_momentum")
        yield vector("wheels.momentum", "Momentum of the wheels", "N m s", "B"), _stored_in_wheels(craft, state)


def _stored_in_wheels(craft: Spacecraft, state: State) -> Vec3:
    """Momentum of all wheels along their axes, base axes [N m s]."""
    poses, momenta = body_poses(craft, state.q), wheel_momentum(craft, state.q, state.v)
    along = [poses[craft.body_index(wheel.body)].R @ jnp.asarray(wheel.axis) for wheel in craft.wheels]
    return jnp.stack(along, axis=1) @ momenta


def _motors(truth: Truth) -> Iterator[ChannelValue]:
    """Channels of the motors of flexible joints, at the joint: rotor angle over gear ratio."""
    craft, state, layout = truth.craft, truth.state, truth.craft.layout
    names = layout.flexible_joints
    if not names:
        return
    position = state.q[np.array(layout.motor_positions, dtype=int)]
    joints = np.array([layout.position(name).start for name in names], dtype=int)
    yield from _quantity_channels(truth, "motors.position", "motors.rate")
    torsion = Channel("motors.torsion", "Motor minus joint position", joint_unit(craft), "", "motor", names)
    yield torsion, position - state.q[joints]


def _flexible(truth: Truth) -> Iterator[ChannelValue]:
    craft, state = truth.craft, truth.state
    for body in flexible_bodies(craft):
        name = body.name
        if index := craft.body_index(name):  # the base's is there already
            rate = angular(body_twists(craft, state.q, state.v)[index])
            yield vector(f"{name}.rate", f"{name}: angular rate of its frame", "rad/s", name), rate
        yield from _quantity_channels(truth, f"{name}.modes", f"{name}.modal_rates")
        for node in body.nodes:
            moved = mount_of(craft, body, node.name, state.q).pose.p - node.position
            yield vector(f"{name}.{node.name}.displacement", f"{name}: displacement of {node.name}", "m", name), moved


def _frames(truth: Truth) -> Iterator[ChannelValue]:
    for frame in truth.craft.frames:
        yield from _quantity_channels(truth, f"{frame.name}.position")
        attitude, _ = measured_channel(truth, f"{frame.name}.attitude")  # recorded from its rotation matrix
        yield attitude, inertial_frame_pose(truth.craft, truth.state, frame.name).quaternion
        yield from _quantity_channels(truth, f"{frame.name}.velocity", f"{frame.name}.rate")


def _conservation_channels(truth: Truth, plant: CraftState) -> Iterator[ChannelValue]:
    at_origin, at_com = "about the inertial origin", "about the centre of mass"
    craft, state, ledger, X_NB = truth.craft, plant.state, plant.ledger, plant.state.X_NB
    whole, inner = composite_inertia(craft, state.q), inner_motion(craft, state.q, state.v)
    yield vector("com.position", "System centre of mass", "m", "N"), X_NB.apply(whole.com)
    yield Channel("com.inertia_trace", f"Trace of the inertia {at_com}", "kg m2"), jnp.trace(whole.about_com())
    yield vector("com.from_base", "System centre of mass in the base frame", "m", "B"), whole.com
    yield from _quantity_channels(truth, "momentum.linear", "momentum.angular")
    yield vector("momentum.angular_com", f"Angular momentum {at_com}", "N m s", "N"), X_NB.R @ inner.angular_momentum
    yield vector("impulse.linear", "External linear impulse", "N s", "N"), linear(ledger.impulse)
    yield vector("impulse.angular", f"External angular impulse {at_origin}", "N m s", "N"), angular(ledger.impulse)
    yield vector("impulse.angular_com", f"External angular impulse {at_com}", "N m s", "N"), ledger.angular_impulse_com
    yield Channel("energy.kinetic", "Kinetic energy", "J"), kinetic_energy(craft, state.q, state.v)
    yield Channel("energy.elastic", "Elastic energy", "J"), elastic_energy(craft, state.q)
    yield Channel("energy.inner", "Kinetic energy about the centre of mass, wheels apart", "J"), inner.energy
    yield Channel("energy.work", "Work done on the spacecraft", "J"), ledger.work
    yield Channel("energy.inner_work", "Work done on the motion about the centre of mass", "J"), ledger.inner_work
    yield Channel("energy.dissipated", "Energy lost in damping", "J"), ledger.dissipated
    if (given := ledger.exchange) is not None:
        push, turn = linear(given.impulse), angular(given.impulse)
        yield vector("connections.impulse.linear", "Impulse from others it is connected to", "N s", "N"), push
        yield vector("connections.impulse.angular", "Angular impulse from others, about the origin", "N m s", "N"), turn
        yield Channel("connections.work", "Work of connections and contacts", "J"), given.work

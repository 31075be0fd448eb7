"""Spacecraft to measure on, and the same ones for the peers."""

from __future__ import annotations

import numpy as np

from freefloat.library import ets7
from freefloat.model import ModalBody, Node, Spacecraft
from freefloat.spatial import Pose

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def with_arm(craft: Spacecraft, name: str, axes: str, mount: Pose, length: float = 0.4) -> Spacecraft:
    """Add a serial arm: slender links of falling mass, one joint each."""
    parent, at, mass = "base", mount, 12.0  # [kg]
    for number, axis in enumerate(axes, start=1):
        transverse = mass * (3 * 0.08**2 + length**2) / 12
        inertia = np.diag([transverse, 1.02 * transverse, mass * 0.08**2 / 2])
        inertia[0, 2] = inertia[2, 0] = 0.02 * transverse
        craft = craft.with_link(
            f"{name}.{number}",
            parent=parent,
            joint="revolute",
            axis=_AXES[axis],
            at=at,
            mass=mass,
            com=(0.01, 0.005, length / 2),
            inertia=inertia,
        )
        parent, at, mass = f"{name}.{number}", Pose(position=(0.0, 0.0, length)), max(0.9 * mass, 1.0)
    return craft


def hub() -> Spacecraft:
    """A servicer's body."""
    return Spacecraft.from_base("servicer", mass=800.0, com=(0.02, 0.0, 0.01), inertia=(400.0, 350.0, 500.0))


def dual_arm() -> Spacecraft:
    """Two 7-joint arms on a free base: 20 degrees of freedom."""
    craft = with_arm(hub(), "left", "zyzyzyz", Pose(position=(0.6, 0.5, 0.7)))
    return with_arm(craft, "right", "zyzyzyz", Pose(position=(0.6, -0.5, 0.7)))


def chain(joints: int) -> Spacecraft:
    """A free base with one long arm."""
    return with_arm(hub(), "arm", "".join("zyx"[k % 3] for k in range(joints)), Pose(position=(0.6, 0.5, 0.7)))


def with_modes(modes: int) -> Spacecraft:
    """A 6-joint arm and one flexible appendage with a generic modal mass matrix."""
    craft = with_arm(hub(), "arm", "zyyzyz", Pose(position=(0.6, 0.5, 0.7)))
    return craft.mount(generic_panel(modes), name="panel", at=Pose(position=(0.0, 1.0, 0.0))) if modes else craft


def generic_panel(modes: int, points: int = 200, seed: int = 1) -> ModalBody:
    """A cloud of mass points with random shapes: no structural zero anywhere."""
    rng = np.random.default_rng(seed)
    x, m = rng.normal(size=(points, 3)), rng.uniform(0.1, 0.3, points)
    phi = rng.normal(size=(points, 3, modes)) / np.sqrt(points)
    frequencies = 2 * np.pi * np.linspace(0.2, 2.0, modes)  # [rad/s]
    modal_mass = np.einsum("k,kai,kaj->ij", m, phi, phi)
    tip = Node(
        name="tip",
        position=x[0],
        translation=phi[0],
        rotation=0.1 * phi[1],
        foreshortening=np.zeros((3, modes, modes)),
    )
    return ModalBody(
        name="panel",
        mass=float(m.sum()),
        moment=m @ x,
        second_moment=np.einsum("k,ki,kj", m, x, x),
        modal_moment=np.einsum("k,kij->ij", m, phi),
        mixed_moment=np.einsum("k,ka,kbj->jab", m, x, phi),
        pair_moment=np.einsum("k,kai,kbj->ijab", m, phi, phi),
        modal_mass=modal_mass,
        stiffness=np.diag(frequencies**2 * np.diag(modal_mass)),
        damping=np.zeros((modes, modes)),
        short_moment=np.zeros((modes, modes, 3)),
        short_mixed_moment=np.zeros((modes, modes, 3, 3)),
        nodes=(tip,),
    )


CASES = {"ets7": ets7, "dual-arm": dual_arm}


def to_pinocchio(craft: Spacecraft):
    """The same rigid tree for Pinocchio, without gravity."""
    import pinocchio as pin

    model = pin.Model()
    root = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    ids = {"base": root}
    model.appendBodyToJoint(root, _inertia(pin, craft.bodies[0]), pin.SE3.Identity())
    places = {"base": pin.SE3.Identity()}  # of bodies on the joints that carry them
    for joint, body in zip(craft.joints, craft.bodies[1:], strict=True):
        axis = np.asarray(joint.axis)
        placement = places[joint.parent] * pin.SE3(np.asarray(joint.X_PJ.R), np.asarray(joint.X_PJ.p))
        places[body.name] = placement if joint.kind == "fixed" else pin.SE3.Identity()
        if joint.kind == "fixed":
            ids[body.name] = ids[joint.parent]
            model.appendBodyToJoint(ids[body.name], _inertia(pin, body), placement)
            continue
        kinds = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
        kind = kinds[int(np.argmax(axis))]() if np.max(axis) == 1.0 else pin.JointModelRevoluteUnaligned(*axis)
        ids[body.name] = model.addJoint(ids[joint.parent], kind, placement, joint.name)
        model.appendBodyToJoint(ids[body.name], _inertia(pin, body), pin.SE3.Identity())
    model.gravity.linear[:] = 0.0
    return model


def _inertia(pin, body):
    return pin.Inertia(float(body.mass), np.asarray(body.com), np.asarray(body.inertia))


def to_mujoco(craft: Spacecraft):
    """The same rigid tree for MuJoCo: RK4, no gravity, no contact."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.gravity = [0.0, 0.0, 0.0]
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.timestep = 0.01
    base = spec.worldbody.add_body(name="base")
    base.add_freejoint()
    bodies = {"base": _fill(base, craft.bodies[0])}
    for joint, body in zip(craft.joints, craft.bodies[1:], strict=True):
        turn = np.asarray(joint.X_PJ.quaternion)
        new = bodies[joint.parent].add_body(name=body.name, pos=np.asarray(joint.X_PJ.p), quat=turn)
        if joint.kind != "fixed":
            new.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=np.asarray(joint.axis))
        bodies[body.name] = _fill(new, body)
    return spec.compile()


def _fill(target, body):
    I = np.asarray(body.inertia)
    target.mass, target.ipos, target.explicitinertial = float(body.mass), np.asarray(body.com), True
    target.fullinertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    return target

"""A probe that goes into a cone, beside MuJoCo, where the cone is made of flat plates that touch it from outside.

MuJoCo's contact is an acceleration, -b v - k r along the normal, without pull: of a ball whose centre of mass is its
centre, that is a Kelvin-Voigt law with stiffness m k and damping m b. What is left between both without friction:
a ten-thousandth of softness, and steps of 20 us. With friction MuJoCo's contact is a convex problem, in
which slip lifts the probe off the wall by mu times its speed; ours is Coulomb's.
"""

import dataclasses

import numpy as np
import pytest

import freefloat as ff
from freefloat.effects.contact import Bristles, CompliantContact, ContactCone, KelvinVoigt, Probe

mujoco = pytest.importorskip("mujoco")

MASS, INERTIA = 2.0, 0.05  # [kg], [kg m2]
BALL, SHAFT, LENGTH = 0.03, 0.01, 0.3  # [m]
MOUTH, DEPTH, THROAT = 0.2, 0.2, 0.02  # [m]
STIFFNESS, RATIO = 2e5, 0.3
# In the middle of two plates that face one another: there a plate has the direction of the cone.
POSITION, VELOCITY = np.array([0.05, 0.0, 0.25]), np.array([0.02, 0.0, -0.4])  # [m], [m/s]
DURATION = 0.9  # [s]
LAW = KelvinVoigt.from_damping_ratio(STIFFNESS, RATIO, MASS)


def ours(friction):
    craft = ff.Spacecraft.from_base("probe", mass=MASS, inertia=np.full(3, INERTIA))
    tip_down = ff.Pose(rotation=np.diag([1.0, -1.0, -1.0]))
    contact = CompliantContact(
        "base",
        Probe(BALL, LENGTH, SHAFT),
        "N",
        ContactCone(MOUTH, DEPTH, THROAT),
        LAW,
        Bristles(friction, 1e6, 2e3),
        at_a=tip_down,
    )
    start = dataclasses.replace(craft.at_rest(), p_NB=POSITION, v=np.concatenate([VELOCITY, np.zeros(3)]))
    return ff.simulate(craft, contact, state=start, duration=DURATION, dt=1e-3)


def plates(spec, friction, count=48):
    """A funnel of flat plates, each touching the cone along a line of it."""
    slant = np.hypot(MOUTH - THROAT, DEPTH)
    rise, run = DEPTH / slant, (MOUTH - THROAT) / slant
    thick = 0.01
    for k in range(count):
        angle = 2.0 * np.pi * k / count
        out = np.array([np.cos(angle), np.sin(angle), 0.0])
        along, inward = run * out + rise * np.array([0, 0, 1.0]), -rise * out + run * np.array([0, 0, 1.0])
        middle = 0.5 * (MOUTH + THROAT) * out + np.array([0, 0, 0.5 * DEPTH]) - thick * inward
        R = np.column_stack([along, np.cross(inward, along), inward])
        quat = np.empty(4)
        mujoco.mju_mat2Quat(quat, R.ravel())
        wide = MOUTH * np.tan(np.pi / count)
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX, pos=middle, quat=quat, size=[0.5 * slant, wide, thick], **touch(friction)
        )


def touch(friction):
    k, b = STIFFNESS / MASS, LAW.damping / MASS
    return {
        "solref": [-k, -b],
        "solimp": [0.9999, 0.9999, 0.001, 0.5, 2.0],
        "friction": [friction, 0.0, 0.0],
        "condim": 3 if friction else 1,
    }


def its(friction, times):
    """Positions of the probe in MuJoCo at given times."""
    spec = mujoco.MjSpec()
    spec.option.gravity, spec.option.timestep = [0.0, 0.0, 0.0], 2e-5
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    plates(spec, friction)
    body = spec.worldbody.add_body(name="probe", pos=POSITION)
    body.add_freejoint()
    body.mass, body.explicitinertial, body.inertia, body.ipos = MASS, True, [INERTIA] * 3, np.zeros(3)
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[BALL, 0, 0], **touch(friction))
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qvel[:3] = VELOCITY
    found = []
    for t in times:
        while data.time < t - 1e-9:
            mujoco.mj_step(model, data)
        found.append(data.qpos[:3].copy())
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize(("friction", "permitted"), [(0.0, 5e-5), (0.05, 1.5e-3), (0.1, 3e-3)])
def test_a_probe_in_a_cone(friction, permitted):
    """Two bounces, from wall to wall; the distance between both probes over the whole way [m]."""
    run = ours(friction)
    touches = (run["contact.contact.points"].values > 0.0).astype(int)
    assert np.sum(np.diff(touches) == 1) >= 2
    times, positions = run["time"].values[::50], run["base.position"].values[::50]
    apart = np.linalg.norm(its(friction, times) - positions, axis=1)
    assert np.max(apart[:8]) < 1e-9  # before it touches
    assert np.max(apart) < permitted
    assert run.audit.holds

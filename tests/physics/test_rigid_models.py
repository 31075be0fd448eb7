"""The rigid model of a flexible spacecraft has the inertia of the flexible one at zero deflection, exactly."""

import numpy as np

import freefloat as ff
from freefloat.dynamics import frame_pose, mass_matrix
from freefloat.model import JointFlexibility


def servicer() -> ff.Spacecraft:
    """A hub with two beams, one at the tip of the other, an arm with a flexible joint, and a wheel."""
    beam = ff.flex.beam(length=4.0, mass=12.0, bending_stiffness=300.0, modes=3)
    craft = ff.Spacecraft.from_base("servicer", mass=300.0, inertia=(60.0, 70.0, 80.0), com=(0.05, -0.1, 0.2))
    craft = craft.mount(beam, name="left", to="base", at=ff.Pose(position=(0.0, 0.6, 0.1)))
    tip = craft.body("left").node_names[-1]
    craft = craft.mount(beam, name="outer", to=f"left.{tip}", joint="revolute", axis=(0.0, 0.0, 1.0))
    link = {"mass": 8.0, "com": (0.5, 0.0, 0.1), "inertia": (0.2, 0.9, 0.9)}
    craft = craft.with_link("elbow", parent="base", joint="revolute", axis=(0.0, 1.0, 0.0), **link)
    craft = craft.with_flexible_joint("elbow", JointFlexibility(stiffness=2e3, motor_inertia=2e-4, ratio=100.0))
    return craft.with_wheel("wheel", axis=(0.0, 0.0, 1.0), inertia=0.05)


def test_its_mass_matrix_is_the_rigid_block_of_the_flexible_one(rng):
    flexible, rigid = servicer(), servicer().rigid()
    assert not rigid.layout.modal_velocities
    assert not rigid.layout.flexible_joints
    assert rigid.layout.moving_joints == flexible.layout.moving_joints
    angles = dict(zip(flexible.layout.moving_joints, rng.uniform(-1.5, 1.5, 2), strict=True))
    q, q_rigid = (np.asarray(craft.at_rest(joints=angles).q) for craft in (flexible, rigid))
    gone = {*flexible.layout.modal_velocities, *flexible.layout.motor_velocities}
    kept = [k for k in range(flexible.layout.nv) if k not in gone]
    expected = np.asarray(mass_matrix(flexible, q))[np.ix_(kept, kept)]
    elbow = rigid.layout.velocity("elbow")
    expected[elbow, elbow] += 2e-4 * 100.0**2  # the rotor, which now turns with its joint
    np.testing.assert_allclose(np.asarray(mass_matrix(rigid, q_rigid)), expected, rtol=1e-12, atol=1e-12)


def test_frames_stay_where_they_were(rng):
    flexible, rigid = servicer(), servicer().rigid()
    assert rigid.frame_names == flexible.frame_names
    angles = dict(zip(flexible.layout.moving_joints, rng.uniform(-1.5, 1.5, 2), strict=True))
    for name in flexible.frame_names:
        a, b = (frame_pose(craft, craft.at_rest(joints=angles).q, name) for craft in (flexible, rigid))
        np.testing.assert_allclose(a.p, b.p, atol=1e-14)
        np.testing.assert_allclose(a.R, b.R, atol=1e-14)


def test_it_flies_and_a_stiffened_spacecraft_approaches_it():
    """Ten thousand times as stiff, the flexible one turns as its rigid model does: deflections go with 1/stiffness."""
    craft = servicer()
    push = ff.WrenchPulse("base", (0.0, 0.0, 0.0, 1.0, 2.0, 3.0), stop=0.5)
    turned = []
    for model in (craft.rigid(), _stiffened(craft, 1e4)):
        run = ff.simulate(model, push, duration=0.5, dt=2e-5 if model.layout.modal_velocities else 0.01)
        turned.append(run.values("base.rate")[-1])
    soft = ff.simulate(craft, push, duration=0.5, dt=2e-3).values("base.rate")[-1]
    assert np.linalg.norm(turned[1] - turned[0]) < 2e-2 * np.linalg.norm(soft - turned[0])


def _stiffened(craft: ff.Spacecraft, factor: float) -> ff.Spacecraft:
    for name in ("left", "outer"):
        craft = craft.with_value(f"{name}.stiffness", factor * np.asarray(craft.body(name).stiffness))
    return craft.with_stiff_joints()


def test_a_carriage_rides_the_same_rail():
    """Of the undeformed boom: the carriage is where it was at every station, and as heavy."""
    boom = ff.flex.beam(length=3.0, mass=5.0, bending_stiffness=60.0, modes=2, rail_stations=13, section_inertia=0.1)
    craft = ff.Spacecraft.from_base("hub", mass=30.0, inertia=(4.0, 5.0, 6.0)).mount(boom, name="boom")
    cart = ff.Spacecraft.from_base("cart", mass=2.0, inertia=(0.03, 0.04, 0.05))
    craft = craft.mount(cart, name="cart", to="boom", joint="rail")
    rigid = craft.rigid()
    for station in (0.3, 1.7, 2.9):
        q, q_rigid = (np.asarray(one.at_rest(joints={"cart": station}).q) for one in (craft, rigid))
        np.testing.assert_allclose(frame_pose(craft, q, "cart").p, frame_pose(rigid, q_rigid, "cart").p, atol=1e-14)
        kept = [k for k in range(craft.layout.nv) if k not in craft.layout.modal_velocities]
        expected = np.asarray(mass_matrix(craft, q))[np.ix_(kept, kept)]
        np.testing.assert_allclose(np.asarray(mass_matrix(rigid, q_rigid)), expected, rtol=1e-12, atol=1e-12)

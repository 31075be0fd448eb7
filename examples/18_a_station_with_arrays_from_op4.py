"""Lesson 18: a flexible station in orbit, its arrays replaced by an OP4 model: modes, refusals, a regulator, a page."""

import tempfile
from pathlib import Path

import numpy as np

import freefloat as ff
from freefloat.control.lqr import DesignError, design_lqr, mode_poles

FOLDER = Path(tempfile.mkdtemp())

# ---- what the structural department sends: a mast that carries a blanket, free, reduced to two grids and four modes

mast = ff.flex.meshed_beam(
    length=10.0,  # [m]
    mass_per_length=20.0,  # [kg/m]
    bending_stiffness=4000.0,  # [N m2]
    torsion_stiffness=1500.0,  # [N m2]
    axial_stiffness=1e6,  # [N]
    section_inertia=160.0,  # of the blanket about the mast [kg m]
    ends=("free", "free"),
)
grids = {"root": 101, "tip": 202}
ff.flex.write_reduced(FOLDER / "array.op4", ff.flex.reduced_model(ff.flex.craig_bampton(mast, list(grids), 4), grids))

# ---- from the file: a flexible body with its frame at grid 101; on the station in place of its own arrays

sent = ff.flex.read_reduced(FOLDER / "array.op4")
bare = ff.library.station().detach("array.1")[0].detach("array.2")[0]
orbit = ff.effects.CircularOrbit(altitude=400e3)


def model(damping_ratio, place):
    """Station, equilibrium and linear model; inputs are torques, joints, and forces along z at four tips."""
    array = sent.body("array", attach=101, nodes={"tip": 202}, damping=ff.flex.modal_damping(damping_ratio))
    craft = bare
    for name, side in (("array.1", 1.0), ("array.2", -1.0)):
        seat = ff.Pose.from_rpy_deg((0.0, 0.0, side * 90.0), (0.0, side * 2.5, 0.0))
        craft = craft.mount(array, name=name, to="base.left.tip", at=seat)
        corner = ff.Pose(position=(0.0, -side * 4.0, 0.0))  # 4 m off the mast, on the blanket
        craft = craft.with_frame(f"{name}.corner", body=name, node="tip", at=corner)
    q = np.zeros(craft.layout.nq)
    q[craft.layout.position("rail")] = 25.0  # the arm's base [m]
    q, attitude = ff.analysis.trim_in_orbit(craft, orbit, q, attitude=ff.library.STATION_ATTITUDE)
    pushed = ("base.left.tip", "base.right.tip", f"array.1.{place}", f"array.2.{place}")
    inputs = [
        *(f"base.torque.{axis}" for axis in "xyz"),
        "rail",
        "shoulder",
        "elbow",
        *(f"{f}.force.z" for f in pushed),
    ]
    return craft, q, ff.analysis.linearise_in_orbit(craft, orbit, q, attitude=attitude, inputs=inputs)


# ---- without damping: forces on the masts do not twist them; forces at the corners reach all but one mode

missed = {}
for place in ("tip", "corner"):
    try:
        design_lqr(model(0.0, place)[2].structure, Q=1e3, R=1.0)
    except DesignError as refusal:
        missed[place] = len(refusal.modes)
        print(f"refused, forces at the {place}s: {str(refusal).split(' Inputs')[0]}\n")
# The last one stretches both masts, which no force along z does. It needs damping, and real masts have it.

# ---- a regulator, what it does to every mode, and the page on which the modes move
craft, q, orbiting = model(0.001, "corner")
regulator = design_lqr(orbiting.structure, Q=1e3, R=1.0)
poles = mode_poles(orbiting.structure, regulator)
for name, pole in list(zip(orbiting.structure.modes.names, poles, strict=True))[6:12]:
    print(f"{name}: {100 * -pole.real / abs(pole):.2g} % of critical damping")
page = ff.linear_page(orbiting, FOLDER / "station.html", craft=craft, q=q, controller=regulator)
print(f"\n{page.name}, {page.stat().st_size / 1e6:.1f} MB: open it and choose a mode\n")

lowest = sent.body("array", attach=101).frequencies()[0]
print(f"checked: lowest frequency of the array, root held {lowest:.5f} rad/s (expected 0.48114 +- 1e-5)")
print(f"checked: modes that forces at the tips miss {missed['tip']} (expected 5 +- 0)")
print(f"checked: modes that forces at the corners miss {missed['corner']} (expected 1 +- 0)")

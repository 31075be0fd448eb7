"""Lesson 3: read a spacecraft from a URDF file, see what is wrong with another, hold a payload, push it."""

from pathlib import Path

import numpy as np

import freefloat as ff
from freefloat.model.dotted_paths import all_paths, value_at
from freefloat.readers.urdf.reader import lint_urdf

DATA = Path(__file__).parent / "data"

# ---- a faulty file is refused as a whole: every fault is named, nothing is guessed

print("servicer_broken.urdf")
for finding in lint_urdf(DATA / "servicer_broken.urdf"):
    print(f"  {finding.severity}: {finding}")
try:
    ff.read_urdf(DATA / "servicer_broken.urdf")
except ff.ModelError:
    print("  refused\n")

# ---- a good one: the root link becomes `base`, links on fixed joints become frames, wheels come along

servicer = ff.read_urdf(DATA / "servicer.urdf")
print(f"{servicer.name}: bodies {servicer.body_names}, moving joints {servicer.layout.moving_joints}")
print(f"  wheels {servicer.wheel_names}, frames {servicer.frame_names}")
print(f"  coordinates in v: {servicer.layout.order('v')}")
print(f"  forearm with its gripper: {servicer.body('forearm').mass:g} kg")

# Every number has a dotted path; a changed spacecraft is a new one.
heavier = servicer.with_value("base.mass", 450.0)
print(f"  {len(all_paths(servicer))} numbers, base.mass {servicer.body('base').mass:g} kg")
print(f"  base.mass of the changed one {heavier.body('base').mass:g} kg\n")

# ---- hold a payload: its frame `grip` coincides with our frame `gripper` from now on

payload = ff.Spacecraft.from_base("box", mass=30.0, inertia=(2.0, 2.0, 2.0))  # [kg], [kg m2]
payload = payload.with_frame("grip", body="base", at=ff.Pose(position=(-0.3, 0.0, 0.0)))
together = servicer.grasp(payload, name="box", hand="gripper", grip="grip")
print(f"together: bodies {together.body_names}, {sum(body.mass for body in together.bodies):g} kg")

# Written and read again it is the same spacecraft.
again = ff.read_urdf(ff.write_urdf(together))
difference = max(
    float(np.max(np.abs(np.asarray(value_at(again, p)) - np.asarray(value_at(together, p))), initial=0.0))
    for p in all_paths(together)
    if "limits" not in p and "max_" not in p  # where there is no limit it is infinite on both sides
)
print(f"  written to URDF and read back: largest difference {difference:.0e}\n")

# ---- push the payload for two seconds with 5 N along its own x axis; joints are limp, friction holds them a little

push = ff.WrenchPulse(frame="box", wrench=np.array([5.0, 0, 0, 0, 0, 0]), start=1.0, stop=3.0)
run = ff.simulate(together, push, joints_deg=(0.0, 30.0, -60.0), duration=10.0)
momentum, impulse = (run[f"{kind}.linear"].values[-1] for kind in ("momentum", "impulse"))
print(run.audit)
print(f"momentum {momentum.round(4)} N s = external impulse {impulse.round(4)} N s")
print(f"lost in the joints' damping: {float(run['energy.dissipated'][-1]):.4f} J")
print(f"of the work of the push:     {float(run['energy.work'][-1]):.4f} J\n")

# The box turns while it is pushed, so a little less than 5 N x 2 s remains. The step errs by less than 1e-7 here.
print(f"checked: mass of the whole {sum(body.mass for body in together.bodies):.4f} kg (expected 461 +- 1e-9)")
print(f"checked: momentum after the push {np.linalg.norm(momentum):.6f} N s (expected 9.996899 +- 2e-6)")

"""Lesson 6: a boom from the structural department. Read OP4 or DMIG, attach it, run it, and hear what is not known."""

from pathlib import Path

import numpy as np

import freefloat as ff

FILES = Path(__file__).parents[1] / "tests" / "fixtures"

# ---- M and K of a Craig-Bampton model, by labels (grid, component); component 0 is a fixed-interface mode

model = ff.flex.read_reduced(FILES / "boom.op4", mass="MAA", stiffness="KAA")
grids = {number: point.tolist() for number, point in model.grids.items()}
print(f"{model.source}: {len(model.labels)} coordinates, grids {grids}, modes {[g for g, c in model.labels if c == 0]}")

# The same model as DMIG cards, where every term carries its labels and a zero row may be missing.
cards = ff.flex.read_reduced(FILES / "boom.dmig")
difference = np.max(np.abs(cards.mass - model.mass)) / np.max(np.abs(model.mass))
print(f"{cards.source}: the same mass matrix to {difference:.0e}\n")

# ---- as a body: its frame at grid 101, which the spacecraft holds; grid 202 becomes a node

boom = model.body("boom", attach=101, nodes={"tip": 202}, damping=ff.flex.modal_damping(0.005))
print(f"{boom.mass:.3f} kg, {boom.modes} modal coordinates: {', '.join(boom.mode_names)}")
print("root held:", (boom.frequencies() / (2.0 * np.pi)).round(4), "Hz")
print(ff.flex.effective_mass(boom), "\n")

# A wrong file is refused in a sentence.
try:
    model.body("boom", attach=303)
except ff.ModelError as error:
    print(f"refused: {error}\n")

# ---- on a spacecraft, with an instrument on its tip; a push of two seconds at the tip

hub = ff.Spacecraft.from_base("hub", mass=120.0, inertia=(30.0, 30.0, 30.0))  # [kg], [kg m2]
camera = ff.Spacecraft.from_base("camera", mass=0.8, inertia=(0.01, 0.01, 0.01))
craft = hub.mount(boom, name="boom", at=ff.Pose(position=(0.5, 0.0, 0.0)))
craft = craft.mount(camera, name="camera", to="boom.tip")
push = ff.WrenchPulse(frame="camera", wrench=np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), stop=2.0)
run = ff.simulate(craft, push, duration=30.0, dt=0.005, record_dt=0.05)

tip = 1e3 * run["boom.tip.displacement"].sel(xyz="z")
momentum = run["momentum.linear"].values[-1]
print(run.audit)
print(f"\nthe tip moves by {float(abs(tip).max()):.2f} mm; momentum after the push {momentum.round(4)} N s")
print(f"lost in the boom's damping: {float(run['energy.dissipated'][-1]):.2e} J\n")

# The audit says it: without mode shapes nobody knows where the mass goes when the boom bends, so its inertia is that
# of the undeformed boom. Momentum and energy still balance: they are those of this model.
assert any("first order" in warning for warning in run.audit.warnings)
# Printed digits; the step errs by 1e-7 of the tip's motion. The boom turns a little, and with it what pushes it.
print(f"checked: mass {boom.mass:.6f} kg (expected 9.5 +- 1e-6)")
print(f"checked: lowest frequency {boom.frequencies()[0] / (2.0 * np.pi):.6f} Hz (expected 0.315238 +- 1e-6)")
print(f"checked: largest tip displacement {float(abs(tip).max()):.3f} mm (expected 26.249 +- 1e-3)")
print(f"checked: momentum along the push {momentum[2]:.4f} N s (expected 2 +- 0.01)")

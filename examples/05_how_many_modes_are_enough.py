"""Lesson 5: how many modes are enough? Hub and two beams against the exact frequency, and a rule by effective mass."""

import numpy as np
import scipy.linalg
from scipy.optimize import brentq

import freefloat as ff

LENGTH, MASS, STIFFNESS = 0.635, 0.83, 0.46  # of each beam: [m], [kg], EI [N m2]
HUB = 50.0  # [kg]

# ---- the exact answer: hub and two clamped beams, shaken at b^2 = w sqrt(m L^3 / EI), carry no force in all


def balance(b, hub):
    s, c, sh, ch = np.sin(b), np.cos(b), np.sinh(b), np.cosh(b)
    return b * hub * (1.0 + c * ch) + 2.0 * MASS * (s * ch + c * sh)


def exact(hub):
    b = brentq(balance, 1.875, 2.5, args=(hub,), xtol=1e-15, rtol=1e-14)
    return b**2 * np.sqrt(STIFFNESS / (MASS * LENGTH**3))


# ---- ours: two beams with eight exact clamped modes each, on a hub of any mass

MOST = 8
panel = ff.flex.beam(length=LENGTH, mass=MASS, bending_stiffness=STIFFNESS, modes={"y": MOST})


def spacecraft(hub):
    craft = ff.Spacecraft.from_base("hub", mass=hub, inertia=(hub / 6.0,) * 3)
    return craft.mount(panel, name="right").mount(panel, name="left", at=ff.Pose.from_rpy_deg((0.0, 0.0, 180.0)))


def frequencies(hub):
    """The lowest one with 1 to 8 modes: leaving a mode out is striking out its row and column."""
    craft = spacecraft(hub)
    M = np.asarray(ff.dynamics.mass_matrix(craft, np.zeros(craft.layout.nq)))
    K = scipy.linalg.block_diag(np.zeros((6, 6)), panel.stiffness, panel.stiffness)
    for n in range(1, MOST + 1):
        kept = np.r_[0:6, 6 : 6 + n, 6 + MOST : 6 + MOST + n]  # base, modes of the right beam, of the left
        squared = scipy.linalg.eigh(K[np.ix_(kept, kept)], M[np.ix_(kept, kept)], eigvals_only=True)
        yield np.sqrt(squared[6])  # the first six are rigid motion


print(f"exact first frequency of the {HUB:g} kg hub: {exact(HUB) / (2 * np.pi):.6f} Hz; errors of the model:\n")
print("modes   50 kg hub   no hub at all")
heavy, light = (np.array(list(frequencies(hub))) / exact(hub) - 1.0 for hub in (HUB, 1e-9))
for n in range(MOST):
    print(f"{n + 1:5d}   {heavy[n]:9.1e}   {light[n]:9.1e}")
all_modes = ff.dynamics.natural_frequencies(spacecraft(HUB))  # what one calls in practice
assert abs(all_modes[0] / exact(HUB) - 1.0 - heavy[-1]) < 1e-11

# A clamped shape does not know that its root moves, so the lighter the hub, the more shapes it takes. The error comes
# from above (any restriction makes a structure stiffer) and falls with the fifth power of the number of modes.
assert all(np.all(np.diff(errors) < 0.0) for errors in (heavy, light))
order = np.log(light[3] / light[7]) / np.log(2.0)
print(f"\nfrom 4 to 8 modes the error falls by {light[3] / light[7]:.0f}: order {order:.1f}\n")

# ---- when there is no exact answer: the mass that the modes carry

table = ff.flex.effective_mass(panel)
print(table)
print("modes that carry 90 % of the mass:", table.enough("y", 0.9), "- of the inertia:", table.enough("rz", 0.9))

# Exact to the printed digits; rounding of the eigenvalues is 1e-13, far below.
print(f"\nchecked: exact frequency {exact(HUB) / (2 * np.pi):.6f} Hz (expected 0.831515 +- 1e-6)")
print(f"checked: error with one mode {1e6 * heavy[0]:.2f} ppm (expected 1.7 +- 0.05)")
print(f"checked: error with three modes, no hub, {1e6 * light[2]:.1f} ppm (expected 70 +- 0.5)")
print(f"checked: order of convergence {order:.2f} (expected 5 +- 0.2)")
print(f"checked: mass carried by the first mode {table.fractions[0, 1]:.6f} (expected 0.613076 +- 1e-6)")

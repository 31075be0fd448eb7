"""Lesson 2: momentum decides how the base moves. Free-floating matrices of ETS-VII, and a loop that does not close.

The equations are numbered as in docs/theory-free-floating.md.
"""

import jax
import numpy as np

import freefloat as ff
from freefloat import dynamics

craft = ff.library.ets7()
q = np.deg2rad([0.0, 0.0, 10.0, -32.8, 0.0, 0.0])  # where the flight experiment began
joint_2 = np.deg2rad([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])  # 1 deg/s at the shoulder [rad/s]


@jax.jit  # traced once; without it every operation is dispatched by itself, which takes longer
def matrices(q):
    return (
        dynamics.free_floating(craft, q),
        dynamics.joint_jacobian(craft, q, "hand"),
        dynamics.generalized_jacobian(craft, q, "hand"),
        dynamics.reaction_null_space(craft, q),
    )


body, J_m, J_g, projector = matrices(q)

# ---- the base answers (eq. 4): with no momentum, the arm's share and the base's share cancel

rate = -np.linalg.solve(body.angular_inertia, body.angular_coupling @ joint_2)
print(f"whole spacecraft {float(body.mass):.1f} kg, centre of mass {np.asarray(body.com).round(3)} m from the base's")
print(f"1 deg/s at joint 2 turns the base by {np.rad2deg(rate).round(4)} deg/s about x, y, z")

# ---- the hand moves less than a fixed-base robot's would (eq. 5, 6)

fixed, floating = (np.linalg.norm((J @ joint_2)[:3]) for J in (J_m, J_g))
print(f"the hand moves at {1e3 * fixed:.2f} mm/s if the base is held, at {1e3 * floating:.2f} mm/s if it floats")

# ---- some motions do not turn the base at all (eq. 9): the reaction null space

quiet = projector @ joint_2
left = np.rad2deg(np.linalg.norm(np.linalg.solve(body.angular_inertia, body.angular_coupling @ quiet)))
print(f"projected into the reaction null space ({np.trace(projector):.0f} of 6 directions) the same motion turns it by")
print(f"{left:.0e} deg/s: it moves the joints at {np.rad2deg(quiet).round(3)} deg/s")

# ---- rates balance at every instant, but angles do not: go round a square in joint space and come back

corners = [q, q + np.deg2rad([0, 40, 0, 0, 0, 0]), q + np.deg2rad([0, 40, 40, 0, 0, 0])]
corners += [q + np.deg2rad([0, 0, 40, 0, 0, 0]), q]
pitch = {}
for way, points in (("round", corners), ("back again", corners[::-1])):
    software = ff.control.JointSpline.through(craft, np.rad2deg(points), durations=[15.0] * 4)
    run = ff.simulate(craft, software, state=craft.at_rest(q), duration=60.0)
    pitch[way] = float(np.rad2deg(run["base.roll_pitch_yaw"].sel(rpy="pitch").values[-1]))
    momentum = float(np.max(np.abs(run["momentum.angular_com"].values)))
    print(f"\nloop {way}: joints back where they were, base pitch {pitch[way]:+.6f} deg, momentum {momentum:.0e} N m s")
    print(run.audit)

# Rounding differs between machines by some 1e-12, the step's error is below 1e-8 deg: the last printed digit decides.
print(f"\nchecked: base pitch rate {np.rad2deg(rate[1]):.6f} deg/s (expected -0.043106 +- 1e-6)")
print(f"checked: hand speed, floating {1e3 * floating:.4f} mm/s (expected 25.4471 +- 1e-4)")
print(f"checked: pitch after the loop {pitch['round']:.6f} deg (expected -0.632557 +- 1e-6)")
print(f"checked: pitch after both loops {pitch['round'] + pitch['back again']:.6f} deg (expected 0 +- 1e-6)")

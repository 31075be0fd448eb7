"""Lesson 21: a tumbling satellite fits into a cell of two robots.

Envisat turns at 2.5 deg/s; its grasp ring sweeps 1.8 m in 14 s, and more with every second. A servicer floats before it
and brakes for a while. Two robots that make these motions as they are run out of room. If both leave out what Envisat
would do if nothing ever pushed it, they make the same relative motion, and Envisat's robot stands still; until a push
on the ring moves Envisat off its unforced motion. Only that is left for its robot.
"""

import numpy as np

import freefloat as ff
from freefloat.dynamics import FrameMotion, advance_unforced, composite_inertia, from_cell, to_cell, unforced_motion

client, servicer = ff.library.envisat(), ff.library.servicer()
tumbling = ff.library.envisat_start(spin_deg_s=-2.5)
facing = ff.library.servicer_start(tumbling)  # co-rotating, the tool 0.15 m off the ring
world = ff.World(servicer=servicer, client=client)

DT, DURATION = 0.01, 14.0  # [s]
thrust = ff.WrenchPulse("base", (-6.0, 0, 0, 0, 0, 0), 2.0, 4.0, on="servicer")  # [N, N m], [s]
bump = ff.WrenchPulse("ring", (0, 0, 300.0, 0, 0, 0), 6.0, 6.5, on="client")
run = ff.simulate(
    world, thrust, bump, state={"servicer": facing, "client": tumbling}, duration=DURATION, dt=DT, record_dt=DT
)
print(run)


def motions(name: str) -> list[FrameMotion]:
    """What the base frame of a spacecraft does in orbit, at every record."""
    twists = np.hstack([run.values(f"{name}.base.velocity"), run.values(f"{name}.base.rate")])
    poses = run.values(f"{name}.base.position"), run.values(f"{name}.base.attitude")
    return [FrameMotion(*row) for row in zip(*poses, twists, strict=True)]


# The nominal motion: Envisat's own, as if nothing ever pushed it. Both robots leave it out.
body = composite_inertia(client, np.zeros(0))
nominals = [unforced_motion(body, motions("client")[0])]
for _ in range(len(run["time"]) - 1):
    nominals.append(advance_unforced(body, nominals[-1], DT))

X_FZ = ff.Pose(position=(-1.05, 0.0, 1.4))  # where Envisat's centre of mass stands on the floor of the cell [m]
orbit = {name: motions(name) for name in world.names}
cell = {name: [to_cell(X_FZ, Z, M) for Z, M in zip(nominals, orbit[name], strict=True)] for name in world.names}
for name, frame in (("client", "ring"), ("servicer", "tool")):
    swept = np.linalg.norm(run.values(f"{name}.{frame}.position") - run.values(f"{name}.{frame}.position")[0], axis=1)
    moved = np.array([motion.position for motion in cell[name]])
    left = np.linalg.norm(moved - moved[0], axis=1)
    print(f"{name}: its {frame} sweeps {swept.max():.2f} m in orbit; in the cell its base moves {left.max():.2f} m.")

# Before the bump Envisat's robot stands still; after it, it makes what the bump did and nothing else.
client_cell = np.array([motion.position for motion in cell["client"]])
before = np.linalg.norm(client_cell[:600] - client_cell[0], axis=1).max()
print(f"checked: motion of Envisat's robot before the bump {before:.1e} m (expected 0 +- 1e-12)")

# Relative geometry is the same in the cell as in orbit, whatever pushes.
worst = 0.0
for k in range(0, len(nominals), 50):
    there, here = (where["servicer"][k].pose.inverse() @ where["client"][k].pose for where in (orbit, cell))
    worst = max(worst, float(np.max(np.abs(here.p - there.p))))
print(f"checked: geometry between both, cell against orbit {worst:.1e} m (expected 0 +- 1e-12)")

# And what sensors and on-board software must be told comes back from the cell.
back = from_cell(X_FZ, nominals[-1], cell["servicer"][-1])
apart = np.linalg.norm(back.position - run.values("servicer.base.position")[-1])
print(f"checked: servicer mapped back from the cell {apart:.1e} m off (expected 0 +- 1e-12)")

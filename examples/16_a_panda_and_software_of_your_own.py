"""Lesson 16: a Panda on the same bus, and software of your own that leaves the panels quiet.

An arm that moves and stops makes the panels swing. Software that gives half of the motion at once and the other half
half a vibration later makes what the first half stirred up vanish (a zero-vibration shaper). That is linear
thinking: here the arm pitches by 15 deg. A large motion changes the inertia on its way, and much of the swing stays.
"""

import tempfile
from pathlib import Path

import numpy as np
from scipy.linalg import eigh

import freefloat as ff
from freefloat.control import JointSpline, RateSoftware

ROBOTS = Path(__file__).parent / "data" / "robots"
POSE = {"panda.joint_2": 60.0, "panda.joint_4": -60.0, "panda.joint_6": 90.0}  # [deg]

bus, arm = ff.read_urdf(ROBOTS / "bus.urdf"), ff.read_urdf(ROBOTS / "panda.urdf")
panel = ff.flex.beam(length=4.0, mass=15.0, bending_stiffness=600.0, modes={"z": 1})  # [m], [kg], [N m2]
craft = bus.mount(panel, name="left", at=ff.Pose.from_rpy_deg((0.0, 0.0, 90.0), (0.0, 0.5, 0.0)))
craft = craft.mount(panel, name="right", at=ff.Pose.from_rpy_deg((0.0, 0.0, -90.0), (0.0, -0.5, 0.0)))
craft = craft.mount(arm, name="panda", at=(0.3, 0.0, 0.5))


# ---- the software: it sees nothing, and says how fast the joints move


@ff.record
class Shaped(RateSoftware):
    """Half of a motion now, half of it a delay later."""

    motion: JointSpline
    delay: float  # [s]

    @property
    def joints(self):
        return self.motion.joints

    def rates(self, memory, y, clock):
        t, hold = clock.t, clock.hold
        return 0.5 * (self.motion.rates_at(t, hold) + self.motion.rates_at(t - self.delay, hold))


# ---- the slowest vibration with the joints locked and the bus floating: modes against base and wheels

start = craft.at_rest(joints_deg=POSE)
M, layout = np.asarray(ff.dynamics.mass_matrix(craft, start.q)), craft.layout
soft, free = list(layout.modal_velocities), [*range(6), *layout.wheel_velocities]
inertia = M[np.ix_(soft, soft)] - M[np.ix_(soft, free)] @ np.linalg.solve(M[np.ix_(free, free)], M[np.ix_(free, soft)])
stiffness = np.diag([float(craft.body(name).stiffness[0, 0]) for name in ("left", "right")])
slow, fast = np.sqrt(eigh(stiffness, inertia, eigvals_only=True))  # together, and against each other [rad/s]
print(f"the panels swing with {slow / (2 * np.pi):.3f} Hz together and {fast / (2 * np.pi):.3f} Hz against each other")

# ---- a quick pitch of the arm, as it is and shaped for the slow vibration

swing = JointSpline.through(craft, [POSE, {"panda.joint_2": 75.0}], durations=[1.0])  # [s]
left, runs = {}, {}
for name, software in (("plain", swing), ("shaped", Shaped(swing, delay=np.pi / slow))):
    run = runs[name] = ff.simulate(craft, software, state=start, duration=12.0, dt=0.02)
    both = run["left.tip.displacement"].values[:, 2] + run["right.tip.displacement"].values[:, 2]
    left[name] = 1e3 * np.abs(both[run["time"].values > 4.0]).max() / 2.0  # [mm]
    print(f"{name}: the tips go on swinging together by {left[name]:.3f} mm; audit holds: {run.audit.holds}")
page = ff.compare(list(runs.values()), Path(tempfile.gettempdir()) / "panda.html", names=list(runs))
print(f"page: {page}\n")

print(f"checked: swing that is left of the plain motion {left['plain']:.3f} mm (expected 2.890 +- 0.01)")
print(f"checked: share of it that is left after shaping {left['shaped'] / left['plain']:.4f} (expected 0 +- 0.01)")

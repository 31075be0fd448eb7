"""Lesson 14: a client is grasped, its momentum shared, the arm braked, and the client let go again.

A client of 410 kg drifts past the hand of ETS-VII. When it is near enough, software latches: an impact that shares the
momentum and loses energy. Two seconds later the brakes of the arm close. They slip, because they are weak, and make
heat of what is left of the motion in the joints. At last the client is released. What happened is in `run.events`.
"""

import dataclasses

import jax.numpy as jnp
import numpy as np

import freefloat as ff

servicer = ff.library.ets7()
client = ff.Spacecraft.from_base("client", mass=410.0, inertia=(60.0, 70.0, 80.0))  # [kg], [kg m2]
client = client.with_frame("grip", body="base", at=(-0.5, 0.0, 0.0))  # [m]
joints = tuple(f"arm.{k}" for k in range(1, 7))

world = ff.World(servicer=servicer, client=client)
world = world.connection("grasp", "servicer.hand", "client.grip", reach=(0.02, 0.1))  # [m], [rad]
for joint in joints:
    world = world.brake(f"servicer.{joint}", slip_torque=1.0)  # [N m]


@ff.record
class Capture(ff.Software):
    """Asks for the latch while the grip is near the hand, then for the brakes, then lets go."""

    release: float = 12.0  # [s]

    def begin(self, y):
        return jnp.asarray(jnp.inf)  # when it latched [s]

    def remember(self, memory, y, clock):
        apart = y["client.grip.position"] - y["hand.position"]
        near = jnp.sqrt(apart @ apart) < 0.015  # [m]
        return jnp.where(near & jnp.isinf(memory), clock.t, memory)

    def command(self, memory, y, clock):
        holds, lets_go = clock.t >= memory, clock.t >= self.release
        brakes = jnp.full(6, 1.0) * (clock.t >= memory + 2.0)
        return ff.Latch("grasp", holds & ~lets_go), ff.Release("grasp", lets_go), ff.Brake(joints, brakes)


start = servicer.at_rest(joints_deg=(10, 20, 30, -40, 15, 5))
hand = ff.dynamics.inertial_frame_pose(servicer, start, "hand")
there = hand @ ff.Pose(position=(0.55, 0.01, 0.0))  # the grip is 5 cm ahead of the hand
drifting = dataclasses.replace(
    client.at_rest(),
    p_NB=np.asarray(there.p),
    quat_NB=np.asarray(there.quaternion),
    v=np.array([-0.02, 0.0, 0.005, 0.0, 0.0, 0.01]),  # [m/s], [rad/s], axes of the client
)
run = ff.simulate(
    world, Capture(on="servicer", period=0.1), state={"servicer": start, "client": drifting}, duration=15.0
)
print(run.events)

latch = run.events[0]
before, after = (np.array(latch["momentum of client"][when][:3]) for when in ("before", "after"))
print(f"The client had {np.linalg.norm(before):.2f} N s and kept {np.linalg.norm(after):.2f} N s of it.")
total = run["world.momentum.linear"].values
print(f"checked: momentum of the world that changed {np.max(np.abs(total - total[0])):.1e} N s (expected 0 +- 1e-10)")

kinetic = run["world.energy.kinetic"].values
lost = run["connections.energy_lost"].values[-1] + run["servicer.energy.dissipated"].values[-1]
print(f"checked: energy that is in no book {kinetic[0] - kinetic[-1] - lost:.1e} J (expected 0 +- 1e-10)")
print(f"checked: energy lost in the grasp {1e3 * latch['energy_lost']:.3f} mJ (expected 13.982 +- 0.001)")

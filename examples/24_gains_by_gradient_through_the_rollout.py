"""Lesson 24: gains of software by the gradient of a whole run, and the exact optimum beside them.

Run it: python examples/24_gains_by_gradient_through_the_rollout.py

A hub is turned back to zero by u = -(k angle + d rate). Every number of an experiment has exact derivatives through
all steps of a run, gains of your own software too, so any optimiser can tune them. The cost is int q angle^2 + r u^2
dt; its best gains are known: k = sqrt(q / r), d = sqrt(2 J k).
"""

import dataclasses

import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize

import freefloat as ff
from freefloat.analysis import Sensitivities

J, Q, R = 12.0, 4.0, 1.0  # inertia [kg m2], weights of angle [1/rad2] and torque [1/(N m)2]


@ff.record
class TurnBack(ff.Software):
    """A spring and a damper about z; it tells its torque."""

    stiffness: float  # [N m/rad]
    damping: float  # [N m s/rad]

    def torque(self, y):
        angle = 2.0 * y["base.attitude"][3]  # small [rad]
        return -self.stiffness * angle - self.damping * y["base.rate"][2]

    def command(self, memory, y, clock):
        return ff.BaseWrench(jnp.zeros(6).at[5].set(self.torque(y)))

    def tell(self, memory, y, clock):
        return {"turn.angle": 2.0 * y["base.attitude"][3], "turn.torque": self.torque(y)}


hub = ff.Spacecraft.from_base("hub", mass=50.0, inertia=(J, J, J))
tilted = dataclasses.replace(hub.at_rest(), quat_NB=np.array([1.0, 0.0, 0.0, 5e-4]))  # 1 mrad about z
run = ff.Experiment.of(hub, TurnBack(0.5, 3.0), state=tilted, duration=40.0, dt=0.01, record_dt=0.01)
motion = Sensitivities(run, ["TurnBack.stiffness", "TurnBack.damping"], ("turn.angle", "turn.torque"))


def cost(gains):
    """In units of its first value, with its gradient; the sum over steps of 0.01 s stands for the integral."""
    (angle, torque), (by_angle, by_torque) = motion(gains)
    value = Q * angle @ angle + R * torque @ torque
    return value / FIRST, 2.0 * (Q * by_angle @ angle + R * by_torque @ torque) / FIRST


FIRST = 1.0
FIRST = cost(motion.parameters.nominal)[0]
found = minimize(cost, motion.parameters.nominal, jac=True, method="BFGS", tol=1e-9)
k, d = found.x
best = np.sqrt(Q / R)
print(f"{found.nfev} rollouts with gradients, cost {found.fun:.3f} of the first")
print(f"checked: stiffness {k:.3f} N m/rad (expected {best:.3f} +- 0.02)")
print(f"checked: damping {d:.3f} N m s/rad (expected {np.sqrt(2.0 * J * best):.3f} +- 0.05)")

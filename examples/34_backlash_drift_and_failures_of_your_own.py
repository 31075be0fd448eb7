"""Lesson 34: what real hardware adds: friction and backlash, a sensor that drifts, a failure of your own.

Each is one class in this file. A failure wraps a part, which need not know: it says which parts it concerns and what of
them changes. (Ready in `actuators`: DeadWheel, StuckJoint, OpenThruster, WeakActuator, BlindSensor, DriftingSensor ...)
"""

import jax.numpy as jnp
import numpy as np

import freefloat as ff
from freefloat.sensors.imperfection import ImperfectSensor

PLAY, FRICTION, STIFFNESS, DAMPING = 2e-3, 5.0, 1e5, 20.0  # [m], [N], [N/m], share of the push for each m/s


@ff.record
class Spindle(ff.Actuator):
    """A spindle that drives a slide by a nut with play. It is told how fast the nut shall move; the slide rubs."""

    def accepts(self, craft):
        return (ff.CommandPort("spindle.speed", "m/s", ("slide",), drives=("slide",)),)

    def begin(self, craft):
        return jnp.zeros(())  # place of the nut at the last tick [m]

    def actuate(self, truth, memory, u, clock):
        return memory + clock.hold * u["spindle.speed"][0]  # where it will be at the next tick

    def force(self, truth, memory, u, clock):
        place = truth.craft.layout.position("slide"), truth.craft.layout.velocity("slide")
        speed = u["spindle.speed"][0]
        nut = memory - speed * (clock.last_tick + clock.dt - clock.t)  # between two ticks it moves on evenly
        gap, closing = nut - truth.state.q[place[0]][0], speed - truth.state.v[place[1]][0]
        beyond = gap - jnp.clip(gap, -0.5 * PLAY, 0.5 * PLAY)
        push = STIFFNESS * beyond * (1.0 + DAMPING * jnp.sign(beyond) * closing)
        rub = -FRICTION * jnp.tanh(truth.state.v[place[1]][0] / 1e-3)
        return jnp.zeros(truth.craft.layout.nv).at[place[1]].set(push + rub)


@ff.record
class WarmingGyro(ImperfectSensor):
    """A rate gyro whose bias grows by 1 mrad/s in 100 s."""

    def measure(self, truth, number, clock):
        return {"base.rate": truth.state.v[3:6] + 1e-5 * clock.t}


@ff.record
class RunawayWheel(ff.Failure):
    """A wheel whose motor gives 0.02 N m, whatever is commanded."""

    wheel: str = ff.static()

    def concerns(self, part, craft):
        return isinstance(part, ff.Actuator) and any(self.wheel in port.drives for port in part.accepts(craft))

    def failed_commands(self, u, clock):
        return u.with_changes("wheels.torque", lambda wheel, torque: 0.02 + 0.0 * torque)


# Out and back at 10 mm/s: the slide stays behind the nut by half the play, and by what the spindle gives way.
craft = ff.Spacecraft.from_base("bus", mass=500.0, inertia=(80.0, 80.0, 80.0)).with_link(
    "slide", parent="base", joint="prismatic", mass=10.0, inertia=(0.1, 0.1, 0.1), axis=(1.0, 0.0, 0.0)
)
speed = ff.Steps(times=[0.0, 4.0], values=[[0.01], [-0.01]])
run = ff.simulate(craft, Spindle(), duration=7.0, dt=5e-4, inputs={"command.spindle.speed": speed})
slide, t = run.values("joints.position")[:, 0], run.values("time")
lost = np.interp(6.0, t, slide) - np.interp(2.0, t, slide)  # the nut is at 20 mm both times
print(f"checked: lost motion {1e3 * lost:.4f} mm (expected {1e3 * (PLAY + 2 * FRICTION / STIFFNESS):.4f} +- 0.001)")

# A gyro that drifts turns the spacecraft that trusts it. A wheel that runs away spins up by its torque times time.
hub = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20, 20, 20)).with_wheel("w", axis=(0, 0, 1), inertia=0.1)
hold = ff.control.AttitudeHold(craft=hub, stiffness=0.0, damping=50.0, period=0.1, actuator="base torque")
drifted = ff.simulate(hub, ff.sensors.Ideal(), WarmingGyro(), hold, duration=100.0, dt=0.1)
settled = -10.0 * (100.0 - 20.0 / 50.0)  # [urad/s]: the hold follows a ramp later by inertia over damping
rate = 1e6 * drifted.values("base.rate")[-1, 2]
print(f"checked: rate at the end {rate:.2f} urad/s (expected {settled:.2f} +- 1)")
still = {"command.wheels.torque": [0.0]}  # [N m]
failed = ff.simulate(hub, RunawayWheel(wheel="w", at=40.0), duration=60.0, dt=0.1, inputs=still)
print(f"checked: spin of the wheel {failed.values('wheels.absolute_momentum')[-1, 0]:.6f} N m s (expected 0.4 +- 1e-9)")

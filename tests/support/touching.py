"""Bodies that touch, for tests of compliant contact: balls on planes, a block on an incline, a probe before a cone."""

import dataclasses

import jax.numpy as jnp
import numpy as np

import freefloat as ff
from freefloat.effects.contact import (
    Bristles,
    CompliantContact,
    ContactBox,
    ContactCone,
    HuntCrossley,
    KelvinVoigt,
    Plane,
    Probe,
    Sphere,
)

G = 9.81  # [m/s2]


@ff.record
class Gravity(ff.Effect):
    """Uniform, for tests on the ground; N axes."""

    acceleration: np.ndarray  # [m/s2]

    def force(self, craft, state, clock):
        pull = craft.mass * (state.X_NB.R.T @ jnp.asarray(self.acceleration))
        return jnp.zeros(craft.layout.nv).at[:3].set(pull)


def at(craft, position, speed=(0.0, 0.0, 0.0), rate=(0.0, 0.0, 0.0)):
    return dataclasses.replace(craft.at_rest(), p_NB=np.array(position, float), v=np.array([*speed, *rate], float))


# ---- three balls, each with a law of its own, that fall on a plane without gravity

MASS, RADIUS = 2.0, 0.1  # [kg], [m]
BALL = ff.Spacecraft.from_base("ball", mass=MASS, inertia=np.full(3, 0.4 * MASS * RADIUS**2))
BALLS = ff.World(sticky=BALL, loose=BALL, hertz=BALL)


def bounce(stiffness=1e5, ratio=0.2, restitution=0.7, speed=0.5, gap=0.0037, dt=1e-3, duration=0.06, **options):
    """KelvinVoigt that sticks, KelvinVoigt that does not, HuntCrossley."""
    laws = {
        "sticky": KelvinVoigt.from_damping_ratio(stiffness, ratio, MASS, sticks=True),
        "loose": KelvinVoigt.from_damping_ratio(stiffness, ratio, MASS),
        "hertz": HuntCrossley.from_restitution(10.0 * stiffness, restitution, speed),
    }
    contacts = [CompliantContact(f"{n}.base", Sphere(RADIUS), "N", Plane(), law, name=n) for n, law in laws.items()]
    start = at(BALL, (0.0, 0.0, RADIUS + gap), (0.0, 0.0, -speed))
    state = dict.fromkeys(laws, start)
    return ff.simulate(BALLS, *contacts, state=state, duration=duration, dt=dt, **options)


# ---- one body with a ball at a frame of it, which rubs on a plane

BODY = BALL.with_frame("tip", body="base", at=(0.0, 0.0, 0.0))


def rub(tip, start, gravity=0.0, friction=0.3, stiffness=1e7, damping=0.5, bristle=1e6, bristle_damping=2e3, **options):
    """HuntCrossley and bristles at a frame `tip` of the body [m]."""
    craft = BODY.with_value("tip.X_BF.position", np.asarray(tip, float)) if np.any(tip) else BODY
    contact = CompliantContact(
        "tip",
        Sphere(RADIUS),
        "N",
        Plane(),
        HuntCrossley(stiffness, damping),
        Bristles(friction, bristle, bristle_damping),
        pressed=True,
    )
    return ff.simulate(craft, Gravity(np.array([0.0, 0.0, -gravity])), contact, state=start, **options)


# ---- a block on an incline

EDGE = 0.2  # [m]
BLOCK = ff.Spacecraft.from_base("block", mass=MASS, inertia=np.full(3, MASS * EDGE**2 / 6.0))
STIFF, SOFT = 1e6, 2e5  # of every corner, along and across the normal [N/m]


def slide(angle, *effects, friction=0.4, duration=0.5, dt=5e-3, **options):
    """From rest on a plane that is inclined by an angle; the pull is through the plane of the corners."""
    contact = CompliantContact(
        "base",
        ContactBox((EDGE, EDGE, EDGE)),
        "N",
        Plane(),
        KelvinVoigt(STIFF, 1e3),
        Bristles(friction, SOFT, 5e2),
        at_a=ff.Pose(position=(0.0, 0.0, 0.5 * EDGE)),
        pressed=True,
    )
    down = G * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    depth = MASS * G * np.cos(angle) / (4.0 * STIFF)
    start = at(BLOCK, (0.0, 0.0, -depth))
    return ff.simulate(BLOCK, Gravity(down), contact, *effects, state=start, duration=duration, dt=dt, **options)


# ---- a probe before a cone

SERVICER = ff.Spacecraft.from_base("servicer", mass=400.0, inertia=(80.0, 90.0, 100.0))
SERVICER = SERVICER.with_frame("tip", body="base", at=ff.Pose.from_rpy_deg((0.0, 90.0, 0.0), (1.0, 0.0, 0.0)))
CLIENT = ff.Spacecraft.from_base("client", mass=200.0, inertia=(30.0, 40.0, 50.0))
CLIENT = CLIENT.with_frame("drogue", body="base", at=ff.Pose.from_rpy_deg((0.0, -90.0, 0.0), (-0.5, 0.0, 0.0)))
PAIR = ff.World(servicer=SERVICER, client=CLIENT)
DOCKING = CompliantContact(
    "servicer.tip",
    Probe(0.03, 0.3, 0.02),
    "client.drogue",
    ContactCone(0.15, 0.2, 0.02),
    KelvinVoigt(1e6, 2e3),
    Bristles(0.1, 1e6, 2e3),
    name="docking",
)


def approach(offset=(0.05, 0.02), speed=0.1, distance=0.24):
    """The client, whose drogue's floor is a distance ahead of the tip, comes along -x."""
    return at(CLIENT, (1.5 + distance, *offset), (-speed, 0.0, 0.0))

"""A servicer before a tumbling client, and a contact between them, for tests of rehearsals.

The contact is written once for NumPy and JAX: in a cell it sees what the robots do, in a simulation what the spacecraft
do in orbit. It knows relative poses and twists only, so both must agree.
"""

import dataclasses

import jax.numpy as jnp
import numpy as np

import freefloat as ff
from freefloat.hil import Passivity, Rehearsal, RobotAssignment
from freefloat.hil.cell import IdealCell

CLIENT_MASS, SERVICER_MASS = 7827.867, 867.0  # [kg], spec/001
TIP, FACE = 1.5, 2.9  # [m]: the tip ahead of the servicer's base; the face that it touches, beyond the client's

CLIENT = ff.Spacecraft.from_base(
    "client",
    mass=CLIENT_MASS,
    inertia=((17023.3, -2171.4, -397.1), (-2171.4, 129112.2, -344.2), (-397.1, -344.2, 124825.7)),  # [kg m2]
)
SERVICER = ff.Spacecraft.from_base("servicer", mass=SERVICER_MASS, inertia=(362.0, 604.0, 560.0)).with_frame(
    "tip", body="base", at=ff.Pose.from_rpy_deg((0.0, 0.0, 30.0), (TIP, 0.0, 0.0))
)
WORLD = ff.World(servicer=SERVICER, client=CLIENT)
PORTS = {"servicer.tip.wrench": np.zeros(6), "client.base.wrench": np.zeros(6)}
FACING = np.array([0.0, 0.0, 0.0, 1.0])  # quaternion: turned about z by half a turn, towards -x


def start(gap=0.02, approach=0.05, spin=(0.0, 0.0, 0.0)):
    """The client at the origin; the servicer beyond its face, co-rotating, and coming nearer [m, m/s, rad/s]."""
    p_servicer = np.array([FACE + gap + TIP, 0.0, 0.0])
    swept = np.cross(spin, p_servicer) - np.array([approach, 0.0, 0.0])
    turn = np.diag([-1.0, -1.0, 1.0])  # R of FACING
    return {
        "client": dataclasses.replace(CLIENT.at_rest(), v=np.array([0.0, 0.0, 0.0, *spin])),
        "servicer": dataclasses.replace(
            SERVICER.at_rest(), p_NB=p_servicer, quat_NB=FACING, v=np.concatenate([turn @ swept, turn @ spin])
        ),
    }


def experiment(duration=1.0, dt=1e-3, state=None, parts=(), **options):
    return ff.Experiment.of(
        WORLD, *parts, duration=duration, dt=dt, state=state or start(), inputs=PORTS if not parts else None, **options
    )


def rehearsal(made, **options):
    carried = (
        RobotAssignment("servicer-robot", "servicer", "servicer.tip.wrench"),
        RobotAssignment("client-robot", "client", "client.base.wrench", reaction_of="servicer-robot"),
    )
    return Rehearsal(made, carried, **{"nominal": "client", "passivity": None, "compensation": None} | options)


ROBOTS = ("servicer-robot", "client-robot")
OBSERVE = Passivity(controls=False)


# ---- the contact


def rotation(quat, xp):
    w, x, y, z = quat
    return xp.stack(
        [
            xp.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]),
            xp.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]),
            xp.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]),
        ]
    )


def touch(servicer, client, stiffness, damping, xp):
    """Force of the face x = FACE of the client on the tip, and the tip's place, both in axes of the frame they are in.

    Each body is (position, quaternion, velocity and rate in body axes).
    """
    (p_s, q_s, v_s, w_s), (p_c, q_c, v_c, w_c) = servicer, client
    R_s, R_c = rotation(q_s, xp), rotation(q_c, xp)
    lever = xp.asarray(np.array([TIP, 0.0, 0.0]))
    p_tip = p_s + R_s @ lever
    in_client = R_c.T @ (p_tip - p_c)
    v_tip = R_c.T @ (R_s @ (v_s + xp.cross(w_s, lever))) - (v_c + xp.cross(w_c, in_client))
    depth = FACE - in_client[0]
    push = xp.maximum(0.0, stiffness * depth - damping * v_tip[0])
    force = xp.where(depth > 0.0, push, 0.0)
    return R_c @ xp.stack([force, 0.0 * force, 0.0 * force]), p_tip


def cell_contact(stiffness, damping=0.0, both=False):
    """The contact as an ideal cell's sensors feel it, at the carried frames in their axes: the servicer's, or both."""

    def wrench(time, readings):
        bodies = [
            (one.position, one.quaternion, one.twist[:3], one.twist[3:]) for one in (readings[name] for name in ROBOTS)
        ]
        force, p_tip = touch(*bodies, stiffness, damping, np)
        own = rotation(bodies[0][1], np).T @ force
        felt = {ROBOTS[0]: np.concatenate([own, np.cross([TIP, 0.0, 0.0], own)])}
        if both:
            R, lever = rotation(bodies[1][1], np), p_tip - bodies[1][0]
            felt[ROBOTS[1]] = -np.concatenate([R.T @ force, R.T @ np.cross(lever, force)])
        return felt

    return wrench


def cell(stiffness=0.0, damping=0.0, **options):
    return IdealCell(ROBOTS, cell_contact(stiffness, damping) if stiffness else None, **options)


@ff.record
class SampledContact(ff.Software):
    """The same contact in orbit, sampled and held: a wrench on the base of the spacecraft it is on."""

    stiffness: float = 0.0
    damping: float = 0.0

    def command(self, memory, y, clock):
        servicer, client = (
            tuple(y[f"{name}.base.{what}"] for what in ("position", "attitude", "velocity", "rate"))
            for name in ("servicer", "client")
        )
        force, p_tip = touch(servicer, client, self.stiffness, self.damping, jnp)
        p, quat = servicer[:2] if self.on == "servicer" else client[:2]
        own, sign = rotation(quat, jnp).T, 1.0 if self.on == "servicer" else -1.0
        return ff.BaseWrench(sign * jnp.concatenate([own @ force, own @ jnp.cross(p_tip - p, force)]))


def sampled_contact(stiffness, damping, dt):
    return tuple(SampledContact(stiffness, damping, on=name, period=dt) for name in ("servicer", "client"))


def restitution_of(run):
    """Speed of the tip along the client's x when the contact ends, over that when it begins; every tick recorded."""
    touching = np.flatnonzero(run.values(f"cell.{ROBOTS[0]}.wrench")[:, 0])
    assert touching[-1] + 1 < len(run.values("time")), "the contact did not end"
    before, after = (_closing_speed(run, k) for k in (touching[0] - 1, touching[-1] + 1))
    return -after / before


def _closing_speed(run, k):
    servicer, client = (
        tuple(run.values(f"{name}.base.{what}")[k] for what in ("position", "attitude", "velocity", "rate"))
        for name in ("servicer", "client")
    )
    (p_s, q_s, v_s, w_s), (p_c, q_c, v_c, w_c) = servicer, client
    R_s, R_c, lever = rotation(q_s, np), rotation(q_c, np), np.array([TIP, 0.0, 0.0])
    in_client = R_c.T @ (p_s + R_s @ lever - p_c)
    return (R_c.T @ (R_s @ (v_s + np.cross(w_s, lever))) - (v_c + np.cross(w_c, in_client)))[0]

"""Identities of an impact on twenty random spatial arms with flexible booms (16 dofs), as case 20 asks for them.

Joint axes, mounts, masses, postures, payloads and velocities are all random; the booms are bent and bend. Relative to:
|g| before, |P|, |H|, the kinetic energy before, the largest entry of G.
"""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.dynamics import (
    GRASP,
    POINT,
    FrameRows,
    frame_jacobian,
    kinetic_energy,
    mass_matrix,
    momentum_about_origin,
    normal,
    row_impact,
)
from support.compiling import compiled
from support.impacting_arms import draw_meeting

ARMS = 20
KINDS = {1: normal((0.3, -0.5, 0.8)), 3: POINT, 6: GRASP}


def everything(crafts, states, e):
    """All kinds of impact with restitution e; energy and momentum before, and after each of them."""

    def books(speeds):
        moved = [dataclasses.replace(s, v=v) for s, v in zip(states, speeds, strict=True)]
        energy = sum(kinetic_energy(c, s.q, s.v) for c, s in zip(crafts, moved, strict=True))
        return energy, sum(momentum_about_origin(c, s) for c, s in zip(crafts, moved, strict=True))

    found = [row_impact(crafts, states, (FrameRows((0, "grip"), (1, "hand"), d),), e) for d in KINDS.values()]
    return found, books([s.v for s in states]), [books(one.speeds) for one in found]


@pytest.fixture(scope="module")
def meetings():
    rng = np.random.default_rng(20)
    return [draw_meeting(rng) for _ in range(ARMS)]


@pytest.fixture(scope="module")
def program():
    return compiled(everything)


def about(point, momentum):
    """Linear and angular momentum about a fixed point."""
    return momentum[:3], momentum[3:] - np.cross(point, momentum[:3])


def test_the_identities(meetings, program):
    """k = 1, 3, 6 and e = 0, 0.5, 1: rebound, momentum about any fixed point, energy; all to 1e-12."""
    worst = dict.fromkeys(("rebound", "P", "H", "dT", "energy lost"), 0.0)
    for crafts, states in meetings:
        for e in (0.0, 0.5, 1.0):
            found, (T, before), books = program(crafts, states, e)
            for k, one, (energy, after) in zip(KINDS, found, books, strict=True):
                g, lost = one.before, 0.5 * (1.0 - e**2) * one.before @ one.effective_mass @ one.before
                assert one.rank == k
                seen = {
                    "rebound": np.max(np.abs(one.after + e * g)) / np.max(np.abs(g)),
                    "dT": abs(energy - T + lost) / T,
                    "energy lost": abs(one.energy_lost - lost) / T,
                }
                for point in (np.zeros(3), np.array([30.0, -20.0, 10.0])):
                    (P, H), (P_after, H_after) = about(point, before), about(point, after)
                    seen["P"] = np.max(np.abs(P_after - P)) / np.linalg.norm(P)
                    seen["H"] = max(seen.get("H", 0.0), np.max(np.abs(H_after - H)) / np.linalg.norm(H))
                worst = {name: max(worst[name], value) for name, value in seen.items()}
    print(worst)  # noqa: T201
    assert max(worst.values()) < 1e-12


def test_impulses_grow_with_the_velocity_and_vanish_with_it(meetings, program):
    for crafts, states in meetings[:5]:
        faster = tuple(dataclasses.replace(s, v=3.0 * s.v) for s in states)
        slow, fast = (program(crafts, some, 0.5)[0] for some in (states, faster))
        for a, b in zip(slow, fast, strict=True):
            np.testing.assert_allclose(b.impulse, 3.0 * a.impulse, atol=1e-11 * np.max(np.abs(b.impulse)))
        grasped = tuple(
            dataclasses.replace(s, v=v) for s, v in zip(states, program(crafts, states, 0.0)[0][2].speeds, strict=True)
        )
        for one in program(crafts, grasped, 0.5)[0]:
            for now, then in zip(one.speeds, grasped, strict=True):
                np.testing.assert_allclose(now, then.v, atol=1e-12)


def matrices(crafts, states):
    """M and J of the arm, M_p and A of the payload, all in the axes of the hand, which are those of the grip."""
    (payload, arm), (_, state) = crafts, states
    grip = payload.frame("grip").X_BF
    to_centre = jnp.stack([grip.wrench_to_A(jnp.eye(6)[k]) for k in range(6)], axis=1)
    return mass_matrix(arm, state.q), frame_jacobian(arm, state.q, "hand"), mass_matrix(payload, np.zeros(0)), to_centre


def test_equation_37(meetings, program):
    """G is symmetric, positive, the mass matrix of arm and payload as one; its grasp is the impulse's to 1e-10."""
    of, of_one = compiled(matrices), compiled(lambda craft, q: mass_matrix(craft, q))
    worst = np.zeros(3)
    for crafts, states in meetings:
        (payload, arm), (other, state) = crafts, states
        M, J, M_p, A = of(crafts, states)
        Jt = np.linalg.inv(A).T @ J
        G = J.T @ np.linalg.inv(A) @ M_p @ Jt + M
        after = np.linalg.solve(G, J.T @ np.linalg.inv(A) @ M_p @ other.v + M @ state.v)
        captured = of_one(arm.grasp(payload, name="payload", hand="hand", grip="grip"), state.q)
        grasp = program(crafts, states, 0.0)[0][2]
        off = (
            np.max(np.abs(G - G.T)) / np.max(np.abs(G)),
            np.max(np.abs(G - captured)) / np.max(np.abs(G)),
            np.max(np.abs(after - grasp.speeds[1])) / np.max(np.abs(after)),
        )
        worst = np.maximum(worst, off)
        assert np.all(np.linalg.eigvalsh((G + G.T) / 2) > 0.0)
    print("worst (symmetry, captured, speeds):", worst)  # noqa: T201
    assert np.all(worst < [1e-12, 1e-12, 1e-10])

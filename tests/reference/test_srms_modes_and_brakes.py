"""The Shuttle arm's payload impact with more modes, with brakes on, and in the limit (numbers: see test_srms).

Matrices of the plane (x, y, turn) with plain numpy on top of the package's mass matrix and Jacobian: quick, and apart
from `row_impact`, which test_srms checks against the same numbers.
"""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.linalg

from freefloat.dynamics import frame_jacobian, frame_pose, mass_matrix
from freefloat.library import srms, srms_payload
from support.shuttle_arm import JOINTS, SPIN, at_impact

FLAT = [0, 1, 5]
TO_CENTRE = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])  # grip to centre, 1 m ahead along x
M_P = np.diag([1e4, 1e4, 5e3])  # payload [kg, kg, kg m2]


@dataclass(frozen=True)
class Plane:
    """Arm and payload at the impact of a case: everything that moves in the plane, or all but the joints."""

    dofs: list[int]
    joints: list[int]  # where shoulder, elbow, wrist are among the dofs
    M: np.ndarray  # of the arm
    J: np.ndarray  # (vx, vy, turn) of the hand
    K: np.ndarray  # stiffness of the booms
    v: np.ndarray
    v_p: np.ndarray  # of the payload's centre

    @staticmethod
    def of(modes: int, case: str = "N-hard", *, locked: bool = False) -> "Plane":
        (_, arm), (payload, state) = at_impact(case, modes)
        layout = arm.layout
        dofs = [*FLAT, *layout.modal_velocities] if locked else [0, 1, *range(5, layout.nv)]
        K = np.zeros((layout.nv, layout.nv))
        for body in ("boom.1", "boom.2") if modes else ():
            at = layout.indices([f"{body}.modes"])
            K[np.ix_(at, at)] = np.asarray(arm.body(body).stiffness)
        return Plane(
            dofs=dofs,
            joints=[] if locked else [dofs.index(i) for i in layout.indices(JOINTS)],
            M=np.asarray(mass_matrix(arm, state.q))[np.ix_(dofs, dofs)],
            J=np.asarray(frame_jacobian(arm, state.q, "hand"))[np.ix_(FLAT, dofs)],
            K=K[np.ix_(dofs, dofs)],
            v=state.v[dofs],
            v_p=payload.v[FLAT],
        )

    @property
    def captured(self) -> np.ndarray:
        """Mass matrix with the payload in the hand."""
        Jt = TO_CENTRE @ self.J
        return self.M + Jt.T @ M_P @ Jt

    def joint_rates(self, speeds: np.ndarray) -> np.ndarray:
        """Of shoulder, elbow, wrist."""
        return speeds[self.joints]

    def grasp(self, v: np.ndarray, v_p: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
        """Speeds after, change of the energy, impulse on the arm."""
        G, Jt = self.captured, TO_CENTRE @ self.J
        after = np.linalg.solve(G, Jt.T @ M_P @ v_p + self.M @ v)
        energy = 0.5 * after @ G @ after - 0.5 * v @ self.M @ v - 0.5 * v_p @ M_P @ v_p
        return after, energy, -TO_CENTRE.T @ M_P @ (Jt @ after - v_p)


def half_digit(ours, printed, digits):
    np.testing.assert_allclose(ours, printed, rtol=0, atol=0.51 * 10.0**-digits)


# ---- brakes on: arm at rest, joints locked before and after

SLANT = np.deg2rad(22.7)
COMING = {  # payload's centre (vx, vy, spin)
    "normal": np.array([-0.15, 0.0, 0.0]),
    "tangential": np.array([-0.1 * np.sin(SLANT), 0.1 * np.cos(SLANT) - 0.052 - SPIN, -SPIN]),
}


def test_the_tangential_payload_with_brakes_on():
    """To 1e-6: the reference prints 0.1 sin(22.7 deg) with an 8th digit that is off by three."""
    contact = COMING["tangential"][:2] + np.array([0.0, SPIN])
    np.testing.assert_allclose(contact, (-0.03859063, 0.04025381), rtol=1e-6)


@pytest.mark.parametrize(
    ("coming", "modes", "change", "tips"),
    [
        ("normal", 1, (-3.442780, 6), (52.2, 77.6)),
        ("normal", 2, (-2.069, 3), (54.7, 74.6)),
        ("normal", 3, (-2.026, 3), (55.1, 72.6)),
        ("normal", 6, (-1.898, 3), (55.5, 69.0)),
        ("tangential", 1, None, (18.1, 25.9)),
        ("tangential", 6, None, (20.3, 26.2)),
    ],
)
def test_brakes_on(coming, modes, change, tips):
    """Energy of the grasp, then 30 s of linear vibration about the posture, looked at every millisecond."""
    plane = Plane.of(modes, locked=True)
    after, energy, _ = plane.grasp(np.zeros(len(plane.dofs)), COMING[coming])
    if change:
        half_digit(energy, *change)
    squared, shapes = scipy.linalg.eigh(plane.K, plane.captured)
    omega, t = np.sqrt(squared[3:]), np.arange(30_001) * 1e-3  # the first three: the whole drifts and turns
    assert np.max(np.abs(squared[:3])) < 1e-6 * squared[3]
    grows = (shapes.T @ plane.captured @ after)[3:] / omega
    bent = shapes[3:, 3:] @ (grows[:, None] * np.sin(np.outer(omega, t)))
    half_digit([1e3 * np.max(np.abs(b.sum(axis=0))) for b in (bent[:modes], bent[modes:])], tips, 1)
    if modes == 1:
        half_digit(omega[:2] / (2.0 * np.pi), (0.1353, 0.6112), 4)


# ---- how the map at impact goes with the number of modes


def limit():
    """Closed form for infinitely many modes: effective mass W^-1 of the contact.

    The tip of a boom gives way across it without limit: the hand is all that is hit, and along boom 2, which is across
    boom 1, the mass of boom 2 at the wrist.
    """
    length, mass, boom = 1.8796, 99.63, 87.42  # hand [m], [kg]; boom 2 [kg]
    centre = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, -length / 2.0], [0.0, 0.0, 1.0]])
    wrist = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, -length]])
    along = wrist.T @ [np.cos(np.pi / 6.0), -np.sin(np.pi / 6.0)]
    hand = centre.T @ np.diag([mass, mass, mass * length**2 / 12.0]) @ centre + boom * np.outer(along, along)
    W = np.linalg.inv(hand) + np.linalg.inv(TO_CENTRE.T @ M_P @ TO_CENTRE)
    return np.linalg.inv(W), 1.0 / W[0, 0]


def test_the_limit_in_closed_form():
    mass, normal = limit()
    g = np.array([0.15, 0.0, 0.0])
    half_digit(-mass @ g, (-24.052183, 4.796462, -9.495667), 6)
    half_digit(-0.5 * g @ mass @ g, -1.803914, 6)
    half_digit(normal, 132.766033, 6)


def test_what_converges_with_modes_and_what_does_not():
    """Impulse, energy and payload tend to the limit like 1/n. Joint rates swing by as much as ever, and grow."""
    counts = (1, 2, 3, 4, 5, 6)
    planes = {n: Plane.of(n) for n in counts}
    found = {n: plane.grasp(plane.v, plane.v_p) for n, plane in planes.items()}
    mass, _ = limit()
    far = np.array([np.abs(found[n][2] + mass @ [0.15, 0.0, 0.0]) for n in counts])  # impulse
    assert np.all(far[1:] < far[:-1])
    falls = far[5] / far[2]  # from 3 to 6 modes: a half, if like 1/n
    assert np.all((falls > 0.45) & (falls < 0.6)), falls
    energy = np.array([found[n][1] for n in counts])
    assert np.all(np.diff(energy) > 0.0)
    assert 0.45 < (energy[5] + 1.803914) / (energy[2] + 1.803914) < 0.6
    rates = np.array([planes[n].joint_rates(found[n][0]) for n in counts])
    swings = np.abs(np.diff(rates[:, 0]))  # shoulder: up and down with every mode
    assert np.all(np.diff(np.sign(np.diff(rates[:, 0]))) != 0.0)
    assert np.min(swings[1:]) > swings[0]
    assert abs(rates[5, 1]) > 1.9 * abs(rates[1, 1])  # elbow: grows
    assert abs(rates[5, 2]) > 1.9 * abs(rates[1, 2])  # wrist


# ---- the arm and the payload themselves


def test_sizes():
    """Length and mass of arm and payload as in the reference set."""
    arm, payload = srms(modes=1, planar=True), srms_payload(planar=True)
    straight = np.asarray(frame_pose(arm, arm.at_rest().q, "hand").p) - [10.0, 2.5, 0.0]
    half_digit(straight[0], 15.3166, 4)
    np.testing.assert_allclose(payload.mass, 1e4, rtol=1e-15)
    np.testing.assert_allclose(np.diag(payload.bodies[0].inertia), [32500.0, 32500.0, 5000.0], rtol=1e-14)
    np.testing.assert_allclose(np.diag(srms_payload().bodies[0].inertia), [32500.0, 5000.0, 32500.0], rtol=1e-14)


def test_free_joints_with_the_payload():
    """Two modes: the higher pair of frequencies too; one mode is 48 % high in the lowest."""
    lowest = {}
    for modes in (1, 2, 6):
        plane = Plane.of(modes)
        squared = scipy.linalg.eigh(plane.K, plane.captured, eigvals_only=True)
        hertz = np.sqrt(squared[squared > 1.0]) / (2.0 * np.pi)
        lowest[modes] = hertz[0]
        if modes == 2:
            half_digit(hertz[2:4], (99.0, 109.1), 1)
    half_digit(lowest[1] / lowest[6], 1.48, 2)


# ---- a base that does not translate (base A of the paper), and the wrong sign of eq. 36


def test_base_a_keeps_angular_momentum_about_the_base_only():
    """Rows and columns of the base's velocity struck out: H about C_S stays, P does not."""
    plane = Plane.of(1)
    keep = list(range(2, len(plane.dofs)))
    held = Plane(
        dofs=[plane.dofs[k] for k in keep],
        joints=[k - 2 for k in plane.joints],
        M=plane.M[np.ix_(keep, keep)],
        J=plane.J[:, keep],
        K=plane.K[np.ix_(keep, keep)],
        v=plane.v[keep],
        v_p=plane.v_p,
    )
    after, energy, impulse = held.grasp(held.v, held.v_p)
    half_digit(energy, -2.03083917, 8)
    half_digit(impulse, (-27.0778556, 5.1301538, -10.1562846), 7)
    # P = rows of the base's velocity in the whole mass matrix; H about C_S = row of its turn; the payload's beside it.
    x, y = 21.18223935 + 1.0, 4.492644  # payload's centre [m]
    lever = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-y, x, 1.0]])
    change = np.concatenate([[0.0, 0.0], after - held.v])
    momentum = plane.M[:3] @ change + lever @ M_P @ (TO_CENTRE @ plane.J @ np.concatenate([[0, 0], after]) - plane.v_p)
    half_digit(momentum[:2], (0.6305, -0.0812), 4)
    total = lever[2] @ M_P @ plane.v_p
    assert abs(momentum[2]) < 1e-8 * abs(total)  # the centre of the payload is printed to 1e-8 m


def test_where_the_wrong_sign_breaks_the_symmetry():
    """Eq. 36 as printed: G differs most from its transpose at (base turn, wrist), and the payload does not follow."""
    plane = Plane.of(1, "T-hard")
    plus = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, -1.0], [0.0, 0.0, 1.0]]) @ plane.J
    G = plane.J.T @ TO_CENTRE.T @ M_P @ plus + plane.M
    skew = np.abs(G - G.T)
    at = np.unravel_index(np.argmax(skew), skew.shape)
    turn, wrist = plane.dofs.index(5), plane.joints[2]
    assert {int(k) for k in at} == {turn, wrist}
    half_digit(np.max(skew), 386052.8, 1)
    after = np.linalg.solve(G, plane.J.T @ TO_CENTRE.T @ M_P @ plane.v_p + plane.M @ plane.v)
    hand, payload = plane.J @ after, np.linalg.inv(TO_CENTRE) @ plus @ after  # both at the contact point
    assert np.max(np.abs(hand - payload)) > 0.05  # [m/s]: not held rigidly

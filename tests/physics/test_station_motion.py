"""The nonlinear station moves as its linear model says while the motion is small, and takes up a payload."""

import dataclasses

import numpy as np
import pytest
from scipy.linalg import expm

import freefloat as ff
from freefloat.analysis import linearise_in_orbit, trim_in_orbit
from freefloat.spatial.rotations import quaternion_of, rotation_exp, rotation_matrix

ORBIT = ff.effects.CircularOrbit(altitude=400e3)  # [m]
RNG = np.random.default_rng(20261116)


@dataclasses.dataclass(frozen=True)
class Equilibrium:
    """Where the station rests in the orbital frame, its linear model there, and what its joints must hold."""

    craft: ff.Spacecraft
    q: np.ndarray
    R_OB: np.ndarray
    model: object

    @staticmethod
    def of(craft: ff.Spacecraft) -> "Equilibrium":
        reference = ff.library.station_reference(craft)
        q, R_OB = trim_in_orbit(craft, ORBIT, reference.q, attitude=reference.attitude)
        return Equilibrium(craft, q, R_OB, linearise_in_orbit(craft, ORBIT, q, attitude=R_OB))

    def deviated(self, p: np.ndarray, rates: np.ndarray) -> ff.State:
        """A state at a deviation p = (psi, q) from it, with rates of p."""
        craft, turn = self.craft, np.asarray(rotation_exp(p[:3]))
        state = ff.effects.co_rotating_state(craft, ORBIT, self.q + p[3:], self.R_OB @ turn)
        v = np.array(state.v)
        v[3:6] += rates[:3]
        v[np.array(craft.layout.coordinates, dtype=int)] += rates[3:]
        return dataclasses.replace(state, quat_NB=np.asarray(quaternion_of(self.R_OB @ turn)), v=v)

    def torques(self) -> np.ndarray:
        """Of the joints, in the order of the port."""
        names = self.model.structure.coordinates
        return np.array([self.model.trim[names.index(joint)] for joint in self.craft.layout.moving_joints])

    def deviation(self, run, k: int = -1) -> np.ndarray:
        """(psi, q) of a record."""
        t = float(run["time"].values[k])
        R_OB = np.asarray(ORBIT.R_NO(t)).T @ np.asarray(rotation_matrix(run["base.attitude"].values[k]))
        turned = self.R_OB.T @ R_OB
        psi = 0.5 * np.array([turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]])
        return np.concatenate([psi, run["state.q"].values[k] - self.q])


def small_motion_errors(columns: tuple[int, int, int], duration: float, dt: float) -> tuple[float, float]:
    """Difference of nonlinear and linear motion by the size of the motion: weighed by mass, and by stiffness."""
    at = Equilibrium.of(ff.library.station(columns=columns))
    structure, n = at.model.structure, len(at.model.structure.M)
    # All modes that the step follows to seven digits, alike in energy; free ones are slow. Rotations are larger, since
    # an attitude is only known to 1e-16 rad.
    rate = np.abs(structure.modes.frequencies)
    size = np.where(rate < 0.015 / dt, 1e-6, 0.0)
    p0 = structure.modes.shapes @ (size / np.maximum(rate, 0.05) * RNG.standard_normal(n))
    v0 = structure.modes.shapes @ (size * RNG.standard_normal(n))
    p0[:3] += 3e-6 * RNG.standard_normal(3)
    tide = ff.effects.GravityGradient(orbit=ORBIT)
    held = {"command.joints.torque": at.torques()}
    start = at.deviated(p0, v0)
    run = ff.simulate(at.craft, tide, state=start, inputs=held, duration=duration, dt=dt, record_dt=duration / 10.0)
    step = expm(structure.state_space.A * duration / 10.0)
    x, linear = np.concatenate([p0, v0]), []
    for _ in range(10):
        x = step @ x
        linear.append(x[:n])
    found, linear = np.array([at.deviation(run, k) for k in range(1, 11)]), np.array(linear)
    elastic = 0.5 * (structure.K + structure.K.T)
    stiffless = [0, 1, 2, *(structure.coordinates.index(joint) for joint in at.craft.layout.moving_joints)]
    elastic[stiffless], elastic[:, stiffless] = 0.0, 0.0
    norms = [lambda e, W=W: np.sqrt(np.sum((e @ W) * e)) for W in (structure.M, elastic)]
    return tuple(float(norm(found - linear) / norm(linear)) for norm in norms)


@pytest.mark.slow
def test_small_motion_of_the_station_is_the_linear_one():
    by_mass, by_stiffness = small_motion_errors((2, 2, 1), duration=10.0, dt=0.0005)
    assert by_mass < 1e-6
    assert by_stiffness < 1e-6


# ---- a payload


@pytest.mark.slow
def test_a_payload_is_picked_up_and_put_down():
    """A free box at the hand is latched, carried while the carriage rolls, and let go; the books balance."""
    craft = ff.library.station(columns=(2, 2, 1))
    reference = ff.library.station_reference(craft)
    box = ff.Spacecraft.from_base("box", mass=20.0, inertia=(4.0, 4.0, 4.0))
    world = ff.World(station=craft, box=box).connection("grip", "station.hand", "box.base")
    at_hand = dataclasses.replace(box.at_rest(), p_NB=np.array([45.0, 0.0, 2.5]))
    moving = craft.in_motion(craft.at_rest(reference.q), joints={"rail": 0.02, "elbow": 0.05}, rate=(0.0, 1e-3, 0.0))
    latch = {"command.connection.grip": lambda tick: 1.0 if tick < 400 else 0.0}
    run = ff.simulate(
        world, state={"station": moving, "box": at_hand}, inputs=latch, duration=1.5, dt=0.002, record_dt=0.01
    )
    assert run.audit.holds
    assert "latched" in str(run.events)
    assert "released" in str(run.events)
    t, box_at = run["time"].values, run["box.base.position"].values
    apart = np.linalg.norm(box_at - run["station.hand.position"].values, axis=1)
    assert np.max(apart[(t > 0.0) & (t < 0.795)]) < 1e-8  # carried
    assert apart[-1] > 1e-3  # and left behind
    speed = np.linalg.norm(run["box.base.velocity"].values, axis=1)
    assert np.ptp(speed[t > 0.81]) < 1e-12  # nothing pushes it any more
    assert speed[-1] > 1e-3

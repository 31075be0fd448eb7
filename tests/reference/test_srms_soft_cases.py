"""The Shuttle arm after a grasp, beyond test_srms_motion: matched velocities, more modes, and steps that are too long.

Reference numbers as in test_srms. Speeds after the grasp come from the momentum of the captured system (eq. 37); the
motion is stepped by the package's RK4 with the length of the step as an argument, so that one program serves all.
"""

import dataclasses
from functools import cache

import jax
import numpy as np
import pytest

from freefloat import engine
from freefloat.dynamics import (
    elastic_energy,
    elastic_force,
    forward_dynamics,
    frame_jacobian,
    kinetic_energy,
    mass_matrix,
    momentum_about_origin,
    state_rate,
)
from freefloat.model import Spacecraft, State
from freefloat.sim.motion.integrators import rk4_step
from freefloat.sim.system.craft_state import CraftState, CraftStateRate, Ledger
from freefloat.sim.system.world_state import WorldRate, WorldState, zero_rate
from support.shuttle_arm import JOINTS, at_impact


@cache
def captured(case: str, modes: int) -> tuple[Spacecraft, State]:
    """The arm with its payload right after the grasp."""
    (payload, arm), (p, state) = at_impact(case, modes)
    whole = arm.grasp(payload, name="payload", hand="hand", grip="grip")
    carried = np.asarray(frame_jacobian(whole, state.q, "payload"))
    momentum = carried.T @ np.asarray(mass_matrix(payload, np.zeros(0))) @ p.v
    momentum += np.asarray(mass_matrix(arm, state.q)) @ state.v
    return whole, dataclasses.replace(state, v=np.linalg.solve(np.asarray(mass_matrix(whole, state.q)), momentum))


@cache
def program(modes: int) -> engine.Compiled:
    """One step of RK4 from (plant, h)."""
    whole, start = captured("N-hard", modes)

    def rate(plants, *_):
        state = plants[0].state
        vdot = forward_dynamics(whole, state.q, state.v, elastic_force(whole, state.q))
        books = zero_rate(plants).crafts[0].ledger
        return WorldRate((CraftStateRate(state_rate(whole, state, vdot), books),))

    plants = WorldState((CraftState(start, Ledger.empty()),))
    return engine.compile(lambda plants, h: rk4_step(rate, plants, np.zeros(()), h), plants, 1e-3)


@dataclasses.dataclass(frozen=True)
class Motion:
    """A motion after the grasp, recorded now and then."""

    craft: Spacecraft
    states: State  # with a leading axis
    record_dt: float

    @staticmethod
    def after(case: str, modes: int = 1, *, duration: float = 10.0, dt: float = 2e-4, every: int = 1) -> "Motion":
        craft, start = captured(case, modes)
        steps = round(duration / dt)
        found = program(modes).rollout(
            WorldState((CraftState(start, Ledger.empty()),)), dt, steps=steps, record_every=every
        )
        records = jax.tree.map(lambda first, rest: np.concatenate([first[None], rest]), start, found.record[0].state)
        return Motion(craft, records, every * dt)

    def turned(self, at: float) -> np.ndarray:
        """Change of the joint angles since the impact [deg]."""
        joints = [self.craft.layout.position(name).start for name in JOINTS]
        q = np.rad2deg(self.states.q[:, joints])
        return q[round(at / self.record_dt)] - q[0]

    @property
    def tips(self) -> np.ndarray:
        """Deflections of both tips over the run [mm]: modes are normalised to one there."""
        at = [self.craft.layout.positions[f"boom.{k}.modes"] for k in (1, 2)]
        return np.stack([1e3 * self.states.q[:, where].sum(axis=1) for where in at])

    @property
    def largest_tips(self) -> np.ndarray:
        return np.max(np.abs(self.tips), axis=1)

    @property
    def energy(self) -> np.ndarray:
        total = lambda s: kinetic_energy(self.craft, s.q, s.v) + elastic_energy(self.craft, s.q)  # noqa: E731
        return engine.compile(total, captured("N-hard", 1)[1]).batch(self.states)


SOFT = {  # joint angles after 10 s [deg], largest tips [mm]; those of the hard case, and their ratio
    "T-soft-b": ((2.164240, 9.794106, -42.364754), (0.00286, 0.00152), (2.1405, 1.9867), (750.0, 1300.0)),
    "N-soft": ((7.688189, -11.271104, 3.547640), (0.00011, 0.00048), (2.6921, 2.4054), (2.4e4, 5e3)),
}


@pytest.mark.parametrize("case", SOFT)
def test_ten_seconds_after_a_soft_grasp(case):
    """Nothing is hit; what bends the booms is the slow motion itself."""
    angles, expected, hard, ratios = SOFT[case]
    motion = Motion.after(case)
    np.testing.assert_allclose(motion.turned(10.0), angles, atol=2e-6)
    np.testing.assert_allclose(motion.largest_tips, expected, atol=0.51e-5)
    np.testing.assert_allclose(np.array(hard) / motion.largest_tips, ratios, rtol=0.02)  # printed to two digits


@pytest.mark.parametrize(
    ("modes", "dt", "angles", "expected"),
    [
        (2, 1e-4, (1.8878, -2.8831, 1.2412), (3.041, 2.669)),
        (3, 5e-5, (1.8933, -2.8815, 1.2426), (3.227, 2.781)),
    ],
)
def test_more_modes_in_motion(modes, dt, angles, expected):
    """Angles after a second and largest deflections in ten: they converge, unlike the rates at the impact."""
    motion = Motion.after("N-hard", modes, dt=dt, every=round(1e-4 / dt))
    np.testing.assert_allclose(motion.turned(1.0), angles, atol=0.51e-4)
    np.testing.assert_allclose(motion.largest_tips, expected, atol=0.51e-3)


def test_how_short_a_step_must_be():
    """RK4 against a step ten times as short, after 1 s: 2e-5 deg and 2e-3 mm at 1 ms, a sixteenth at 0.5 ms."""
    fine = Motion.after("N-hard", duration=1.0, dt=1e-4)
    errors = {}
    for dt in (1e-3, 5e-4):
        motion = Motion.after("N-hard", duration=1.0, dt=dt)
        angles, tips = motion.turned(1.0) - fine.turned(1.0), motion.tips[:, -1] - fine.tips[:, -1]
        errors[dt] = [np.max(np.abs(angles)), np.max(np.abs(tips))]
    assert np.all(np.array(errors[1e-3]) < [2e-5, 2e-3])
    np.testing.assert_allclose(errors[5e-4], [1e-6, 1e-4], rtol=0.1)  # printed to one digit
    np.testing.assert_allclose(np.divide(errors[1e-3], errors[5e-4]), 16.0, rtol=0.06)  # fourth order


@pytest.mark.parametrize(("case", "lost"), [("N-hard", 7e-4), ("T-soft-a", 9e-3)])
def test_a_step_that_is_too_long_damps_the_booms(case, lost):
    """4 ms and 30 s: a share of the energy is gone, by numerical damping of 22 to 25 Hz (printed to one digit)."""
    energy = Motion.after(case, duration=30.0, dt=4e-3).energy
    np.testing.assert_allclose(1.0 - energy[-1] / energy[0], lost, rtol=0.06)


def test_what_the_integration_keeps():
    """Energy and momentum over 10 s at 0.2 ms: as closely as our reference did (7e-10, 6e-8 N s, 1.1e-6 N m s)."""
    motion = Motion.after("N-hard", every=100)
    assert np.max(np.abs(motion.energy / motion.energy[0] - 1.0)) < 7e-10
    craft, start = captured("N-hard", 1)
    momentum = engine.compile(lambda s: momentum_about_origin(craft, s), start).batch(motion.states)
    change = np.max(np.abs(momentum - momentum[0]), axis=0)
    assert np.all(change[:3] < 6e-8)
    assert np.all(change[3:] < 1.1e-6)

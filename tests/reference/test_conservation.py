"""cases.md 7: momentum and energy of random trees under smooth internal torques and joint friction."""

import dataclasses

import numpy as np
import pytest
from scipy.integrate import simpson

import freefloat as ff
from freefloat import dynamics
from support import swinging, trees

STEPS = (0.02, 0.01, 0.005)  # [s]
PUBLISHED = (6e-8, 4e-9, 2e-10)  # of |L|, at these steps (cases.md: "about")
DURATION = 100.0  # [s]
LEGS = 20  # momentum is looked at as often

momentum_about_origin = trees.compiled_once(dynamics.momentum_about_origin)


def draw(rng, name):
    """A tree with friction in its joints and torques that keep it swinging; it tumbles with 1 rad/s from the start, and
    drifts with 0.1 m/s: on a longer way the lever arm of P would multiply the drift of P into that of L."""
    craft, software = swinging.draw_swinging(rng, trees.draw_tree(rng, name))
    state = trees.draw_state(rng, craft)
    v = 0.3 * state.v
    v[:3] *= 0.1 / np.linalg.norm(v[:3])
    v[3:6] *= 1.0 / np.linalg.norm(v[3:6])
    return craft, dataclasses.replace(state, v=v), software


def legs(craft, software, state, duration, h):
    """Plants at equal intervals of a fixed-step run, the start first."""
    plants = [swinging.starting(state)]
    steps = round(duration / LEGS / h)
    for leg in range(LEGS):
        plants.append(swinging.advance(craft, (software,), plants[-1], leg * duration / LEGS, h, steps))
    return plants


def drift(craft, plants):
    """Largest change of P relative to |P| and of L relative to |L|, about the inertial origin."""
    momenta = np.array([momentum_about_origin(craft, plant.state) for plant in plants])
    change = momenta - momenta[0]
    return tuple(
        np.max(np.linalg.norm(change[:, part], axis=1)) / np.linalg.norm(momenta[0, part])
        for part in (slice(0, 3), slice(3, 6))
    )


def test_momentum_over_a_hundred_seconds_and_the_order_of_its_drift(rng):
    """RK4 loses momentum at fourth order, about as cases.md says: within a factor 10, since the tree is another one.

    The orders are 4 within 0.2: at these steps the next term is a few percent."""
    craft, state, software = draw(rng, "branched 10")
    runs = {h: legs(craft, software, state, DURATION, h) for h in STEPS}
    drifts = np.array([drift(craft, runs[h]) for h in STEPS])
    swing = np.array([plant.state.v[6:] for plant in runs[0.005][1:]])
    orders = np.log2(drifts[:-1] / drifts[1:])
    trees.report(
        "P:", drifts[:, 0], "L:", drifts[:, 1], "orders:", orders.ravel(), "rates:", np.sqrt(np.mean(swing**2))
    )
    assert 0.2 < np.sqrt(np.mean(swing**2)) < 2.0  # joint rates near 1 rad/s
    assert np.all(drifts[:, 1] < 10.0 * np.array(PUBLISHED))
    assert np.all(drifts[:, 0] < 10.0 * np.array(PUBLISHED))
    assert np.all(np.abs(orders - 4.0) < 0.2)

    # The books at 5 ms: change of kinetic energy = work - friction. 1e-9 of the work, fourth order as the momentum.
    end = runs[0.005][-1]
    change = trees.kinetic_energy(craft, end.state.q, end.state.v) - trees.kinetic_energy(craft, state.q, state.v)
    work = float(end.ledger.work)
    assert work > 100.0  # [J] went through the joints
    assert abs(change - (work - float(end.ledger.dissipated))) < 1e-9 * work

    # Negative control: about the moving base, angular momentum is not constant, because the whole drifts.
    about_base = [
        np.asarray(p.state.X_NB.R) @ trees.momentum_about_base(craft, p.state.q, p.state.v)[3:] for p in runs[0.005]
    ]
    size = np.linalg.norm(momentum_about_origin(craft, state)[3:])
    assert np.max(np.linalg.norm(np.array(about_base) - about_base[0], axis=1)) > 1e-2 * size


@pytest.mark.parametrize("name", ["chain of 2", "wheels", pytest.param("branched 20", marks=pytest.mark.slow)])
def test_momentum_of_other_trees(rng, name):
    """Ten seconds at 5 ms, a tenth of the way; small trees swing faster: ten times the figure of the long run."""
    craft, state, software = draw(rng, name)
    drifts = drift(craft, legs(craft, software, state, 10.0, 0.005))
    trees.report(name, drifts)
    assert max(drifts) < 10.0 * PUBLISHED[-1]


def test_the_public_run_keeps_the_same_books(rng):
    """`simulate` with the same torques: its audit holds, and kinetic energy changes by the integral of tau . qdot,
    taken here from the recorded torques and rates by Simpson's rule (fourth order at 10 ms: 1e-8 of the work)."""
    craft, state, software = draw(rng, "branched 10")
    run = ff.simulate(craft, software, state=state, duration=10.0, dt=0.01, record_dt=0.01)
    assert run.audit.holds
    power = np.sum(run["joints.torque"].values * run["joints.rate"].values, axis=1)  # friction is subtracted
    energy = run["energy.kinetic"].values
    work = simpson(power, x=run["time"].values)
    size = simpson(np.abs(power), x=run["time"].values)
    trees.report("public:", (energy[-1] - energy[0] - work) / size)
    assert abs(energy[-1] - energy[0] - work) < 1e-8 * size
    L = run["momentum.angular"].values
    assert np.max(np.abs(L - L[0])) < 10.0 * PUBLISHED[1] * np.linalg.norm(L[0])

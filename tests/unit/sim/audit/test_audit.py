"""The audit judged by what moves: not by records, units, wheels or drift; faults are caught, remedies help."""

import dataclasses
import re
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.dynamics import forward_dynamics
from freefloat.dynamics.inner_motion import (
    free_of_drift,
    inner_energy,
    inner_motion,
    motion_of_com_by_mass_matrix,
    without_drift,
)
from freefloat.sim import assemble, begin, rollout, step
from freefloat.sim.audit.frequencies import UnresolvedWarning
from freefloat.spatial import Pose
from freefloat.values import record, static
from support.trees import draw_state, draw_tree

sys.path.append(str(Path(__file__).parents[4] / "benchmarks"))

from audit_faults import FaultyRuns
from audit_independence import judged, right_and_wrong

from freefloat.scenarios.catalogue import SCENARIOS

# ---- independence


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"record_dt": 2.0},  # the start and the end alone
        {"kilogram": 1e3, "metre": 1e3},  # g, mm
        {"size": 1e-6, "wheel": 0.0},  # pushed by 1e-12 N instead of 1 N
        {"wheel": 2000.0},  # 100 N m s in a motion of 3
        {"drift": 7500.0},
    ],
    ids=lambda options: "-".join(options) or "as it is",
)
def test_the_verdict_does_not_depend_on_how_a_run_is_described(options):
    right, wrong = right_and_wrong(options)  # a ten-millionth of the arm's inertia
    assert right.audit.holds, str(right.audit)
    assert not wrong.audit.holds


def test_what_is_permitted_does_not_depend_on_units():
    """All of it follows from the motion: in g and mm it is the same share, to a factor two for other rounding."""
    ours, theirs = judged(0.0), judged(0.0, kilogram=1e3, metre=1e3)
    scales = {"N s": 1e6, "N m s": 1e9, "J": 1e9, "N": 1e6, "N m": 1e9, "W": 1e9, "1": 1.0}
    for a, b in zip(ours.audit.entries[:3], theirs.audit.entries[:3], strict=True):
        assert b.limit == pytest.approx(scales[a.unit] * a.limit, rel=1.0), a.name


def test_drift_does_not_enter_the_accelerations():
    rng = np.random.default_rng(5)
    craft = draw_tree(rng, "tiny")
    state = draw_state(rng, craft)
    force = rng.normal(size=craft.layout.nv)
    q, v = state.q, np.asarray(state.v)
    there = forward_dynamics(craft, q, v, force)
    here = free_of_drift(forward_dynamics(craft, q, without_drift(v), force), v)
    np.testing.assert_allclose(here, there, rtol=1e-10, atol=1e-10)  # rounding of two ways


def test_inner_motion_is_that_of_koenig():
    """Energy = m v_C^2 / 2 + inner energy + the wheels' own; momentum about C as the run's channel had it."""
    rng = np.random.default_rng(6)
    craft = draw_tree(rng, "wheels")
    state = draw_state(rng, craft)
    inner = inner_motion(craft, state.q, state.v)
    momentum = ff.dynamics.momentum_about_com(craft, state.q, state.v)
    mass = sum(float(body.mass) for body in craft.bodies)
    spins = ff.dynamics.wheel_momentum(craft, state.q, state.v)
    wheels = sum(0.5 * float(h) ** 2 / float(w.inertia) for h, w in zip(spins, craft.wheels, strict=True))
    whole = float(ff.dynamics.kinetic_energy(craft, state.q, state.v))
    drifting = 0.5 * float(momentum[:3] @ momentum[:3]) / mass
    assert float(inner.energy) + drifting + wheels == pytest.approx(whole, rel=1e-12)
    np.testing.assert_allclose(inner.angular_momentum, momentum[3:], rtol=1e-10, atol=1e-12)
    by_matrix = motion_of_com_by_mass_matrix(craft, state.q, state.v)
    np.testing.assert_allclose(by_matrix[0], inner.com, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(by_matrix[1], inner.com_velocity, rtol=1e-12, atol=1e-12)
    assert float(inner_energy(craft, state.q, state.v)) == pytest.approx(float(inner.energy), rel=1e-12)


# ---- faults


@pytest.mark.parametrize("drift", [0.0, 7500.0])
def test_a_wrong_inertia_of_a_hundred_thousandth_is_caught_in_a_scenario(drift):
    runs = FaultyRuns(SCENARIOS["goddard-asymmetric"](duration=2.0), drift)
    assert runs.run().audit.holds
    for body in ("base", "right", "left"):
        assert not runs.run(body, 1e-5).audit.holds, body


def one_arm() -> ff.Spacecraft:
    hub = ff.Spacecraft.from_base("small", mass=20.0, inertia=(3.0, 4.0, 5.0), com=(0.0, 0.1, 0.0))
    return hub.with_link(
        "arm",
        parent="base",
        joint="revolute",
        at=Pose(position=(0.5, 0.0, 0.0)),
        mass=4.0,
        com=(0.5, 0.0, 0.0),
        inertia=(0.1, 0.4, 0.4),
    )


@record
class Swing(ff.Software):
    """A torque that swings, or jumps where a switch falls inside a step."""

    torque: float
    switch: float = static(default=np.inf)  # [s]

    def command(self, memory, y, clock):
        t, size = clock.t, self.torque
        size = jnp.where(t < self.switch, size, -size) if np.isfinite(self.switch) else size
        return ff.JointTorques(("arm",), (size * jnp.cos(2.0 * t))[None])


def test_a_fault_of_the_integration_alone_is_caught_by_the_books(monkeypatch):
    """The accelerations that the audit sees are right; those that are integrated come from another spacecraft."""
    craft, right = one_arm(), rollout.step
    wrong = craft.with_value("arm.inertia", (1.0 + 1e-5) * np.asarray(craft.body("arm").inertia))
    moved = lambda s, *rest: right(dataclasses.replace(s, world=ff.World.of(wrong)), *rest)  # noqa: E731
    monkeypatch.setattr(rollout, "step", moved)
    run = ff.simulate(craft, Swing(0.3), duration=2.0, check=False)
    assert "angular momentum about the centre of mass" in [entry.name for entry in run.audit.violations]
    assert "the step is not to blame" in run.audit.reason


def test_a_jump_inside_a_step_is_the_integrators_and_is_permitted():
    """Second order there, and measured: half the step loses less."""
    run = ff.simulate(one_arm(), Swing(0.3, switch=1.003), duration=2.0)
    smooth = ff.simulate(one_arm(), Swing(0.3, switch=1.0), duration=2.0)
    assert run.audit.holds
    assert run.audit.entries[2].value > 10.0 * smooth.audit.entries[2].value


# ---- remedies


def stiff() -> tuple[ff.Spacecraft, ff.State]:
    rod = ff.flex.beam(length=1.0, mass=1.0, bending_stiffness=400.0, modes={"y": 1})
    craft = ff.Spacecraft.from_base("stiff", mass=20.0, inertia=(3.0, 4.0, 5.0)).mount(rod, name="rod")
    start = craft.at_rest()
    start.q[0] = 0.01
    return craft, start


def test_a_mode_that_the_step_cannot_follow_is_told_before_the_run():
    craft, start = stiff()
    with pytest.warns(UnresolvedWarning, match=r"rod: dt = 0.02 s cannot follow its mode at 73.* damp it away") as told:
        run = ff.simulate(craft, state=start, duration=5.0, dt=0.02, check=False)
    assert not run.audit.holds
    assert str(told[0].message) in run.audit.warnings
    advised = float(re.search(r"Use dt = ([\d.e-]+)", str(told[0].message))[1])
    assert 0.002 < advised < 0.02
    ff.simulate(craft, state=start, duration=5.0, dt=advised, check=False)  # warns no more


def test_the_advised_step_is_accepted_and_helps():
    craft, start = stiff()
    run = ff.simulate(craft, state=start, duration=5.0, dt=0.0125, record_dt=0.125, check=False)
    assert not run.audit.holds
    advised = float(re.search(r"dt = ([\d.e-]+) would do", run.audit.reason)[1])
    assert advised >= 0.0125 / 8.0  # not a hundred times too short
    better = ff.simulate(craft, state=start, duration=5.0, dt=advised, record_dt=0.125)
    assert better.audit.holds


def test_a_loop_that_the_step_cannot_follow_is_told_before_the_run():
    @record
    class Fast(Swing):
        @property
        def fastest_rate(self):
            return 500.0  # [rad/s]

    with pytest.warns(UnresolvedWarning, match="Fast: dt = 0.01 s cannot follow its loop at 500 rad/s"):
        ff.simulate(one_arm(), Fast(0.1), duration=0.1)


# ---- a flexible body that turns


def with_panel(**panel) -> ff.Spacecraft:
    """A panel at the tip of an arm on a hub that hardly moves."""
    hub = ff.Spacecraft.from_base("hub", mass=1e5, inertia=(1e5, 1e5, 1e5))
    hub = hub.with_link("arm", parent="base", joint="revolute", mass=5.0, inertia=(1.0, 1.0, 1.0))
    beam = ff.flex.beam(length=4.0, mass=2.0, bending_stiffness=20.0, modes={"z": 1}, **panel)
    return hub.mount(beam, name="panel", to="arm")


def spun(craft: ff.Spacecraft, base: float, arm: float) -> tuple[str, ...]:
    v = np.zeros(craft.layout.nv)
    v[5], v[craft.layout.velocity("arm").start] = base, arm
    run = ff.simulate(craft, state=dataclasses.replace(craft.at_rest(), v=v), duration=0.5, dt=0.005, check=False)
    return tuple(warning for warning in run.audit.warnings if "turns" in warning)


def test_the_warning_looks_at_the_rotation_of_the_flexible_body_itself():
    craft = with_panel()
    lowest = float(craft.body("panel").frequencies()[0])
    still_base, still_panel = spun(craft, 0.0, 0.5 * lowest), spun(craft, 0.5 * lowest, -0.5 * lowest)
    assert len(still_base) == 1
    assert "panel: it turns at" in still_base[0]
    assert still_panel == ()
    assert spun(with_panel(stiffening=True), 0.0, 0.5 * lowest) == ()


# ---- finer steps in whole ticks


@pytest.mark.slow
def test_a_tick_in_two_parts_is_two_half_steps():
    world = ff.World.of(one_arm())
    whole, loop = begin(assemble(world, (Swing(0.3, period=0.04),), 0.02), world.at_rest())
    half, other = begin(assemble(world, (Swing(0.3, period=0.04),), 0.01), world.at_rest())
    for _ in range(4):
        loop = step(whole, loop, {}, jnp.asarray(2, jnp.int32))
        other = step(half, other, {})
    np.testing.assert_array_equal(loop.states[0].v, other.states[0].v)
    assert int(loop.tick) == int(other.tick) == 4

"""A run that leaves the finite numbers says which channel, when, why and what to do; the run so far is kept."""

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.sim.audit.frequencies import UnresolvedWarning
from freefloat.values import record, static

CRAFT = ff.Spacecraft.from_base("hub", mass=10.0, inertia=(1.0, 1.0, 1.0)).with_link(
    "rod", parent="base", joint="revolute", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.5, 0.0, 0.0)
)


@record
class Spring(ff.Software):
    """Of the rod's motor."""

    stiffness: float  # [N m/rad]
    damping: float  # [N m s/rad]
    broken_from: float = static(default=np.inf)  # [s]

    def command(self, memory, y, clock):
        torque = -self.stiffness * y["joints.position"] - self.damping * y["joints.rate"]
        return ff.JointTorques(("rod",), jnp.where(clock.t < self.broken_from, torque, jnp.sqrt(-1.0 - clock.t)))


@record
class Coil(ff.Effect):
    """A spring in the hinge."""

    broken_from: float = static(default=np.inf)  # [s]

    def force(self, craft, state, clock):
        torque = jnp.where(clock.t < self.broken_from, -state.q[0], jnp.sqrt(-1.0 - clock.t))
        return jnp.zeros(7).at[6].set(torque)


@record
class Pole(ff.Software):
    def command(self, memory, y, clock):
        return ff.JointRates(("rod",), 1e-3 / (clock.t[None] - 0.5))


def failure(*parts, craft=CRAFT, **options) -> ff.RunFailed:
    start = {} if "state" in options else {"joints": {"rod": 0.1}}
    with pytest.raises(ff.RunFailed) as caught:
        ff.simulate(craft, *parts, **{"duration": 2.0, **start, **options})
    run = caught.value.run
    kept = [name for name in run.channels if name.endswith(("state.q", "state.v", "base.position"))]
    assert kept
    assert all(np.all(np.isfinite(run[name].values)) for name in kept)
    return caught.value


@pytest.mark.parametrize("period", [None, 0.1])
def test_software_that_gives_nan_is_named(period):
    failed = failure(Spring(1.0, 1.0, broken_from=0.7, period=period))
    assert "joints.rate (rod) became non-finite at t = 0.71 s: Spring.command gave nan at t = 0.7 s" in str(failed)
    assert "division by zero" in str(failed)
    assert float(failed.run["time"][-1]) == pytest.approx(0.7)


def test_an_effect_that_gives_nan_is_named():
    said = str(failure(Spring(1.0, 1.0), Coil(broken_from=0.7, name="old")))
    assert "joints.rate (rod) became non-finite at t = 0.71 s: Coil 'old'.force gave nan at t = 0.7 s" in said


def test_the_spacecraft_is_named_where_there_are_several():
    world = ff.World(servicer=CRAFT, client=CRAFT)
    said = str(failure(Spring(1.0, 1.0, broken_from=0.1, on="client"), craft=world, state={}, duration=0.2))
    assert "client.joints.rate (rod) became non-finite at t = 0.11 s: Spring.command gave nan" in said


def test_the_step_is_found_between_coarse_records():
    failed = failure(Spring(1.0, 1.0, broken_from=0.73), record_dt=0.1)
    assert "at t = 0.74 s: Spring.command gave nan at t = 0.73 s" in str(failed)
    assert float(failed.run["time"][-1]) == pytest.approx(0.7)  # the record before


def test_prescribed_rates_with_a_pole_are_named():
    assert "joints.rate (rod) became non-finite at t = 0.5 s: Pole.command gave inf at t = 0.5 s" in str(
        failure(Pole())
    )


def test_too_long_a_step_says_which_would_do():
    """A stable loop of about 2000 rad/s (1e6 N m/rad on some 0.25 kg m2), far beyond what 10 ms can follow."""
    said = str(failure(Spring(1e6, 10.0)))
    assert "joints.rate (rod)" in said
    assert (
        "dt = 0.01 s is too long for the fastest rate of the motion, 2.01e+03 rad/s. Use dt = 0.0004761904762 s or less"
        in said
    )
    assert ff.simulate(CRAFT, Spring(1e6, 10.0), joints={"rod": 0.1}, duration=0.1, dt=0.01 / 21, check=False).completed


def test_a_wrong_sign_is_told_from_too_long_a_step():
    said = str(failure(Spring(-100.0, -50.0)))
    assert "joints.rate (rod)" in said
    assert "the motion grows by itself at 205 1/s (Spring). Check the signs and the gains" in said


def test_software_that_is_held_too_long_is_told_from_both():
    said = str(failure(Spring(1000.0, 50.0, period=0.1)))
    assert "sampled software acts too strongly for its period" in said


def test_a_mode_that_is_too_stiff_is_named():
    craft = CRAFT.mount(ff.flex.beam(length=6.0, mass=40.0, bending_stiffness=9e6, modes={"y": 2}), name="panel")
    bent = craft.at_rest(q=np.array([0.0, 1e-3, 1e-3]))
    with pytest.warns(UnresolvedWarning, match="panel: dt = 0.01 s cannot follow its mode"):
        assert "panel.modal_rates" in str(failure(craft=craft, state=bent))


@pytest.mark.slow
def test_a_tolerance_that_cannot_be_met_keeps_the_run():
    failed = failure(Spring(-1000.0, -500.0), integrator="adaptive", duration=1.0)
    assert "the adaptive step fell below 1e-09 s" in str(failed)
    assert not failed.run.completed

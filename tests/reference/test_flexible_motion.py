"""Flexible bodies in motion against exact and published answers, through the public interface."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.dynamics import natural_frequencies
from freefloat.model import Spacecraft
from freefloat.scenarios.goddard import GoddardSymmetric
from freefloat.values import record


@record
class SpinUp(ff.control.RateSoftware):
    """Turns one joint with w(t) = (W/T)(t - T/(2 pi) sin(2 pi t/T)) until T, then with W."""

    rate: float = 6.0  # W [rad/s]
    time: float = 15.0  # T [s]

    @property
    def joints(self):
        return ("blade",)

    def rates(self, memory, y, clock):
        t = clock.t
        rising = self.rate / self.time * (t - self.time / (2 * jnp.pi) * jnp.sin(2 * jnp.pi * t / self.time))
        return jnp.where(t < self.time, rising, self.rate)[None]


def blade(stiffening: bool) -> Spacecraft:
    """A beam on a joint on a base so heavy that it stays where it is (1e-8 of the beam's motion)."""
    beam = ff.flex.beam(
        length=10.0, mass=12.0, bending_stiffness=1.4e4, modes={"y": 6}, stiffening=stiffening
    )  # [m], [kg], [N m2]
    rock = Spacecraft.from_base("rock", mass=1e10, inertia=(1e12, 1e12, 1e12))
    return rock.mount(beam, name="blade", joint="revolute", axis=(0.0, 0.0, 1.0))


def test_spin_up_of_a_blade_with_stiffening():
    """Literature: lowest tip -0.5744 m at 6.762 s with six modes, residual below 3.7e-3 m."""
    run = ff.simulate(blade(True), SpinUp(), duration=20.0, dt=0.001, record_dt=0.004, check=False)
    assert run.completed
    tip = run["blade.tip.displacement"].sel(xyz="y")
    lowest = tip.isel(time=int(tip.argmin("time")))
    assert float(lowest) == pytest.approx(-0.5744, abs=5e-5)  # the printed digits
    assert float(lowest["time"]) == pytest.approx(6.762, abs=0.004)  # one record
    late = tip.sel(time=slice(15.0, None))
    # The residual is the amplitude about the mean of the vibration that is left.
    assert float(late.max() - late.min()) / 2 < 3.7e-3


def test_without_stiffening_the_blade_diverges_and_the_audit_says_so():
    run = ff.simulate(blade(False), SpinUp(), duration=16.0, dt=0.001, record_dt=0.016, check=False)
    tip = run["blade.tip.displacement"].sel(xyz="y").values
    assert np.max(np.abs(tip)) > 10.0 or not run.completed
    assert any("blade" in warning for warning in run.audit.warnings)


def pushed(wrench, duration=4.0) -> tuple[ff.Run, float, float]:
    """A stiff, heavily damped beam on a heavy hub, pushed steadily until it has settled."""
    length, mass, stiffness = 2.0, 1.0, 50.0  # [m], [kg], [N m2]
    beam = ff.flex.beam(length=length, mass=mass, bending_stiffness=stiffness, modes={"y": 6}, damping_ratio=0.7)
    hub = Spacecraft.from_base("hub", mass=1e4, inertia=(1e4, 1e4, 1e4))
    craft = hub.mount(beam, name="beam")
    run = ff.simulate(craft, ff.WrenchPulse(frame="base", wrench=wrench), duration=duration, dt=1e-3)
    return run, mass / length * length**4 / stiffness, length


def test_steady_acceleration_bends_the_beam_statically():
    """Exact: tip at -mu a L^4 / (8 EI)."""
    run, factor, _ = pushed(np.array([0.0, 10.0, 0.0, 0.0, 0.0, 0.0]))
    acceleration = 10.0 / (1e4 + 1.0)
    tip = float(run["beam.tip.displacement"].sel(xyz="y")[-1])
    # Six modes sum the static shape to 1e-6; the hub's own rotation under the beam's weight adds 1e-4 of it.
    assert tip == pytest.approx(-factor * acceleration / 8.0, rel=5e-4)


def test_steady_angular_acceleration_bends_the_beam_statically():
    """Exact: tip at -11 mu alpha L^5 / (120 EI) in the beam's frame."""
    run, factor, length = pushed(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 10.0]))
    alpha = 10.0 / (1e4 + 4.0 / 3.0)
    tip = float(run["beam.tip.displacement"].sel(xyz="y")[-1])
    assert tip == pytest.approx(-11.0 * factor * alpha * length / 120.0, rel=5e-4)


def test_bang_bang_slew_in_the_flexible_period_leaves_no_vibration():
    """Exact: torque one way for one flexible period, then the other way for one."""
    scenario = GoddardSymmetric(damping_ratio=0.0, modes=1)
    craft = scenario.spacecraft()
    period = 2 * np.pi / natural_frequencies(craft)[1]
    torque = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1e-3])  # [N m]: slow enough to stay linear
    slew = (
        ff.WrenchPulse(frame="base", wrench=torque, stop=period),
        ff.WrenchPulse(frame="base", wrench=-torque, start=period, stop=2 * period),
    )
    run = ff.simulate(craft, *slew, duration=4 * period, dt=period / 500, record_dt=period / 50)
    tip = run["right.tip.displacement"].sel(xyz="y")
    during = float(np.abs(tip).max())
    after = float(np.abs(tip.sel(time=slice(2 * period, None))).max())
    assert after < 1e-6 * during  # the step's error at the corners of the torque
    # Negative control: half the period too long, and it rings.
    late = tuple(dataclasses.replace(p, start=1.25 * p.start, stop=1.25 * p.stop) for p in slew)
    ringing = ff.simulate(craft, *late, duration=4 * period, dt=period / 500, record_dt=period / 50)
    residual = ringing["right.tip.displacement"].sel(xyz="y", time=slice(2.6 * period, None))
    assert float(np.abs(residual).max()) > 0.1 * during


def test_goddard_release_keeps_its_numbers():
    """Regression of an independent prototype: 50 kg, one mode, no damping (energy, and the hub after one second)."""
    run = ff.simulate(GoddardSymmetric(damping_ratio=0.0, modes=1).build())
    energy = run["energy.kinetic"] + run["energy.elastic"]
    assert float(energy[0]) == pytest.approx(0.046282811, rel=1e-7)  # printed digits
    hub = run["base.position"].sel(xyz="y")
    assert float(hub.sel(time=1.0, method="nearest")) == pytest.approx(5.856715e-4, rel=1e-6)

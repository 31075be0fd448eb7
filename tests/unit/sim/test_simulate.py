"""`simulate` at its borders: wrong input, numbers that explode, interruption, a wrong plant, files."""

import dataclasses
import json

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat import dynamics
from freefloat.sim import Audit
from freefloat.sim import system as system_module
from freefloat.sim.audit import Entry
from freefloat.sim.simulate import require_choice
from freefloat.spatial import Pose
from freefloat.values import record, static


def one_arm(damping: float = 0.0) -> ff.Spacecraft:
    hub = ff.Spacecraft.from_base("small", mass=20.0, inertia=(3.0, 4.0, 5.0), com=(0.0, 0.1, 0.0))
    hub = hub.with_wheel("wheel", axis=(0.0, 0.0, 1.0), inertia=0.05)
    return hub.with_link(
        "arm",
        parent="base",
        joint="revolute",
        at=Pose(position=(0.5, 0.0, 0.0)),
        mass=4.0,
        com=(0.5, 0.0, 0.0),
        inertia=(0.1, 0.4, 0.4),
        damping=damping,
    )


CRAFT = one_arm()


def moving() -> ff.State:
    return dataclasses.replace(CRAFT.at_rest(), v=np.array([0.1, -0.2, 0.05, 0.3, -0.1, 0.2, 5.0, 0.4]))


@record
class Twist:
    """A joint torque that swings."""

    size: float = 0.3  # [N m]
    after: float = static(default=np.inf)  # from this time on it gives NaN

    def begin(self, state):
        return self

    def force(self, state, t, hold):
        torque = jnp.where(t < self.after, self.size * jnp.sin(2.0 * t), jnp.nan)
        return jnp.zeros(8).at[7].set(torque)


@record
class Integral:
    """Wheel torque from the integral of the base rate: it remembers."""

    gain: float = 0.2

    def begin(self, state):
        return self

    def memory(self):
        return {"turned": np.zeros(())}

    def sample(self, memory, state, t, hold):
        turned = memory["turned"] + hold * state.v[5]
        return {"turned": turned}, jnp.zeros(8).at[6].set(self.gain * turned)


@pytest.fixture(scope="module")
def swung() -> ff.Run:
    return ff.simulate(CRAFT, Twist(), state=moving(), duration=2.0, dt=0.01)


def test_a_run_has_units_frames_and_labels(swung):
    assert swung.completed
    assert swung.audit.holds
    position = swung["base.position"]
    assert position.attrs == {"units": "m", "frame": "N", "long_name": "Base position"}
    assert swung["joints.rate"].attrs["units"] == "rad/s"
    assert float(swung["time"][-1] if "time" in swung.data else 0.0) == pytest.approx(2.0)
    with pytest.raises(KeyError, match=r"no channel 'base.positon'.*base\.position"):
        swung["base.positon"]


def test_plain_jax_gives_the_same_run(swung):
    other = ff.simulate(CRAFT, Twist(), state=moving(), duration=2.0, dt=0.01, engine="jax")
    for name in ("base.position", "base.attitude", "joints.position", "energy.work"):
        # Rounding of 200 steps in another order of operations.
        np.testing.assert_allclose(other[name].values, swung[name].values, rtol=1e-12, atol=1e-13)


def test_work_and_damping_balance_the_energy():
    run = ff.simulate(one_arm(damping=0.5), Twist(), state=moving(), duration=2.0, dt=0.01)
    assert run.audit.holds
    assert float(run["energy.dissipated"][-1]) > 1e-3


def test_a_law_with_memory_is_sampled_and_conserves_momentum():
    law = ff.Sampled(law=Integral(), period=0.1)
    run = ff.simulate(CRAFT, law, state=moving(), duration=2.0, dt=0.01)
    torque = run["wheels.torque"].values[:, 0]
    assert run.audit.holds
    assert np.unique(torque).size <= 21  # one value for each of the twenty holds, and the start
    assert np.ptp(torque) > 1e-3
    with pytest.raises(ff.LawError, match="must be sampled"):
        ff.simulate(CRAFT, Integral(), duration=1.0)


def test_inputs_push_and_the_ledger_books_the_impulse():
    system = system_module.System(craft=CRAFT, laws=(), dt=0.01, wrench_frames=("arm",))
    system, loop = system_module.begin(system, moving())
    push = system_module.Inputs(wrenches=np.array([[0.0, 2.0, 0.0, 0.1, 0.0, 0.0]]))
    before = dynamics.momentum_about_origin(CRAFT, loop.plant.state)
    for _ in range(3):
        loop = system_module.step(system, loop, push)
    gained = dynamics.momentum_about_origin(CRAFT, loop.plant.state) - before
    np.testing.assert_allclose(gained, loop.plant.ledger.impulse, atol=1e-9)  # fourth order at 10 ms
    assert np.linalg.norm(gained) > 0.05


def test_a_number_that_explodes_is_named_and_nothing_is_lost():
    with pytest.raises(ff.RunFailed, match=r"became non-finite at t = 1\.0\d") as failure:
        ff.simulate(CRAFT, Twist(after=1.0), state=moving(), duration=2.0, dt=0.01)
    run = failure.value.run
    assert not run.completed
    assert float(run.data["time"][-1]) == pytest.approx(1.0, abs=0.02)
    assert np.all(np.isfinite(run["base.position"].values))


def test_an_interruption_leaves_the_run_so_far():
    def impatient(done, total):
        raise KeyboardInterrupt

    with pytest.raises(ff.RunFailed, match="interrupted after") as failure:
        ff.simulate(CRAFT, Twist(), state=moving(), duration=2.0, dt=0.01, progress=impatient)
    assert 0.0 < float(failure.value.run.data["time"][-1]) < 2.0


def test_a_planted_wrong_inertia_is_caught_and_named(monkeypatch):
    """Negative control: the plant moves like another spacecraft than the books are kept for."""
    wrong = CRAFT.with_value("arm.inertia", 1.05 * np.asarray(CRAFT.body("arm").inertia))
    right = system_module.forward_dynamics
    monkeypatch.setattr(system_module, "forward_dynamics", lambda craft, *rest: right(wrong, *rest))
    with pytest.raises(ff.RunFailed, match="angular momentum about the centre of mass") as failure:
        ff.simulate(CRAFT, Twist(), state=moving(), duration=2.0, dt=0.01)
    violated = [entry.quantity for entry in failure.value.run.audit.violations]
    assert "torque = rate of angular momentum" in violated
    assert "VIOLATED" in str(failure.value)


def test_jumps_of_a_sampled_law_are_no_coarseness_of_the_step():
    """Rates that jump at ticks and are held between them are integrated exactly, whatever the step."""

    @record
    class Stairs:
        joints: tuple = static(default=("arm",))

        def begin(self, state):
            return self

        def rates(self, motion, t, hold):
            return jnp.array([0.1 * jnp.sin(3.0 * t)])

    run = ff.simulate(CRAFT, ff.Sampled(law=Stairs(), period=0.25), duration=10.0, dt=0.05)
    assert run.audit.holds
    assert "coarse" not in run.audit.reason
    # The base turns with the arm: that is the fastest there is, and the tolerance follows from it.
    assert max(entry.permitted for entry in run.audit.entries) < 1e-9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duration": 1.005}, r"duration=1\.005 s must be a whole number of steps of dt=0\.01 s"),
        ({"duration": -1.0}, "duration must be positive, got -1 s"),
        ({"duration": float("nan")}, r"duration must be finite \[s\]"),
        ({"duration": 1.0, "dt": 0.0}, "dt"),
        ({"duration": 1.0, "record_dt": 0.3}, "record_dt=0.3"),
        ({"duration": 1.0, "joints_deg": (1.0, 2.0)}, r"joints_deg must be 1 numbers \(arm\) or a dictionary"),
        ({"duration": 1.0, "joints_deg": (np.nan,)}, "joints_deg must be finite"),
    ],
)
def test_wrong_settings_say_what_is_wrong(options, message):
    with pytest.raises((ValueError, ZeroDivisionError), match=message):
        ff.simulate(CRAFT, **{"dt": 0.01, **options})


def test_wrong_states_and_laws_say_what_is_wrong():
    rest = CRAFT.at_rest()
    with pytest.raises(ff.ModelError, match="unit length"):
        ff.simulate(CRAFT, state=dataclasses.replace(rest, quat_NB=2.0 * rest.quat_NB), duration=1.0)
    with pytest.raises(ff.ModelError, match="v must have 8 numbers"):
        ff.simulate(CRAFT, state=dataclasses.replace(rest, v=np.zeros(7)), duration=1.0)
    with pytest.raises(ff.LawError, match="str is not a law"):
        ff.simulate(CRAFT, "push", duration=1.0)
    with pytest.raises(ValueError, match="does not fit the step"):
        ff.simulate(CRAFT, ff.Sampled(law=Twist(), period=0.015), duration=1.0, dt=0.01)


@record
class Careless:
    """A law that returns the wrong number of forces."""

    answer: np.ndarray | None

    def begin(self, state):
        return self

    def force(self, state, t, hold):
        return self.answer


@pytest.mark.parametrize("answer", [np.ones(()), np.ones(1), np.ones(7), np.ones((8, 1)), None])
def test_a_law_of_the_wrong_size_is_named(answer):
    with pytest.raises(ValueError, match=r"Careless\.force must return 8 numbers \(base, wheel, arm\)"):
        ff.simulate(CRAFT, Careless(answer), duration=1.0)


def test_misspelt_choices_are_refused():
    # The annotations that run here would refuse it first, so the check is asked itself.
    with pytest.raises(ValueError, match="no integrator 'euler'. Choose one of: rk4, adaptive".replace(".", r"\.")):
        require_choice("integrator", "euler", ("rk4", "adaptive"))
    with pytest.raises(ValueError, match="tolerance must be positive"):
        ff.simulate(CRAFT, duration=1.0, tolerance=0.0)


def test_a_loose_tolerance_does_not_pardon_everything():
    """The audit never permits more than a thousandth, whatever tolerance was asked for."""
    run = ff.simulate(CRAFT, Twist(), state=moving(), duration=1.0, integrator="adaptive", tolerance=1.0, check=False)
    assert "never more than 0.001" in run.audit.reason


def test_an_audit_that_is_not_finite_is_still_json():
    entry = Entry("energy", "J", np.nan, 1.0, np.inf)
    data = json.loads(json.dumps(Audit((entry,), "none").as_dict(), allow_nan=False))
    assert not Audit.from_dict(data).holds


def test_a_run_survives_the_disk(swung, tmp_path):
    path = swung.save(tmp_path / "deep" / "run.nc")
    loaded = ff.Run.load(path)
    assert loaded.audit == swung.audit
    assert loaded.scenario == swung.scenario
    assert loaded.versions == swung.versions
    for name in swung.channels:
        np.testing.assert_array_equal(loaded[name].values, swung[name].values)
        assert loaded[name].attrs == swung[name].attrs
    with pytest.raises(FileExistsError, match="force"):
        swung.save(path)
    assert swung.save(path, force=True) == path


def test_broken_run_files_are_refused(swung, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no run file .*nowhere\.nc"):
        ff.Run.load(tmp_path / "nowhere.nc")
    broken = tmp_path / "broken.nc"
    broken.write_bytes(b"not a run")
    with pytest.raises(ValueError, match="not a readable run file"):
        ff.Run.load(broken)
    bare = tmp_path / "bare.nc"
    swung.data.assign_attrs(format_version=1).to_netcdf(bare, engine="h5netcdf")
    with pytest.raises(ValueError, match="no complete run file: it lacks status, audit"):
        ff.Run.load(bare)
    with pytest.raises(IsADirectoryError, match="Give the name of a file in it"):
        swung.save(tmp_path, force=True)
    cut = swung.save(tmp_path / "cut.nc")
    cut.write_bytes(cut.read_bytes()[:3000])
    with pytest.raises(ValueError, match="not a readable run file"):
        ff.Run.load(cut)

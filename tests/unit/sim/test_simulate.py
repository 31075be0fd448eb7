"""`simulate` at its borders: wrong input, numbers that explode, interruption, a wrong plant, files."""

import dataclasses
import inspect
import json

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat import dynamics
from freefloat.sim import Audit, assemble, begin, step
from freefloat.sim.audit.audit import AuditEntry
from freefloat.sim.motion import accelerations as balance
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
class Twist(ff.Software):
    """A joint torque that swings."""

    size: float = 0.3  # [N m]
    after: float = static(default=np.inf)  # from this time on it gives NaN

    def command(self, memory, y, clock):
        torque = jnp.where(clock.t < self.after, self.size * jnp.sin(2.0 * clock.t), jnp.nan)
        return ff.JointTorques(("arm",), torque[None])


@record
class Integral(ff.Software):
    """Wheel torque from the integral of the base rate: it remembers."""

    gain: float = 0.2

    def begin(self, y):
        return {"turned": 0.0}

    def remember(self, memory, y, clock):
        return {"turned": memory["turned"] + clock.hold * y["base.rate"][2]}

    def command(self, memory, y, clock):
        return ff.WheelTorques(("wheel",), self.gain * memory["turned"][None])


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


@pytest.mark.slow
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
    run = ff.simulate(CRAFT, Integral(period=0.1), state=moving(), duration=2.0, dt=0.01)
    torque = run["wheels.torque"].values[:, 0]
    assert run.audit.holds
    assert np.unique(torque).size <= 21  # one value for each of the twenty holds, and the start
    assert np.ptp(torque) > 1e-3


def test_memory_of_continuous_software_changes_at_ticks_only():
    run = ff.simulate(CRAFT, Integral(), state=moving(), duration=0.1, dt=0.01)
    assert run.audit.holds
    rate, torque = run["base.rate"].values[:, 2], run["wheels.torque"].values[:, 0]
    # A record is seen just before its tick: the memory is that of the tick before.
    np.testing.assert_allclose(torque[1:], 0.2 * 0.01 * np.cumsum(rate)[:-1], rtol=1e-12)


def test_sampled_noise_does_not_depend_on_the_step():
    """A sample's errors are keyed by its number: a gyro at 10 Hz says the same in steps of 0.1 s and of 0.05 s."""
    told = []
    for dt in (0.1, 0.05):
        parts = ff.sensors.Gyro(noise=1e-3, period=0.1), Integral(period=0.1)
        watched = ff.stepper(ff.Experiment.of(CRAFT, *parts, duration=1.0, dt=dt), measure=("base.rate",))
        told.append(
            [watched.step()["base.rate"] for _ in range(round(0.5 / dt))][round(0.1 / dt) - 1 :: round(0.1 / dt)]
        )
    np.testing.assert_array_equal(np.array(told[0])[:, :2], np.array(told[1])[:, :2])  # the law acts about z
    assert np.ptp(told[0], axis=0).min() > 1e-5


def test_inputs_push_and_the_ledger_books_the_impulse():
    system, at = begin(assemble(ff.World.of(CRAFT), (), 0.01, ports=("arm.wrench",)), (moving(),))
    push = {"arm.wrench": np.array([0.0, 2.0, 0.0, 0.1, 0.0, 0.0])}
    before = dynamics.momentum_about_origin(CRAFT, at.plants[0].state)
    for _ in range(3):
        at = step(system, at, push)
    gained = dynamics.momentum_about_origin(CRAFT, at.plants[0].state) - before
    np.testing.assert_allclose(gained, at.plants[0].ledger.impulse, atol=1e-9)  # fourth order at 10 ms
    assert np.linalg.norm(gained) > 0.05


def test_an_input_may_be_a_value_a_table_or_a_function_of_the_tick():
    push = np.array([0.0, 2.0, 0.0, 0.1, 0.0, 0.0])
    kinds = (push, np.tile(push, (10, 1)), lambda tick: push)
    runs = [ff.simulate(CRAFT, state=moving(), duration=0.1, inputs={"arm.wrench": kind}) for kind in kinds]
    for run in runs:
        assert run.audit.holds
        np.testing.assert_array_equal(run["state.v"].values, runs[0]["state.v"].values)
        np.testing.assert_array_equal(run["input.arm.wrench"].values[-1], push)
    assert float(np.linalg.norm(runs[0]["impulse.linear"].values[-1])) > 0.1


def test_an_input_replaces_a_command_and_a_measurement():
    torque = ff.simulate(CRAFT, Twist(), state=moving(), duration=0.1, inputs={"command.joints.torque": np.ones(1)})
    np.testing.assert_array_equal(torque["joints.torque"].values[:, 0], 1.0)
    spun = ff.simulate(CRAFT, Integral(period=0.01), state=moving(), duration=0.1, inputs={"base.rate": np.zeros(3)})
    np.testing.assert_array_equal(spun["wheels.torque"].values, 0.0)


# ---- going on, and stepping from outside


def test_a_run_goes_on_bit_for_bit_also_from_its_file(tmp_path):
    whole = ff.Experiment.of(CRAFT, Integral(period=0.05), state=moving(), duration=0.4, record_dt=0.01)
    half = dataclasses.replace(whole, duration=0.2)
    run, first = ff.simulate(whole), ff.simulate(half)
    second = ff.continue_run(ff.Run.load(first.save(tmp_path / "first.nc")), half)
    np.testing.assert_array_equal(second["state.v"].values, run["state.v"].values[20:])
    np.testing.assert_array_equal(second["time"].values, run["time"].values[20:])
    np.testing.assert_array_equal(second["base.roll_pitch_yaw"].values, run["base.roll_pitch_yaw"].values[20:])


def test_another_experiment_cannot_go_on_with_a_run():
    run = ff.simulate(CRAFT, Integral(period=0.05), state=moving(), duration=0.1)
    other = ff.Experiment.of(CRAFT, state=moving(), duration=0.1)
    with pytest.raises(ValueError, match=r"made by another experiment: its state differs at .*software"):
        ff.continue_run(run, other)


def test_a_stepper_gives_the_bits_of_a_run():
    experiment = ff.Experiment.of(CRAFT, Integral(period=0.05), state=moving(), duration=0.1, record_dt=0.01)
    run, steps = ff.simulate(experiment), ff.stepper(experiment, measure=("base.rate", "arm.position"))
    seen = [steps.step()["base.rate"] for _ in range(5)]
    np.testing.assert_array_equal(seen, run["base.rate"].values[1:6])
    assert steps.time == pytest.approx(0.05)
    saved = steps.save()
    after = steps.step()["arm.position"]
    steps.restore(saved)
    np.testing.assert_array_equal(steps.step()["arm.position"], after)
    with pytest.raises(ff.ModelError, match=r"no port 'arm\.wrench' in this experiment. Ports: none. Declare it"):
        steps.step({"arm.wrench": np.zeros(6)})


def test_an_experiment_has_its_options_already():
    experiment = ff.Experiment.of(CRAFT, duration=0.1)
    with pytest.raises(ValueError, match="An experiment has its parts and options already"):
        ff.simulate(experiment, dt=0.1)
    with pytest.raises(ValueError, match="An experiment has its parts and options already"):
        ff.simulate(experiment, integrator="adaptive")
    with pytest.raises(ValueError, match="An experiment has its parts and options already"):
        ff.stepper(experiment, joints_deg=(1.0,))


@pytest.mark.parametrize("driver", [ff.simulate, ff.stepper])
def test_drivers_spell_out_the_options_of_experiments(driver):
    """So that an editor completes them; an unknown one is an error of the driver itself."""
    own, options = (inspect.signature(f).parameters for f in (driver, ff.Experiment.of))
    for name, option in options.items():
        if option.kind is inspect.Parameter.KEYWORD_ONLY:
            assert own[name].default == (None if option.default is inspect.Parameter.empty else option.default)
    with pytest.raises(TypeError, match="unexpected keyword argument 'joint_degrees'"):
        driver(CRAFT, duration=0.1, joint_degrees=(1.0,))


# ---- several spacecraft


def test_two_spacecraft_share_a_run_and_each_has_its_books():
    world = ff.World(servicer=CRAFT, client=CRAFT)
    run = ff.simulate(world, Twist(on="servicer"), state={"client": moving()}, duration=0.5)
    assert run.audit.holds
    assert {"servicer: linear momentum", "client: linear momentum", "world: linear momentum"} <= {
        entry.name for entry in run.audit.entries
    }
    alone = ff.simulate(CRAFT, state=moving(), duration=0.5)
    # The same equations compiled together with others: rounding of 50 steps.
    np.testing.assert_allclose(run["client.state.v"].values, alone["state.v"].values, rtol=1e-12, atol=1e-13)
    assert np.ptp(run["servicer.joints.rate"].values) > 1e-3


# ---- failures of a run


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
    right = balance.forward_dynamics
    monkeypatch.setattr(balance, "forward_dynamics", lambda craft, *rest: right(wrong, *rest))
    told = pytest.raises(ff.RunFailed, match="angular momentum about the centre of mass")
    with ff.engine.traced_anew(), told as failure:
        ff.simulate(CRAFT, Twist(), state=moving(), duration=2.0, dt=0.01)
    violated = [entry.name for entry in failure.value.run.audit.violations]
    assert "torque = rate of angular momentum" in violated
    assert "VIOLATED" in str(failure.value)


def test_jumps_of_a_sampled_law_are_no_coarseness_of_the_step():
    """Rates that jump at ticks and are held between them are integrated exactly, whatever the step."""

    @record
    class Stairs(ff.Software):
        def command(self, memory, y, clock):
            return ff.JointRates(("arm",), 0.1 * jnp.sin(3.0 * clock.t)[None])

    run = ff.simulate(CRAFT, Stairs(period=0.25), duration=10.0, dt=0.05)
    assert run.audit.holds
    assert "coarse" not in run.audit.reason
    # The base turns with the arm: that is the fastest there is, and the tolerance follows from it.
    assert max(entry.limit for entry in run.audit.entries) < 1e-9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duration": 1.005}, r"duration=1\.005 s must be a whole number of steps of dt=0\.01 s"),
        ({"duration": -1.0}, "duration must be positive, got -1 s"),
        ({"duration": float("nan")}, r"duration must be finite \[s\]"),
        ({"duration": 1.0, "dt": 0.0}, "dt"),
        ({"duration": 1.0, "record_dt": 0.305}, "record_dt=0.305"),
        ({"duration": 1.0, "joints_deg": (1.0, 2.0)}, r"joints_deg must be 1 numbers \(arm\) or a dictionary"),
        ({"duration": 1.0, "joints_deg": (np.nan,)}, "joints_deg must be finite"),
    ],
)
def test_wrong_settings_say_what_is_wrong(options, message):
    with pytest.raises((ValueError, ZeroDivisionError), match=message):
        ff.simulate(CRAFT, **{"dt": 0.01, **options})


def test_wrong_states_say_what_is_wrong():
    rest = CRAFT.at_rest()
    with pytest.raises(ff.ModelError, match="unit length"):
        ff.simulate(CRAFT, state=dataclasses.replace(rest, quat_NB=2.0 * rest.quat_NB), duration=1.0)
    with pytest.raises(ff.ModelError, match="v must have 8 numbers"):
        ff.simulate(CRAFT, state=dataclasses.replace(rest, v=np.zeros(7)), duration=1.0)


@record
class Careless(ff.Effect):
    """It returns the wrong number of forces."""

    answer: np.ndarray | None

    def force(self, craft, state, clock):
        return self.answer


@pytest.mark.parametrize("answer", [np.ones(()), np.ones(1), np.ones(7), np.ones((8, 1)), None])
def test_an_effect_of_the_wrong_size_is_named(answer):
    with pytest.raises(ff.LawError, match=r"Careless\.force must return 8 numbers \(base, wheel, arm\)"):
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
    entry = AuditEntry("energy", "at most", np.inf, np.nan, "J", 1.0)
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

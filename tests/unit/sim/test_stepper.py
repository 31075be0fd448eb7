"""A stepper keeps its state in compiled memory: bits, errors, and code that is found again."""

import copy
import inspect

import jax
import numpy as np
import pytest

import freefloat as ff
from freefloat.engine.runtime import lookup
from freefloat.sim.stepped_state import JaxState
from support import pushed_craft

TORQUE = "command.joints.torque"


def made(*parts: object, **options: object) -> ff.Experiment:
    """A hub with a rod, and a noisy gyro: its memory has integers."""
    rod = {"mass": 5.0, "com": (0.5, 0.0, 0.0), "inertia": (0.01, 0.42, 0.42)}
    hub = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0))
    hub = hub.with_link("rod", parent="base", joint="revolute", **rod)
    gyro = ff.sensors.Gyro(name="gyro", noise=1e-3)
    return ff.Experiment.of(hub, gyro, *parts, **({"duration": 0.4, "dt": 0.02, "record_dt": 0.02} | options))


def ported() -> ff.Experiment:
    """With a port that holds a constant and one that is a function of the tick."""
    return made(inputs={TORQUE: np.array([0.1]), "base.wrench": lambda tick: 0.1 * tick * np.eye(6)[3]})


MEASURED = ("base.position", "base.rate", "rod.position")


@pytest.mark.parametrize("experiment", [made, ported])
def test_memory_gives_the_bits_of_records(experiment, own_cache, monkeypatch):
    """Beside the way through records, by the same native code, and beside a whole run; full code takes over halfway."""
    monkeypatch.delenv("FREEFLOAT_QUICK_CODE", raising=False)
    one, run = ff.stepper(experiment(), measure=MEASURED), ff.simulate(experiment(), check=False)
    other = ff.stepper(experiment(), measure=MEASURED)
    other._stepped = JaxState(other.system, other.state, other._require_inputs({}, 0), MEASURED, target="native")
    code = one._stepped._steps._held._by_need
    for k in range(1, 21):
        if k == 10:
            assert not code.is_final
            assert code.final_code() is not one._stepped._steps._held._prepared
        seen, expected = one.step(), other.step()
        assert list(seen) == list(expected)
        jax.tree.map(np.testing.assert_array_equal, seen, expected)
        jax.tree.map(np.testing.assert_array_equal, one.state, other.state)
        assert [x.dtype for x in jax.tree.leaves(one.state)] == [x.dtype for x in jax.tree.leaves(other.state)]
        np.testing.assert_array_equal(one.state.states[0].v, run["state.v"].values[k])
        np.testing.assert_array_equal(seen["base.position"], run["base.position"].values[k])
        assert one.time == other.time == k * 0.02


def test_a_stepper_takes_a_craft_with_parts_and_options():
    experiment = made()
    (craft,), parts = experiment.world.crafts, experiment.system.parts
    one = ff.stepper(craft, *parts, duration=0.4, dt=0.02, record_dt=0.02, measure=MEASURED)
    other = ff.stepper(experiment, measure=MEASURED)
    for _ in range(3):
        jax.tree.map(np.testing.assert_array_equal, one.step(), other.step())


def test_a_state_that_was_handed_out_stays_as_it_is():
    steps = ff.stepper(ported())
    steps.step()
    kept, saved = steps.state, steps.save()
    assert steps.state is kept
    v = np.array(kept.states[0].v)
    steps.step({TORQUE: [3.0]})
    after = steps.state.states[0].v
    np.testing.assert_array_equal(kept.states[0].v, v)
    steps.restore(saved)
    np.testing.assert_array_equal(steps.state.states[0].v, v)
    steps.step({TORQUE: [3.0]})
    np.testing.assert_array_equal(steps.state.states[0].v, after)


@pytest.mark.parametrize("engine", ["native", "jax"])
def test_a_state_that_was_handed_out_cannot_be_written_to(engine):
    """Nor what is saved, and what is saved is what is stepped."""
    experiment = made()
    steps = ff.stepper(experiment, measure=MEASURED, engine=engine)
    for _ in range(2):  # at the start, which is the experiment's own, and later
        with pytest.raises(ValueError, match="read-only"):
            steps.state.states[0].v[:] = 7.0
        forced = np.asarray(steps.state.states[0].v)
        forced.flags.writeable = True
        forced[:] = 7.0
        saved, seen = steps.save(), steps.measurements()
        assert not any(np.all(leaf == 7.0) for leaf in saved.leaves.values() if leaf.shape == forced.shape)
        steps.step()
        steps.restore(saved)
        for leaf in saved.leaves.values():
            leaf[...] = 0
        jax.tree.map(np.testing.assert_array_equal, steps.measurements(), seen)
        steps.step()
    assert experiment.start[0].v.flags.writeable


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("engine", ["native", "jax"])
def test_a_copy_has_memory_of_its_own(engine, copied):
    def stepped(steps, *torques):
        return [steps.step({TORQUE: [torque]}) for torque in torques]

    steps, alone = (ff.stepper(ported(), measure=MEASURED, engine=engine) for _ in range(2))
    stepped(steps, 0.3)
    twin = copied(steps)
    jax.tree.map(np.testing.assert_array_equal, twin.measurements(), steps.measurements())
    seen = stepped(twin, -0.5, 0.4)
    assert steps.time == 0.02
    jax.tree.map(np.testing.assert_array_equal, stepped(steps, -0.5, 0.4), seen)
    jax.tree.map(np.testing.assert_array_equal, stepped(alone, 0.3, -0.5, 0.4)[1:], seen)


@pytest.mark.parametrize("engine", ["gpu", "NATIVE", ""])
def test_an_engine_that_there_is_not_is_refused(engine):
    with pytest.raises(ValueError, match="Choose one of: native, jax"):
        inspect.unwrap(ff.stepper)(made(), engine=engine)  # as users have it: without the tests' check of annotations


@pytest.mark.parametrize("given", [[0.7], (0.7,), np.array([0.7]), np.array([[0.7], [9.0]]), lambda tick: [0.7 + tick]])
def test_inputs_may_be_written_in_any_way(given):
    one, other = ff.stepper(ported()), ff.stepper(ported())
    for _ in range(3):
        one.step({TORQUE: given})
        other.step({TORQUE: np.array([0.7])})
    np.testing.assert_array_equal(one.state.states[0].v, other.state.states[0].v)
    other.step({TORQUE: np.array([0.8])})
    one.step({TORQUE: given})
    assert not np.array_equal(one.state.states[0].v, other.state.states[0].v)


@pytest.mark.parametrize(
    ("port", "value", "match"),
    [
        (TORQUE, [np.nan], f"'{TORQUE}' has a number that is not finite"),
        (TORQUE, np.array([np.inf]), f"'{TORQUE}' has a number that is not finite"),
        (TORQUE, np.zeros(2), r"must be \(1,\) numbers"),
        (TORQUE, "fast", "must be numeric"),
        (TORQUE, lambda tick: np.zeros(2), r"must give \(1,\) numbers"),
        ("base.wrnch", np.zeros(6), r"no port 'base\.wrnch'"),
    ],
)
def test_a_wrong_input_is_named_and_nothing_has_moved(port, value, match):
    steps, other = ff.stepper(ported()), ff.stepper(ported())
    steps.step()
    other.step()
    with pytest.raises(ff.ModelError, match=match):
        steps.step({"base.wrench": np.ones(6)} | {port: value})
    assert steps.time == 0.02
    steps.step()
    other.step()
    np.testing.assert_array_equal(steps.state.states[0].v, other.state.states[0].v)


# ---- code that is found


def test_without_ports_it_takes_the_step_that_simulate_has_left(own_cache, traces):
    ff.simulate(made(), check=False)
    before = len(traces)
    ff.stepper(made(), measure=MEASURED).step()
    assert len(traces) == before + 1  # what is measured


def test_a_second_process_traces_nothing(own_cache, traces):
    def work():
        for experiment in (made, ported):
            steps = ff.stepper(experiment(), measure=MEASURED)
            yield steps.step()
            run = ff.simulate(experiment(), check=False)
            yield ff.continue_run(run, experiment(), check=False)["state.v"].values
        linear = ff.analysis.linearise(pushed_craft.pushed())
        yield linear.A

    first = list(work())
    before = len(traces)
    assert before > 0
    lookup.forget()
    again = list(work())
    assert len(traces) == before
    jax.tree.map(np.testing.assert_array_equal, first, again)


def test_a_run_that_goes_on_takes_the_code_of_the_run(own_cache, traces):
    for experiment in (made, ported):
        run = ff.simulate(experiment(), check=False)
        before = len(traces)
        ff.continue_run(run, experiment(), check=False)
        assert len(traces) == before


def test_other_measurements_and_another_structure_are_other_code(own_cache, traces):
    """The negative control."""
    ff.stepper(made(), measure=MEASURED)
    before = len(traces)
    ff.stepper(made(), measure=("base.position",))
    assert len(traces) == before + 1
    ff.stepper(ported(), measure=("base.position",))
    assert len(traces) > before + 2

"""A run can be stopped, saved and taken up again, or stepped from outside: bit for bit what one run gives."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat import control, effects, sensors
from freefloat.effects.contact import CompliantContact, KelvinVoigt, Plane, Sphere
from freefloat.sim.record.saved_state import SavedState
from freefloat.values import record

CRAFT = (
    ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 22.0, 24.0))
    .with_link("rod", parent="base", joint="revolute", mass=5.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42))
    .with_wheel("wheel.x", axis=(1.0, 0.0, 0.0), inertia=0.1)
    .with_wheel("wheel.y", axis=(0.0, 1.0, 0.0), inertia=0.1)
    .with_wheel("wheel.z", axis=(0.0, 0.0, 1.0), inertia=0.1, max_torque=0.02)
)
HUB = ff.Spacecraft.from_base("target", mass=10.0, inertia=(1.0, 2.0, 3.0)).with_frame("ring", body="base")


@record
class Chatter(ff.Software):
    """Software with modes and a counter: pushes the joint to and fro, and changes sides by itself."""

    def begin(self, y):
        return {"mode": jnp.zeros((), jnp.int32), "count": jnp.zeros(()), "total": jnp.zeros(())}

    def remember(self, memory, y, clock):
        angle = y["joints.position"][0]
        mode = jnp.where(angle > 0.1, 1, jnp.where(angle < -0.1, 0, memory["mode"])).astype(jnp.int32)
        return {"mode": mode, "count": memory["count"] + 1.0, "total": memory["total"] + clock.hold * angle}

    def command(self, memory, y, clock):
        push = jnp.where(memory["mode"] == 0, 0.2, -0.2)
        return ff.JointTorques(("rod",), jnp.array([push]) - 0.1 * y["joints.rate"] - 0.01 * memory["total"])


def experiment(duration: float, **options) -> ff.Experiment:
    """Noise, latency, dropouts, a filter, sampled and continuous software, modes, wheel limits, an input."""
    noise = sensors.Imperfection(seed=7, dropout=0.1)
    start = dataclasses.replace(HUB.at_rest(), p_NB=np.array([2.0, 0.0, 0.0]), v=np.array([0, 0.01, 0, 0.1, 0.2, 0.3]))
    return ff.Experiment.of(
        ff.World(servicer=CRAFT, target=HUB),
        sensors.Gyro(noise=1e-4, bias=(1e-4, 0.0, -1e-4), imperfection=noise, period=0.1, on="servicer"),
        sensors.StarTracker(cross_noise=1e-5, roll_noise=1e-4, latency=0.3, period=0.5, on="servicer"),
        sensors.RelativePoseCamera(frame="rod", target="target.ring", noise=1e-3, latency=0.2, on="servicer"),
        sensors.Ideal(on="servicer"),
        control.AttitudeFilter(period=0.1, on="servicer"),
        Chatter(period=0.2, on="servicer"),
        control.AttitudeHold(craft=CRAFT, stiffness=1.0, damping=8.0, period=0.1, on="servicer"),
        effects.JointFriction(effects.Friction(viscous=0.1), on="servicer"),
        duration=duration,
        dt=0.05,
        record_dt=0.5,
        state={"target": start},
        inputs={"servicer.rod.wrench": lambda tick: np.array([0.0, 1e-2 * np.sin(0.1 * tick), 0, 0, 0, 0])},
        **options,
    )


def same_bits(one: ff.Run, other: ff.Run, rows: slice) -> list[str]:
    """Channels of `one` at some records that differ from those of `other`."""
    return [name for name in one.channels if not np.array_equal(one[name].values[rows], other[name].values)]


@pytest.fixture(scope="module")
def whole() -> ff.Run:
    return ff.simulate(experiment(60.0))


def test_the_run_is_worth_continuing(whole):
    """Something of every kind happens in it: modes change, wheels saturate, samples are lost."""
    assert np.ptp(whole["servicer.joints.motor_torque"].values) > 0.3
    assert np.any(whole["servicer.wheels.condition"].values > 0)


def test_thirty_and_thirty_seconds_from_the_file_are_sixty_bit_for_bit(whole, tmp_path):
    first = ff.simulate(experiment(30.0))
    path = first.save(tmp_path / "first.nc")
    second = ff.continue_run(ff.Run.load(path), experiment(30.0))
    assert same_bits(whole, first, slice(0, 61)) == []
    assert same_bits(whole, second, slice(60, 121)) == []
    assert second["time"].values[0] == 30.0
    assert second["time"].values[-1] == 60.0


OLDER = {  # names of today, and those in files of older versions
    ".ledger.angular_impulse_com": ".ledger.turning",
    ".plants.crafts[": ".plants[",
    ".plants.interactions[": ".plants[0].inner[",
    ".plants.wheels.": ".plants[0].wheels.",
}


def older_name(name: str) -> str:
    for today, before in OLDER.items():
        name = name.replace(today, before)
    return name


def test_states_of_older_files_are_known_by_their_names_of_today(whole):
    arrays = whole.saved.as_arrays()
    older = {older_name(name): values for name, values in arrays.items()}
    assert older.keys() != arrays.keys()
    assert SavedState.from_arrays(older).as_arrays().keys() == arrays.keys()


def test_what_was_kept_at_the_first_spacecraft_is_found_in_the_world(tmp_path):
    """A wheel that became full, and contact between bodies: both are in the file, and the run goes on from it."""
    craft = HUB.with_wheel("wheel", axis=(0.0, 0.0, 1.0), inertia=0.1, max_momentum=0.05)
    contact = CompliantContact("target.base", Sphere(0.1), "N", Plane(), KelvinVoigt(1e4, 10.0))
    start = dataclasses.replace(craft.at_rest(), p_NB=np.array([0.0, 0.0, 0.2]), v=np.array([0, 0, -0.2, 0, 0, 0, 0.0]))
    state = {"target": start, "other": dataclasses.replace(HUB.at_rest(), p_NB=np.array([5.0, 0.0, 0.0]))}
    signal = {"target.command.wheels.torque": [0.1]}

    def push(duration: float) -> ff.Experiment:
        world = ff.World(target=craft, other=HUB)
        return ff.Experiment.of(world, contact, state=state, duration=duration, dt=0.01, inputs=signal)

    whole, first = ff.simulate(push(1.0)), ff.simulate(push(0.55))
    assert whole["target.base.velocity"].values[-1, 2] > 0.0  # it has bounced
    arrays = first.saved.as_arrays()
    older = {older_name(name): values for name, values in arrays.items()}
    kept = [name for name in older if name.startswith(("saved.end.plants[0].inner[0]", "saved.end.plants[0].wheels"))]
    assert len(kept) == len([name for name in arrays if ".interactions[" in name or ".wheels." in name]) >= 10
    again = dataclasses.replace(first, saved=SavedState.from_arrays(older))
    second = ff.continue_run(again, push(0.45))
    assert same_bits(whole, second, slice(55, 101)) == []


def test_only_the_beginning_of_a_path_is_renamed():
    """Software may keep what it likes in its memory."""
    name = "saved.end.software[0].memory['.plants[0].inner[0]']"
    arrays = {name: np.zeros(()), "saved.adaptive_step": np.zeros(())}
    assert SavedState.from_arrays(arrays).as_arrays().keys() == arrays.keys()


def test_stepping_from_outside_is_the_same_bit_for_bit(whole):
    loop = ff.stepper(experiment(60.0), measure=("servicer.base.rate", "target.ring.position"))
    signal = experiment(60.0).inputs["servicer.rod.wrench"]
    for tick in range(1200):
        seen = loop.step({"servicer.rod.wrench": signal(tick)})
        if tick == 599:
            saved = loop.save()
    end = loop.state
    for name, state in zip(("servicer", "target"), end.states, strict=True):
        for kind in ("q", "v"):
            np.testing.assert_array_equal(getattr(state, kind), whole[f"{name}.state.{kind}"].values[-1])
    np.testing.assert_array_equal(seen["target.ring.position"], whole["target.ring.position"].values[-1])
    assert loop.time == 60.0
    loop.restore(saved)
    assert loop.time == 30.0
    for tick in range(600, 1200):
        loop.step({"servicer.rod.wrench": signal(tick)})
    np.testing.assert_array_equal(loop.state.states[0].v, end.states[0].v)


def test_adaptive_steps_go_on_with_the_step_they_had(tmp_path):
    one = ff.simulate(experiment(8.0, integrator="adaptive", tolerance=1e-8))
    first = ff.simulate(experiment(4.0, integrator="adaptive", tolerance=1e-8))
    second = ff.continue_run(
        ff.Run.load(first.save(tmp_path / "a.nc")), experiment(4.0, integrator="adaptive", tolerance=1e-8)
    )
    assert same_bits(one, second, slice(8, 17)) == []


def test_another_experiment_is_refused(whole):
    other = ff.Experiment.of(CRAFT, duration=1.0)
    with pytest.raises(ValueError, match="made by another experiment"):
        ff.continue_run(whole, other)


def test_an_unknown_port_is_refused_by_name():
    loop = ff.stepper(ff.Experiment.of(CRAFT, duration=1.0, inputs={"rod.wrench": np.zeros(6)}))
    with pytest.raises(ff.ModelError, match=r"no port 'rod.wrenhc'.*Ports: rod.wrench"):
        loop.step({"rod.wrenhc": np.zeros(6)})
    with pytest.raises(ff.ModelError, match=r"must be \(6,\) numbers"):
        loop.step({"rod.wrench": np.zeros(3)})

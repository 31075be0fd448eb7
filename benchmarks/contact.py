"""What compliant contact costs, and whether it stays sound: 1000 probes go into cones of 1e6 N/m at a step of 1 ms.

Two spacecraft of 400 and 200 kg, a probe with a ball at its tip, a cone with floor and rim, friction. Starts are
random: off the axis, turning, drifting. Measures: `step` of one run in a batch [s], far `apart` and `touching` (two
seconds that begin 5 cm before the mouth), beside the same world without contact; `error of energy`, the largest energy
of any run that is in no book, over the kinetic energy at its start; `error of momentum`, likewise of the reaction of
contact over m v; `energy gained`, the largest error by which any run has more energy than before. A run that is not
finite, or a step left unfinished, ends it with an error. `--json` for machines, `--quick` for a smoke run.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import dataclasses
import time
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from comparison import Row, main, row

from freefloat import engine
from freefloat.effects.contact import Bristles, CompliantContact, ContactCone, KelvinVoigt, Probe
from freefloat.model import Spacecraft, State, World
from freefloat.sim.audit.balances import imbalances
from freefloat.sim.experiment import Experiment
from freefloat.sim.kernel import step
from freefloat.sim.record.recording import Recorder
from freefloat.spatial import Pose

DT, STEPS, RUNS = 1e-3, 2000, 1000  # [s]
SERVICER = Spacecraft.from_base("servicer", mass=400.0, inertia=(80.0, 90.0, 100.0)).with_frame(
    "tip", body="base", at=Pose.from_rpy_deg((0.0, 90.0, 0.0), (1.0, 0.0, 0.0))
)
CLIENT = Spacecraft.from_base("client", mass=200.0, inertia=(30.0, 40.0, 50.0)).with_frame(
    "drogue", body="base", at=Pose.from_rpy_deg((0.0, -90.0, 0.0), (-0.5, 0.0, 0.0))
)
CONTACT = CompliantContact(
    "servicer.tip",
    Probe(0.03, 0.3, 0.02),
    "client.drogue",
    ContactCone(0.15, 0.2, 0.02),
    KelvinVoigt(1e6, 2e3),
    Bristles(0.1, 1e6, 2e3),
    name="docking",
)


def start(rng: np.random.Generator, distance: float) -> State:
    """The client, whose drogue's floor is a distance ahead of the tip [m]."""
    r = rng.normal(size=7)
    twist = np.array([-0.1, 0.01 * r[2], 0.01 * r[3], 0.005 * r[4], 0.005 * r[5], 0.005 * r[6]])
    return dataclasses.replace(CLIENT.at_rest(), p_NB=np.array([1.5 + distance, 0.03 * r[0], 0.03 * r[1]]), v=twist)


def _with_states(loop: Any, *states: State) -> Any:
    return dataclasses.replace(loop, plants=loop.plants.with_states(states))


class Batch:
    """Many runs of the pair, with parts or without."""

    def __init__(self, parts: tuple[Any, ...], runs: int, distance: float) -> None:
        rng = np.random.default_rng(0)
        experiment = Experiment.of(World(servicer=SERVICER, client=CLIENT), *parts, duration=1.0, dt=DT)
        far = dataclasses.replace(CLIENT.at_rest(), p_NB=np.array([9.0, 0.0, 0.0]))
        experiment = dataclasses.replace(experiment, start=(SERVICER.at_rest(), far))
        self.system, loop = experiment.begin()
        self.advance = engine.compile(lambda z: step(self.system, z, {}), loop)
        loops = [_with_states(loop, SERVICER.at_rest(), start(rng, distance)) for _ in range(runs)]
        self.loops = jax.tree.map(lambda *leaves: np.stack([np.asarray(x) for x in leaves]), *loops)
        self._one, self._start = loop, experiment.start

    def run(self, steps: int) -> Any:
        """All of them after so many steps."""
        return self.advance.rollout_batch(self.loops, steps=steps, threads=1).state

    def seconds(self, steps: int) -> float:
        """One step of one run [s]."""
        self.run(1)
        begun = time.perf_counter()
        self.run(steps)
        return (time.perf_counter() - begun) / (steps * len(self.loops.tick))

    def channels(self, loops: Any) -> Any:
        """Channels of all runs at one instant."""
        return Recorder(self.system, self._one, self._start, {}, 0, "native").dataset(loops)


def errors(batch: Batch, steps: int) -> Iterator[tuple[str, float]]:
    """How well the books of all runs balance."""
    after = batch.run(steps)
    if not all(np.all(np.isfinite(x)) for x in jax.tree.leaves(after)):
        raise ArithmeticError("A run left the finite numbers.")
    first, last = batch.channels(batch.loops), batch.channels(after)
    if np.mean(last["interactions.dissipated"].values > 0.0) < 0.5:
        raise ArithmeticError("Most runs touched nothing.")
    if np.any(last["interactions.unfinished"].values):
        raise ArithmeticError("A step was left unfinished.")
    open_books = imbalances(last, ("servicer.", "client."), start=first)
    kinetic = first["world.energy.kinetic"].values
    energy = last["world.energy.kinetic"].values + last["interactions.stored"].values - kinetic
    moved = 200.0 * 0.1  # [N s]
    yield "error of energy", float(np.max(np.abs(open_books["interactions.energy"]) / kinetic))
    yield "error of momentum", float(np.max(np.abs(open_books["interactions.linear"])) / moved)
    yield "error: energy gained", float(max(np.max(energy / kinetic), 0.0) + 1e-300)


def rows(quick: bool) -> Iterator[Row]:
    """Times beside a world without contact, then the books."""
    runs, steps = (16, STEPS) if quick else (RUNS, STEPS)
    without = Batch((), runs, 0.25).seconds(steps)
    near = Batch((CONTACT,), runs, 0.25)
    yield row("apart", "step", Batch((CONTACT,), runs, 5.0).seconds(steps), "without contact", without)
    yield row("touching", "step", near.seconds(steps), "without contact", without)
    for measure, value in errors(near, steps):
        yield row("touching", measure, value)


if __name__ == "__main__":
    main(__doc__, rows)

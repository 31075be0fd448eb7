"""Flexible bodies beside their peers: speed of a step, and beside it how right the frequencies are.

Cases: `hub` is NASA Goddard's hub with two beams, `servicer` is ETS-VII with its arm and two panels. Basilisk has five
hinged rigid segments for each beam, Exudyn planar ANCF cable elements for the hub, we have three modes of each beam.

Measures: `rk4_step` one step of a rollout [s]; `symmetric_error`, `antisymmetric_error` the first frequencies relative
to the root of the transcendental equation of hub and beams, of what each tool computes; `implicit_step` Exudyn's
generalised-alpha step against our RK4 step, because axial stiffness binds its explicit one. Ratio = peer / ours.
A peer that is not installed is left out. `--json` for machines, `--quick` for a smoke run.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import dataclasses
import itertools
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from comparison import Row, main, row
from plant import plant_step
from scipy.optimize import brentq, minimize_scalar
from timing import best

from freefloat import engine
from freefloat.dynamics import natural_frequencies
from freefloat.flex import beam
from freefloat.library import ets7
from freefloat.model import Spacecraft
from freefloat.spatial import Pose

STEPS = 1000
SEGMENTS = 5  # hinged segments of each beam in Basilisk
ELEMENTS = 5  # cable elements of each beam in Exudyn
HUB_MASS, HUB_INERTIA = 50.0, 50.0 / 6.0  # [kg], [kg m2]: a cube of 1 m


@dataclasses.dataclass(frozen=True)
class Panel:
    """A uniform beam that bends in one plane."""

    length: float  # [m]
    mass: float  # [kg]
    stiffness: float  # EI [N m2]
    root: float  # distance of its clamped end from the middle of the hub [m]


GODDARD = Panel(length=0.635, mass=0.83, stiffness=0.46, root=0.0)
SOLAR = Panel(length=8.0, mass=60.0, stiffness=2000.0, root=1.5)  # of the servicer; 0.14 Hz


def exact_hz(panel: Panel, kind: str) -> float:
    """First frequency of hub and two beams: lowest root of the transcendental equation (docs/theory-flexible.md)."""

    def balance(b: float) -> float:
        s, c, sh, ch = np.sin(b), np.cos(b), np.sinh(b), np.cosh(b)
        D0, D1, D2 = (s * ch + c * sh) / b, s * sh / b**2, (s * ch - c * sh) / b**3  # all times 1 + c ch
        d, L, whole = panel.root, panel.length, 1.0 + c * ch
        if kind == "symmetric":
            return HUB_MASS * whole + 2.0 * panel.mass * D0
        return HUB_INERTIA * whole + 2.0 * panel.mass * (d**2 * D0 + 2.0 * d * L * D1 + L**2 * D2)

    root = brentq(balance, 1.8751, 3.0, xtol=1e-14)  # from just below a clamped beam's, where the balance is positive
    return root**2 * np.sqrt(panel.stiffness / (panel.mass * panel.length**3)) / (2.0 * np.pi)


# ---- ours


def with_panels(craft: Spacecraft, panel: Panel, motion: str, along: str) -> Spacecraft:
    """Two beams on opposite sides, along x or y."""
    unit = np.array([1.0, 0.0, 0.0]) if along == "x" else np.array([0.0, 1.0, 0.0])
    turn = 0.0 if along == "x" else 90.0
    for name, side in (("right", 1.0), ("left", -1.0)):
        body = beam(length=panel.length, mass=panel.mass, bending_stiffness=panel.stiffness, modes={motion: 3})
        heading = turn if side > 0.0 else turn + 180.0
        craft = craft.mount(body, name=name, at=Pose.from_rpy_deg((0.0, 0.0, heading), side * panel.root * unit))
    return craft


def hub() -> Spacecraft:
    """Goddard's hub with two beams that bend along y."""
    craft = Spacecraft.from_base("hub", mass=HUB_MASS, inertia=(HUB_INERTIA,) * 3)
    return with_panels(craft, GODDARD, "y", "x")


def servicer() -> Spacecraft:
    """ETS-VII with two solar panels that bend along z."""
    return with_panels(ets7(), SOLAR, "z", "y")


def our_step(craft: Spacecraft) -> float:
    """One RK4 step in a native rollout [s], from a small vibration."""
    step, plant = plant_step(craft)
    state = dataclasses.replace(plant.state, q=0.01 * plant.state.q, v=0.01 * plant.state.v)
    plant = dataclasses.replace(plant, state=state)
    rollout = engine.compile(step, plant)
    return best(lambda: rollout.rollout(plant, steps=STEPS), STEPS)


def our_errors() -> dict[str, float]:
    """Relative errors of the first two frequencies with three modes."""
    found = natural_frequencies(hub()) / (2.0 * np.pi)
    return _errors({"symmetric": float(found[0]), "antisymmetric": float(found[1])})


def _errors(found_hz: dict[str, float]) -> dict[str, float]:
    return {f"{kind}_error": abs(f / exact_hz(GODDARD, kind) - 1.0) for kind, f in found_hz.items()}


# ---- Basilisk


def basilisk(case: str, quick: bool) -> dict[str, float]:
    """Time of a step, and for the hub the frequencies of a simulated release."""
    times = {"rk4_step": _basilisk_step(case)}
    if case == "hub":
        kinds = ("symmetric",) if quick else ("symmetric", "antisymmetric")
        times |= _errors({kind: _basilisk_frequency(kind) for kind in kinds})
    return times


class _InBasilisk:
    """A spacecraft in a Basilisk process with one task."""

    def __init__(self, base: Any, dt: float) -> None:
        from Basilisk.simulation import spacecraft
        from Basilisk.utilities import SimulationBaseClass, macros

        self.nano = macros.sec2nano
        self.sim = SimulationBaseClass.SimBaseClass()
        self.sim.CreateNewProcess("process").addTask(self.sim.CreateNewTask("task", self.nano(dt)))
        self.craft = spacecraft.Spacecraft()
        self.craft.hub.mHub = float(base.mass)
        self.craft.hub.r_BcB_B = np.reshape(base.com, (3, 1)).tolist()
        self.craft.hub.IHubPntBc_B = np.asarray(base.inertia).tolist()
        self.kept: list[Any] = []  # Basilisk does not keep them alive

    def add(self, effector: Any, name: str) -> None:
        effector.ModelTag = name
        self.craft.addStateEffector(effector)
        self.sim.AddModelToTask("task", effector)
        self.kept.append(effector)

    def add_panels(self, panel: Panel, axes: dict[str, list], angles: tuple[float, float]) -> None:
        """Hinged segments: hinge springs EI / l, the one at the root half as long and twice as stiff."""
        from Basilisk.simulation.nHingedRigidBodyStateEffector import HingedPanel, NHingedRigidBodyStateEffector

        l, m = panel.length / SEGMENTS, panel.mass / SEGMENTS
        for (name, dcm), angle in zip(axes.items(), angles, strict=True):
            effector = NHingedRigidBodyStateEffector()
            effector.dcm_HB = dcm
            effector.r_HB_B = (panel.root * np.array(dcm[0]).reshape(3, 1)).tolist()
            effector.nameOfThetaState, effector.nameOfThetaDotState = f"{name}.theta", f"{name}.theta_dot"
            for number in range(SEGMENTS):
                segment = HingedPanel()
                segment.mass, segment.d, segment.c = m, l / 2.0, 0.0
                segment.k = (2.0 if number == 0 else 1.0) * panel.stiffness / l
                segment.IPntS_S = np.diag([1e-6 * m * l**2, m * l**2 / 12.0, m * l**2 / 12.0]).tolist()
                segment.thetaInit, segment.thetaDotInit = angle / (1.0 + number), 0.0
                effector.addHingedPanel(segment)
            self.add(effector, name)

    def add_arm(self, craft: Spacecraft) -> None:
        """The joints of a serial arm on the base."""
        from Basilisk.simulation.spinningBodyNDOFStateEffector import SpinningBody, SpinningBodyNDOFStateEffector

        effector = SpinningBodyNDOFStateEffector()
        for body, joint in zip(craft.bodies[1:], craft.joints, strict=True):
            link = SpinningBody()
            link.setMass(float(body.mass))
            link.setISPntSc_S(np.asarray(body.inertia).tolist())
            link.setDCM_S0P(np.asarray(joint.X_PJ.R).T.tolist())
            link.setR_ScS_S(np.reshape(body.com, (3, 1)).tolist())
            link.setR_SP_P(np.reshape(joint.X_PJ.p, (3, 1)).tolist())
            link.setSHat_S(np.reshape(joint.axis, (3, 1)).tolist())
            link.setThetaInit(0.3)
            link.setThetaDotInit(0.01)
            effector.addSpinningBody(link)
        self.add(effector, "arm")

    def recorder(self) -> Any:
        log = self.craft.scStateOutMsg.recorder()
        self.sim.AddModelToTask("task", log)
        return log

    def begin(self) -> None:
        self.sim.AddModelToTask("task", self.craft, -1)  # after its effectors
        self.sim.InitializeSimulation()

    def run(self, until: float) -> None:
        self.sim.ConfigureStopTime(self.nano(until))
        self.sim.ExecuteSimulation()


# Rows: axes of the hinge frame in base axes; a beam lies along the first, bends about the second.
_ALONG_X = {"right": [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]}
_ALONG_X["left"] = [[-1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, -1.0, 0.0]]
_ALONG_Y = {"right": [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]}
_ALONG_Y["left"] = [[0.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]


def _in_basilisk(case: str, angles: tuple[float, float], dt: float) -> _InBasilisk:
    craft = hub() if case == "hub" else ets7()
    model = _InBasilisk(craft.bodies[0], dt)
    model.add_panels(GODDARD if case == "hub" else SOLAR, _ALONG_X if case == "hub" else _ALONG_Y, angles)
    if case == "servicer":
        model.add_arm(craft)
    return model


def _basilisk_step(case: str, dt: float = 0.005, blocks: int = 8) -> float:
    model = _in_basilisk(case, (1e-3, 1e-3), dt)
    model.begin()
    spent, until = [], 0.0
    for _ in range(blocks):
        until += STEPS * dt
        start = time.process_time()  # it runs in a thread of its own
        model.run(until)
        spent.append(time.process_time() - start)
    if not np.all(np.isfinite(model.craft.scStateOutMsg.read().r_BN_N)):
        raise RuntimeError("Basilisk's run did not stay finite: its step is too long.")
    return min(spent) / STEPS


def _basilisk_frequency(kind: str, dt: float = 0.002) -> float:
    """Of the hub's motion after a release of the bent beams [Hz]."""
    model = _in_basilisk("hub", (1e-3, 1e-3 if kind == "symmetric" else -1e-3), dt)
    log = model.recorder()
    model.begin()
    model.run(30.0)
    moved, turned = np.array(log.r_BN_N)[:, 1], np.array(log.sigma_BN)[:, 2]
    quiet, signal = sorted((moved, turned), key=lambda x: np.max(np.abs(x)))
    if np.max(np.abs(quiet)) > 1e-6 * np.max(np.abs(signal)):
        raise RuntimeError("The release was not purely symmetric or antisymmetric.")
    return peak_hz(signal, dt, around=0.83)


def peak_hz(signal: np.ndarray, dt: float, around: float) -> float:
    """Frequency of the highest peak of the windowed spectrum near a guess."""
    t = dt * np.arange(len(signal))
    windowed = (signal - signal.mean()) * np.blackman(len(signal))

    def height(f: float) -> float:
        return -abs(np.dot(windowed, np.exp(-2j * np.pi * f * t)))

    grid = np.linspace(0.7 * around, 1.3 * around, 200)
    f = grid[int(np.argmin([height(f) for f in grid]))]
    return float(minimize_scalar(height, bounds=(f - 0.01, f + 0.01), method="bounded", options={"xatol": 1e-9}).x)


# ---- Exudyn


def exudyn(case: str, quick: bool) -> dict[str, float]:
    """Planar hub and beams as one cable with the hub's inertia at its middle node: no constraint, its fastest form."""
    import exudyn as exu

    if case != "hub":
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.sort(np.sqrt(np.abs(_cable(exu).ComputeODE2Eigenvalues()[0]))) / (2.0 * np.pi)
        step = _exudyn_step(exu, exu.DynamicSolverType.RK44, dt=1e-5)
        implicit = _exudyn_step(exu, exu.DynamicSolverType.GeneralizedAlpha, dt=0.005)
    errors = _errors({"symmetric": float(found[3]), "antisymmetric": float(found[4])})
    return {"rk4_step": step, "implicit_step": implicit} | errors


def _cable(exu: Any) -> Any:
    from exudyn.itemInterface import Cable2D, NodePoint2DSlope1, ObjectGenericODE2

    container = exu.SystemContainer()
    system = container.AddSystem()
    p, length = GODDARD, GODDARD.length / ELEMENTS
    stations = np.linspace(-p.length, p.length, 2 * ELEMENTS + 1)
    nodes = [
        # A small velocity in the shape of a parabola, so that there is something to integrate.
        system.AddNode(
            NodePoint2DSlope1(
                referenceCoordinates=[x, 0.0, 1.0, 0.0], initialVelocities=[0.0, 1e-3 * x**2, 0.0, 2e-3 * x]
            )
        )
        for x in stations
    ]
    for pair in itertools.pairwise(nodes):
        element = Cable2D(
            physicsLength=length,
            physicsMassPerLength=p.mass / p.length,
            physicsBendingStiffness=p.stiffness,
            physicsAxialStiffness=1e4 * p.stiffness,
            nodeNumbers=list(pair),
        )
        system.AddObject(element)
    inertia = np.diag([HUB_MASS, HUB_MASS, 0.0, HUB_INERTIA])
    system.AddObject(ObjectGenericODE2(nodeNumbers=[nodes[ELEMENTS]], massMatrix=inertia))
    system.Assemble()
    system.variables["container"] = container  # or it is gone when this returns
    return system


def _exudyn_step(exu: Any, solver: Any, dt: float, blocks: int = 8) -> float:
    system, settings = _cable(exu), exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = STEPS
    settings.timeIntegration.endTime = STEPS * dt
    settings.timeIntegration.verboseMode = 0
    settings.solution.file.write = False
    settings.parallel.numberOfThreads = 1
    spent = []
    for _ in range(blocks):
        start = time.process_time()
        system.SolveDynamic(settings, solverType=solver)
        spent.append(time.process_time() - start)
    return min(spent) / STEPS


# ---- the table

CASES: dict[str, Callable[[], Spacecraft]] = {"hub": hub, "servicer": servicer}
PEERS = {"basilisk": basilisk, "exudyn": exudyn}


def rows(quick: bool) -> Iterator[Row]:
    """One object per comparison."""
    for case, build in CASES.items():
        mine = {"rk4_step": our_step(build())}
        if case == "hub":
            mine |= our_errors()
        told = False
        for name, measure in PEERS.items():
            try:
                theirs = measure(case, quick)
            except ImportError:
                print(f"{name} is not installed: left out.", file=sys.stderr)
                continue
            for what, value in theirs.items():
                told = True
                yield row(case, what, mine["rk4_step"] if what == "implicit_step" else mine[what], name, value)
        if not told:
            yield from (row(case, what, value, None, None) for what, value in mine.items())
        if quick:
            return


if __name__ == "__main__":
    main(__doc__, rows)

"""The paper's cell: a rigid hub is simulated, a robot moves as it does, and real beams on the flange push back.

Loop: wrist sensor, rigid hub (mass or inertia only), commanded pose, robot, beams, sensor. The lag and the delay of the
robot are inside the loop and take damping from the beams; "delay compensated" means that the prediction is delayed
before the two are compared, as in the paper. Form and bandwidth of the lag, delay, sensor, rates and strike are not
published: they are settings here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from freefloat.scenarios.goddard.drift import GoddardStruck, hub_way, struck_hubs
from freefloat.scenarios.goddard.release import PAPER, Positive
from freefloat.scenarios.rehearsed import RehearsedScenario
from freefloat.scenarios.settings import Unit
from freefloat.sim.claims import Claim, Source
from freefloat.sim.description import Figure

if TYPE_CHECKING:
    from freefloat.hil import Rehearsal
    from freefloat.hil.cell import HangingBeams, VirtualCell
    from freefloat.scenarios.goddard.cell_model import CellModel
    from freefloat.sim import Experiment, Run

_ERROR = Source("printed", f"{PAPER}, errors of the cell against the prediction")
_MODEL = Source("exact", "pole of the linear loop of hub, lag, delay and beams")
_DELAY_MS = 50.0
_TURN = 6.283185307179586  # [rad]
_START_OVER = 1.0  # [s]
NotNegative = Annotated[float, Field(ge=0.0)]


@dataclass(frozen=True)
class GoddardRehearsal(GoddardStruck, RehearsedScenario):
    """The rigid hub in the loop with a robot that carries the beams."""

    name = "goddard-hil"
    title = "Goddard: rigid hub in the loop with a robot that carries flexible beams"
    source = f"{PAPER}, section on the cell"
    note = "Robot, sensor, beams and strike are models with assumed data where the paper gives none."
    figures = (
        Figure("base.position", "mm", title="Hub as simulated"),
        Figure("cell.hub.measured.position", "mm", title="Hub as the robot moves it"),
        Figure("cell.hub.wrench", title="What the wrist sensor tells"),
    )

    bandwidth: Annotated[Positive, Unit("Hz")] = 2.5  # of the robot [Hz]
    lag: Literal["first", "second"] = "first"
    delay_ms: Annotated[NotNegative, Unit("ms")] = 0.0  # from command to motion
    force_noise: Annotated[NotNegative, Unit("N")] = 0.01  # of a sample [N]
    torque_noise: Annotated[NotNegative, Unit("N m")] = 5e-4  # of a sample [N m]
    tare_s: Annotated[NotNegative, Unit("s")] = 10.0  # over which the sensor is tared [s]
    seed: Annotated[int, Field(ge=0)] = 0

    @classmethod
    def variants(cls) -> Mapping[str, GoddardRehearsal]:
        """The paper's hubs, without and with a transport delay."""
        plain = {name: dataclasses.replace(cls(), **settings) for name, settings in struck_hubs().items()}
        late = {f"{name}-late": dataclasses.replace(one, delay_ms=_DELAY_MS) for name, one in plain.items()}
        return {**plain, **late}

    @classmethod
    def needed_runs(cls, variant: str) -> tuple[str, ...]:
        """The prediction for the same hub."""
        return (f"goddard-drift/{variant.removesuffix('-late')}",)

    def build(self) -> Experiment:
        """The rigid hub, struck, with a port for what the wrist sensor tells."""
        import numpy as np

        from freefloat.model import Spacecraft
        from freefloat.sim import Experiment

        moment = self.hub_mass * self.edge**2 / 6.0
        hub = Spacecraft.from_base("hub", mass=self.hub_mass, inertia=(moment, moment, moment))
        speed = self.impulse / self.hub_inertia * np.eye(6)[self.component]
        return Experiment.of(
            hub,
            duration=self.duration,
            dt=self.dt,
            record_dt=self.dt,
            state=dataclasses.replace(hub.at_rest(), v=speed),
            inputs={"base.wrench": np.zeros(6)},
        )

    def rehearsal(self, experiment: Experiment) -> Rehearsal:
        """The robot makes all of the hub's motion; nothing in the loop is compensated, as in the paper."""
        from freefloat.hil import Carried, Rehearsal
        from freefloat.hil.cell import GODDARD_START

        return Rehearsal(
            experiment,
            (Carried("hub", port="base.wrench"),),
            placement=GODDARD_START,
            formulation="absolute",
            compensation=None,
            passivity=None,
        )

    def facility(self) -> VirtualCell:
        """A seven-axis robot with the beams on its flange; the sensor tells what acts in the plane."""
        from freefloat.hil.cell import CellSettings, SensorSettings, ServoSettings, goddard_cell

        sensor = SensorSettings(
            noise=(self.force_noise, self.torque_noise),
            bias=(0.5, 0.02),  # [N], [N m], assumed
            resolution=(0.005, 2.5e-4),  # [N], [N m], assumed
            range=(200.0, 20.0),  # [N], [N m], assumed
            tare_samples=round(self.tare_s / self.dt),
            passed=(True, True, False, False, False, True),
        )
        servo = ServoSettings(lag=self.lag, bandwidth=self.bandwidth, delay=1e-3 * self.delay_ms)
        settings = CellSettings(cycle=self.dt, substeps=4, servo=servo, sensor=sensor, seed=self.seed)
        return goddard_cell(settings, self.beams())

    def beams(self) -> HangingBeams:
        """On the flange, pulled as in the prediction."""
        from freefloat.hil.cell import HangingBeams

        tip = 1e-3 * self.tip_mm
        return HangingBeams(
            self.beam_length,
            self.beam_mass,
            self.bending_stiffness,
            self.damping_ratio,
            self.modes,
            (tip, -tip if self.turns else tip),
        )

    def model(self) -> CellModel:
        """The same loop, linear and in one direction; a wrench that is held for a cycle acts half a cycle late."""
        from freefloat.scenarios.goddard.cell_model import CellModel

        beams = self.beams()
        (p, h), both = beams.integrals(), 2.0 * self.beam_mass
        return CellModel(
            hub=self.hub_inertia,
            beams=both * self.beam_length**2 / 3.0 if self.turns else both,
            both_masses=both,
            coupling=h * self.beam_length if self.turns else p,
            frequencies=beams.frequencies(),
            damping_ratio=self.damping_ratio,
            bandwidth=self.bandwidth,
            lag=self.lag,
            delay=1e-3 * self.delay_ms + 0.5 * self.dt,
        )

    def claims(self, variant: str, run: Run, others: Mapping[str, Run]) -> list[Claim]:
        """The paper's errors over the drift; frequency and damping of the beams as the linear loop has them."""
        prediction = others[self.needed_runs(variant)[0]]
        error = 100.0 * self.largest_error(run, prediction)
        published, what = (6.0, "rotation") if self.turns else (3.0, "translation")
        reason = "the prediction delayed as the robot is, both over the drift of the prediction"
        pole = self.model().first_mode()
        frequency, damping = self._vibration(run)
        return [
            Claim(f"error of the hub's {what}", _ERROR, "below", published, error, "%", reason=reason),
            Claim("frequency of the beams in the loop", _MODEL, "about", pole.imag / _TURN, frequency, "Hz", 1e-4),
            Claim("damping of the beams in the loop", _MODEL, "about", -pole.real / abs(pole), damping, "", 5e-5),
        ]

    def _vibration(self, run: Run) -> tuple[float, float]:
        """Frequency [Hz] and damping ratio of what the sensor tells, once the start is over."""
        from freefloat.scenarios.measures import damped_sinusoid

        return damped_sinusoid(run["cell.hub.felt"][:, self.component].sel(time=slice(_START_OVER, None)))

    def largest_error(self, run: Run, prediction: Run) -> float:
        """Largest difference between the robot's motion and the delayed prediction, over the drift."""
        import numpy as np

        predicted, moved = hub_way(prediction, self.turns), hub_way(run, self.turns, "cell.hub.measured")
        times = run["time"].values
        late = np.interp(times - 1e-3 * self.delay_ms, prediction["time"].values, predicted)
        return float(np.max(np.abs(moved - late)) / abs(predicted[-1]))

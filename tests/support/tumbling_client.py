"""A tumbling client seen by the camera of a servicer, many times over: one compiled program for all these studies."""

import dataclasses
from typing import Any

import jax
import numpy as np

import freefloat as ff
from freefloat.campaign import Campaign, History, ListedDispersion, Metric, run_campaign
from freefloat.control import Disturbance, PictureNoise, TargetFilter, TargetGuess
from freefloat.control.target_motion import ERROR_COUNT, apply_error
from freefloat.sensors import Ideal, IdealMeasurements, Imperfection, RelativePoseCamera
from freefloat.spatial.rotations import rotation_matrix

DEG = np.deg2rad(1.0)
COM, RING = np.array([0.05, -0.02, 0.03]), np.array([1.2, 0.1, 0.0])  # in the client's base frame [m]
INERTIA = (500.0, 1100.0, 900.0)  # of the client, about its centre of mass [kg m2]
UPPER = np.triu_indices(3)
BUS = ff.Spacecraft.from_base("bus", mass=800.0, inertia=(300.0, 400.0, 350.0)).with_frame(
    "eye", body="base", at=ff.Pose(position=(1.0, 0.0, 0.3))
)
CLIENT = ff.Spacecraft.from_base("client", mass=1000.0, inertia=(500.0, 1100.0, 900.0), com=COM).with_frame(
    "ring", body="base", at=ff.Pose.from_rpy_deg((10.0, 20.0, 30.0), RING)
)
TUMBLE = np.array([3.0, 5.0, 2.0]) * DEG  # nutating [rad/s]
SPIN = np.array([0.0, 6.0, 0.0]) * DEG  # about the major axis
NOISE, ANGLE_NOISE = 0.01, 0.5 * DEG  # of the camera [m], [rad]
PLACE = np.array([5.0, 0.5, -0.2])  # of the client's base [m]
GUESS = TargetGuess(
    position=PLACE + RING,
    attitude=np.array([1.0, 0.0, 0.0, 0.0]),
    angle_sigma=10.0 * DEG,
    rate_sigma=0.5 * DEG,
    position_sigma=0.3,
    velocity_sigma=0.02,
    com_sigma=0.05,
    shape_sigma=0.02,
)
UNDISTURBED = Disturbance(rate=0.0, velocity=0.0, com=0.0, shape=0.0)
INSTANTS = 10.0  # between two that are kept [s]
QUANTITIES = ("angle", "position", "rate", "velocity", "com", "shape")
KEPT = (
    "nees",
    "motion_nees",
    "nis",
    "condition",
    *(f"{name}_{kind}" for name in QUANTITIES for kind in ("error", "three_sigma")),
)


def camera() -> RelativePoseCamera:
    """Two pictures a second, late."""
    return RelativePoseCamera(
        frame="eye",
        target="client.ring",
        noise=NOISE,
        angle_noise=ANGLE_NOISE,
        imperfection=Imperfection(seed=3, dropout=0.0),
        on="servicer",
        period=0.5,
        latency=0.2,
    )


def target_filter(**fields: Any) -> TargetFilter:
    """The filter of a bus that knows its own motion."""
    usual: dict[str, Any] = {
        "craft": BUS,
        "client": CLIENT,
        "frame": "eye",
        "target": "client.ring",
        "noise": PictureNoise(position=NOISE, angle=ANGLE_NOISE),
        "guess": GUESS,
        "disturbance": UNDISTURBED,
        "on": "servicer",
        "period": 0.1,
    }
    return TargetFilter(**(usual | fields))


def experiment(software: TargetFilter, duration: float, rate: np.ndarray = TUMBLE) -> ff.Experiment:
    """The servicer drifts and turns, the client tumbles."""
    own = BUS.in_motion(rate_deg_s=(0.1, -0.3, 0.2), velocity=(0.01, 0.02, 0.0))
    client = dataclasses.replace(CLIENT.in_motion(rate=rate, velocity=-np.cross(rate, COM)), p_NB=PLACE)
    parts, states = (camera(), software, Ideal(on="servicer")), {"servicer": own, "client": client}
    return ff.Experiment.of(
        ff.World(servicer=BUS, client=CLIENT), *parts, state=states, duration=duration, dt=0.1, record_dt=1.0
    )


@dataclasses.dataclass(frozen=True)
class Study:
    """Many runs: what the filter is told and how it is wrong. All studies share one program."""

    runs: int
    rate: np.ndarray = dataclasses.field(default_factory=lambda: TUMBLE)  # guessed [rad/s]
    told: float = 1.0  # share of the camera's noise that the filter is told
    dropout: float = 0.0  # share of the pictures that are lost
    angle_sigma: float = 10.0 * DEG  # of the guess [rad]
    shape_sigma: float = 0.02
    shape_noise: float = 0.0  # [1 per root s]
    believed_inertia: tuple[float, float, float] = INERTIA  # [kg m2]
    errors: np.ndarray | None = None  # (20,) of the guess in every run; None: drawn from the filter's covariance

    @property
    def guess(self) -> TargetGuess:
        """What the filter begins with."""
        sigmas = {"angle_sigma": self.angle_sigma, "shape_sigma": self.shape_sigma}
        return dataclasses.replace(GUESS, rate=self.rate, **sigmas)

    def guess_errors(self) -> np.ndarray:
        """(runs, 20)."""
        if self.errors is not None:
            return np.tile(self.errors, (self.runs, 1))
        sigmas = np.sqrt(np.asarray(self.guess.variances()))
        return np.random.default_rng(7).normal(size=(self.runs, ERROR_COUNT)) * sigmas

    def numbers(self) -> dict[str, np.ndarray]:
        """Numbers of an experiment that differ in this study, by path (runs, entries)."""
        same = {
            "TargetFilter.guess.rate": self.rate,
            "TargetFilter.guess.angle_sigma": self.angle_sigma,
            "TargetFilter.guess.shape_sigma": self.shape_sigma,
            "TargetFilter.disturbance.shape": self.shape_noise,
            "TargetFilter.noise.position": self.told * NOISE,
            "TargetFilter.noise.angle": self.told * ANGLE_NOISE,
            "TargetFilter.client.base.inertia": np.diag(self.believed_inertia)[UPPER],
            "camera.imperfection.dropout": self.dropout,
        }
        return true_starts(self) | {path: np.tile(np.atleast_1d(x), (self.runs, 1)) for path, x in same.items()}


def true_starts(study: Study) -> dict[str, np.ndarray]:
    """The client as it is, where the guess has its errors."""
    software, errors = target_filter(guess=study.guess), study.guess_errors()
    guessed = software.begin(IdealMeasurements.of(BUS, BUS.in_motion())).belief.state
    states = jax.vmap(lambda error: apply_error(guessed, error))(errors)
    R, rate, com = np.asarray(jax.vmap(rotation_matrix)(states.quaternion)), states.rate, states.com
    inertias = sum(INERTIA) * np.asarray(jax.vmap(software.body.inertia)(states.shape))
    velocity = np.einsum("rji,rj->ri", R, states.velocity) - np.cross(rate, com)  # of the base, its axes
    return {
        "client.base.com": np.asarray(com),
        "client.base.inertia": inertias[:, *UPPER],
        "start.client.attitude": errors[:, :3],
        "start.client.position": np.asarray(states.position) - R @ RING,
        "start.client.velocity": velocity,
        "start.client.rate": np.asarray(rate),
    }


def run_studies(*studies: Study, duration: float = 60.0) -> list[dict[str, np.ndarray]]:
    """Channels of the filter in each study, by name (runs, instants, ...); every run has noise of its own."""
    each = [study.numbers() for study in studies]
    listed = [
        ListedDispersion(
            path, np.concatenate([numbers[path] for numbers in each]), "add" if "attitude" in path else "set"
        )
        for path in each[0]
    ]
    names = tuple(f"servicer.target.{name}" for name in KEPT)
    campaign = Campaign(
        experiment(target_filter(), duration),
        runs=sum(study.runs for study in studies),
        seed=11,
        dispersions=tuple(listed),
        metrics=(Metric("end", "time", "final", unit="s"),),
        history=History(names, INSTANTS),
        balances=False,
    )
    results = run_campaign(campaign)
    assert results.counts["completed"] == campaign.runs
    ends = np.cumsum([study.runs for study in studies])[:-1]
    split = {name: np.split(results.array(f"history/servicer.target.{name}"), ends) for name in KEPT}
    return [{name: split[name][k] for name in KEPT} for k in range(len(studies))]

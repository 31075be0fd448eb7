"""A tumbling client seen by the camera of a servicer, many times over: one compiled program for all these studies."""

import dataclasses
from typing import Any

import jax
import numpy as np

import freefloat as ff
from freefloat.campaign import Campaign, History, Listed, Metric, run_campaign
from freefloat.control import Disturbance, PictureNoise, TargetFilter, TargetGuess
from freefloat.control.target_motion import SIZE, move_state
from freefloat.sensors import Ideal, IdealMeasurements, Imperfection, RelativePoseCamera
from freefloat.spatial.rotations import rotation_matrix

DEG = np.deg2rad(1.0)
COM, RING = np.array([0.05, -0.02, 0.03]), np.array([1.2, 0.1, 0.0])  # in the client's base frame [m]
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
TRACE = 2500.0  # of the inertia of CLIENT [kg m2]


def parts(**filter_fields: Any) -> tuple[Any, ...]:
    """Camera, filter, and own sensors without error."""
    camera = RelativePoseCamera(
        frame="eye",
        target="client.ring",
        noise=NOISE,
        angle_noise=ANGLE_NOISE,
        imperfection=Imperfection(seed=3, dropout=0.0),
        on="servicer",
        period=0.5,
        latency=0.2,
    )
    noise = PictureNoise(position=NOISE, angle=ANGLE_NOISE)
    fields: dict[str, Any] = {"noise": noise, "guess": GUESS, "disturbance": UNDISTURBED, "period": 0.1}
    law = TargetFilter(
        craft=BUS, client=CLIENT, frame="eye", target="client.ring", on="servicer", **(fields | filter_fields)
    )
    return camera, law, Ideal(on="servicer")


def experiment(duration: float = 60.0, rate: np.ndarray = TUMBLE, **filter_fields: Any) -> ff.Experiment:
    """The servicer drifts and turns, the client tumbles."""
    own = BUS.in_motion(rate_deg_s=(0.1, -0.3, 0.2), velocity=(0.01, 0.02, 0.0))
    start = dataclasses.replace(CLIENT.in_motion(rate=rate, velocity=-np.cross(rate, COM)), p_NB=PLACE)
    guess = dataclasses.replace(filter_fields.pop("guess", GUESS), rate=rate)
    world = ff.World(servicer=BUS, client=CLIENT)
    return ff.Experiment.of(
        world,
        *parts(guess=guess, **filter_fields),
        state={"servicer": own, "client": start},
        duration=duration,
        dt=0.1,
        record_dt=1.0,
    )


def true_starts(law: TargetFilter, errors: np.ndarray) -> list[Listed]:
    """The client as it is where the guess has the given errors (runs, 20)."""
    memory = law.begin(IdealMeasurements.of(BUS, BUS.in_motion()))
    states = jax.vmap(lambda error: move_state(memory.belief.state, error))(errors)
    inertias = np.asarray(jax.vmap(law.body.inertia)(states.shape))
    R = np.asarray(jax.vmap(rotation_matrix)(states.quaternion))
    rate = np.asarray(states.rate)
    turned = np.einsum("rji,rj->ri", R, np.asarray(states.velocity))  # R^T v
    upper = np.triu_indices(3)
    return [
        Listed("client.base.com", np.asarray(states.com)),
        Listed("client.base.inertia", TRACE * inertias[:, upper[0], upper[1]]),
        Listed("start.client.attitude", errors[:, :3], how="add"),
        Listed("start.client.position", np.asarray(states.position) - R @ RING),
        Listed("start.client.velocity", turned - np.cross(rate, np.asarray(states.com))),
        Listed("start.client.rate", rate),
    ]


def drawn_errors(law: TargetFilter, runs: int, seed: int = 7) -> np.ndarray:
    """Errors of the guess, from the covariance that the filter begins with."""
    P = np.asarray(law.begin(IdealMeasurements.of(BUS, BUS.in_motion())).belief.covariance)
    return np.random.default_rng(seed).normal(size=(runs, SIZE)) @ np.linalg.cholesky(P).T


@dataclasses.dataclass(frozen=True)
class Study:
    """Numbers of a study of many runs; all studies share one program."""

    rate: tuple[float, ...] = tuple(TUMBLE)  # guessed [rad/s]
    told: float = 1.0  # share of the camera's noise that the filter is told
    dropout: float = 0.0  # share of the pictures that are lost
    angle_sigma: float = 10.0 * DEG  # of the guess [rad]
    shape_sigma: float = 0.02
    shape_noise: float = 0.0  # [1 per root s]
    duration: float = 60.0  # [s]

    def experiment(self) -> ff.Experiment:
        """One run of it."""
        sigmas = {"angle_sigma": self.angle_sigma, "shape_sigma": self.shape_sigma}
        guess = dataclasses.replace(GUESS, rate=np.array(self.rate), **sigmas)
        return experiment(self.duration, np.array(self.rate), guess=guess)

    def run(self, runs: int, errors: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Channels of the filter (runs, instants, ...), each run with noise of its own.

        The errors of the guess (runs, 20) are drawn from the covariance that the filter begins with, or given.
        """
        made = self.experiment()
        law = made.system.software[0]
        errors = drawn_errors(law, runs) if errors is None else errors
        numbers = {
            "TargetFilter.guess.rate": self.rate,
            "TargetFilter.guess.angle_sigma": self.angle_sigma,
            "TargetFilter.guess.shape_sigma": self.shape_sigma,
            "TargetFilter.disturbance.shape": self.shape_noise,
            "TargetFilter.noise.position": self.told * NOISE,
            "TargetFilter.noise.angle": self.told * ANGLE_NOISE,
            "camera.imperfection.dropout": self.dropout,
        }
        same = [Listed(path, np.repeat(np.atleast_2d(value), len(errors), 0)) for path, value in numbers.items()]
        campaign = Campaign(
            made,
            runs=len(errors),
            seed=11,
            dispersions=(*true_starts(law, errors), *same),
            metrics=(Metric("end", "time", "final", unit="s"),),
            history=History(tuple(f"servicer.target.{name}" for name in KEPT), INSTANTS),
            balances=False,
        )
        results = run_campaign(campaign)
        assert results.counts["completed"] == len(errors)
        return {name: results.array(f"history/servicer.target.{name}") for name in KEPT}

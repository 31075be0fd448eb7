"""The figure of docs/target-filter.md: `python scripts/target_filter_figure.py` writes docs/images/target-filter.svg.

One run with its three sigma, and the normalised errors of 200 runs that begin at their first picture, each with a rate,
a velocity, a centre of mass and inertia ratios of its own. Prints the means beside the interval of 99 %.
"""

import dataclasses

import numpy as np
from figures import IMAGES, Curve, Panel, figure_svg
from scipy.stats import chi2, kstest

import freefloat as ff
from freefloat.campaign import Campaign, Dispersion, History, Metric, Normal, run_campaign
from freefloat.control import Disturbance, PictureNoise, TargetFilter, TargetGuess
from freefloat.sensors import Ideal, Imperfection, RelativePoseCamera

RUNS, DURATION, EVERY = 200, 60.0, 2.0  # [s]
DEG = np.deg2rad(1.0)
NOISE, ANGLE_NOISE = 0.01, 0.5 * DEG  # of a picture [m], [rad]
RATE = np.array([3.0, 5.0, 2.0]) * DEG  # [rad/s]
GUESS = TargetGuess(rate=RATE, rate_sigma=0.5 * DEG, velocity_sigma=0.02, com_sigma=0.05, shape_sigma=0.02)


def experiment() -> ff.Experiment:
    """A client that nutates before a bus with a camera."""
    bus = ff.Spacecraft.from_base("bus", mass=800.0, inertia=(300.0, 400.0, 350.0))  # [kg], [kg m2]
    bus = bus.with_frame("eye", body="base", at=ff.Pose(position=(1.0, 0.0, 0.3)))  # [m]
    client = ff.Spacecraft.from_base("client", mass=1000.0, inertia=(500.0, 1100.0, 900.0))
    client = client.with_frame("ring", body="base", at=ff.Pose.from_rpy_deg((10.0, 20.0, 30.0), (1.2, 0.1, 0.0)))
    eye = {"frame": "eye", "target": "client.ring", "on": "servicer"}
    camera = RelativePoseCamera(
        noise=NOISE, angle_noise=ANGLE_NOISE, imperfection=Imperfection(seed=3), period=0.5, latency=0.2, **eye
    )
    software = TargetFilter(
        craft=bus,
        client=client,
        noise=PictureNoise(position=NOISE, angle=ANGLE_NOISE),
        guess=GUESS,
        disturbance=Disturbance(rate=0.0, velocity=0.0, com=0.0, shape=0.0),
        period=0.1,
        **eye,
    )
    start = dataclasses.replace(client.in_motion(rate=RATE), p_NB=np.array([5.0, 0.5, -0.2]))
    parts = (camera, software, Ideal(on="servicer"))
    world = ff.World(servicer=bus, client=client)
    return ff.Experiment.of(world, *parts, state={"client": start}, duration=DURATION, dt=0.1, record_dt=EVERY)


def many_runs() -> dict[str, np.ndarray]:
    """Channels of all runs, whose guesses are wrong as the filter is told."""
    spreads = {
        "TargetFilter.guess.rate": GUESS.rate_sigma,
        "TargetFilter.guess.velocity": GUESS.velocity_sigma,
        "TargetFilter.guess.shape": GUESS.shape_sigma,
        "TargetFilter.client.base.com": GUESS.com_sigma,
    }
    names = ("nees", "motion_nees", "rate_error", "rate_three_sigma")
    campaign = Campaign(
        experiment(),
        runs=RUNS,
        seed=5,
        dispersions=tuple(Dispersion(path, Normal(0.0, float(sigma)), how="add") for path, sigma in spreads.items()),
        metrics=(Metric("end", "time", "final", unit="s"),),
        history=History(tuple(f"servicer.target.{name}" for name in names), EVERY),
        balances=False,
    )
    results = run_campaign(campaign)
    return {name: results.array(f"history/servicer.target.{name}") for name in names}


def figure(found: dict[str, np.ndarray]) -> str:
    """The first run's rate about y, and the means of all."""
    t = EVERY * np.arange(1, found["nees"].shape[1])
    error, three = (found[f"rate_{kind}"][0, 1:, 1] / DEG for kind in ("error", "three_sigma"))
    low, high = (np.full_like(t, x) for x in chi2.ppf([0.005, 0.995], 20 * RUNS) / RUNS)
    one = (
        Curve("true from estimated", t, error),
        Curve("", t, three),
        Curve("three sigma", t, -three, below=True, colour=1),
    )
    all_of_them = (
        Curve("mean of 200 runs", t, found["nees"][:, 1:].mean(axis=0)),
        Curve("", t, high, dashed=True),
        Curve("99 % of it", t, low, below=True, dashed=True, colour=1),
    )
    return figure_svg(
        Panel("rate about y, one run", "[deg/s]", one, (-0.6, 0.6), (-0.6, -0.3, 0.0, 0.3, 0.6), every=10.0),
        Panel("normalised error squared, 20 numbers", "", all_of_them, (16.0, 24.0), (16, 18, 20, 22, 24), every=10.0),
    )


if __name__ == "__main__":
    found = many_runs()
    for name, size in (("nees", 20), ("motion_nees", 12)):
        low, high = chi2.ppf([0.005, 0.995], size * RUNS) / RUNS
        columns = found[name][:, 5::5].T
        print(f"{name}: 99 % of the mean {low:.2f} to {high:.2f}; every 10 s {np.round(columns.mean(axis=1), 2)}")
        print("  Kolmogorov and Smirnov:", np.round([kstest(x, chi2(size).cdf).pvalue for x in columns], 3))
    (IMAGES / "target-filter.svg").write_text(figure(found), encoding="utf-8")

"""Lesson 22: how sure are we? A campaign of many runs with dispersed numbers.

A thruster pushes a servicer whose mass is known to 10 %. How often does it end up too fast? For one pulse the answer
has a closed form, so that we can look whether the campaign's interval holds it. Then one run is repeated in full, bit
for bit, and kept on disk like any other.
"""

import tempfile
from pathlib import Path

import numpy as np
from scipy.stats import norm

import freefloat as ff
from freefloat.campaign import Campaign, Dispersion, Metric, Normal, Requirement, Results, replay, run_campaign

FORCE, PULSE = 4.0, 2.0  # [N], [s]
MASS, SPREAD = 100.0, 0.1  # [kg], one sigma as a share of it
LIMIT = 0.09  # [m/s]

servicer = ff.Spacecraft.from_base("servicer", mass=MASS, inertia=(20.0, 25.0, 30.0))  # [kg], [kg m2]
push = ff.WrenchPulse(frame="base", wrench=(FORCE, 0, 0, 0, 0, 0), stop=PULSE)
experiment = ff.Experiment.of(servicer, push, duration=3.0, dt=0.1, record_dt=0.1)

campaign = Campaign(
    experiment,
    runs=4000,
    seed=1,
    dispersions=(
        Dispersion("base.mass", Normal(1.0, SPREAD), how="scale"),
        Dispersion("base.inertia", Normal(1.0, 0.05), how="scale"),
        Dispersion("start.attitude", Normal(0.0, 0.02), how="add"),  # a rotation vector [rad]
    ),
    metrics=(
        Metric("speed", "norm(base.velocity)", "final", unit="m/s"),
        Metric("moving", "time", "first", when="norm(base.velocity) > 0.01", unit="s"),
    ),
    requirements=(Requirement("slow", "speed", below=LIMIT, probability=0.8, confidence=0.9),),
)

folder = Path(tempfile.mkdtemp(), "push")
run_campaign(campaign, folder)  # Ctrl-C, or a kill, loses nothing: resume_campaign goes on
results = Results.open(folder)
verdict = results.verdicts[0]
exact = float(norm.sf(FORCE * PULSE / LIMIT, loc=MASS, scale=SPREAD * MASS))  # heavy enough
print(f"{verdict.requirement.words}: {verdict.word}, {verdict.met} of {verdict.runs} runs")
print(f"probability {verdict.share.value:.4f}, 95 % interval {verdict.share.low:.4f} to {verdict.share.high:.4f}")
half = 0.5 * (verdict.share.high - verdict.share.low)
print(f"checked: probability of a slow run {verdict.share.value:.4f} (expected {exact:.4f} +- {half:.4f})")

fast = results.quantile("speed", 0.99)
print(f"99 % of the runs are below {fast.value:.4f} m/s ({fast.low:.4f} to {fast.high:.4f})")
matters, how_much = next(iter(results.rank_correlations("speed").items()))
print(f"what matters most: {matters}, rank correlation {how_much.value:.2f}")

worst, speed = results.worst("speed", 1)[0]
again = replay(campaign, worst)
print(f"the fastest is run {worst}: {again.run}")
apart = float(np.max(np.abs(again.metrics - results.array("metrics")[worst])))
print(f"checked: metrics of the replayed run differ by {apart:g} (expected 0 +- 0)")
print(
    f"checked: its speed {np.linalg.norm(again.run.values('base.velocity')[-1]):.6f} m/s (expected {speed:.6f} +- 1e-6)"
)

"""A body that is pushed for two seconds: its speed afterwards is force times time by mass."""

from pathlib import Path

import freefloat as ff
from freefloat.campaign import Campaign, Dispersion, Metric, Normal, Requirement, Uniform

FORCE, PUSH = 4.0, 2.0  # [N], [s]

FILE = f'''"""A body that is pushed."""
import freefloat as ff


def build(duration: float = 3.0):
    craft = ff.Spacecraft.from_base("box", mass=100.0, inertia=(20.0, 25.0, 30.0))
    push = ff.WrenchPulse(frame="base", wrench=({FORCE}, 0.0, 0.0, 0.0, 0.0, 0.0), start=0.0, stop={PUSH})
    return ff.Experiment.of(craft, push, duration=duration, dt=0.1, record_dt=0.1)
'''

TOML = """
scenario = "{file}"
runs = {runs}
seed = 3
block = 16

[[disperse]]
path = "base.mass"
distribution = "normal"
mean = 1.0
sigma = 0.1
how = "scale"

[[disperse]]
path = "start.velocity"
distribution = "uniform"
low = -0.001
high = 0.001
how = "add"

[metrics.speed]
of = "norm(base.velocity)"
unit = "m/s"

[metrics.moved]
of = "base.position[x]"
reduce = "max"
unit = "m"

[requirements.slow]
metric = "speed"
below = 0.09
probability = 0.7
"""


def pushed() -> ff.Experiment:
    craft = ff.Spacecraft.from_base("box", mass=100.0, inertia=(20.0, 25.0, 30.0))
    push = ff.WrenchPulse(frame="base", wrench=(FORCE, 0.0, 0.0, 0.0, 0.0, 0.0), start=0.0, stop=PUSH)
    return ff.Experiment.of(craft, push, duration=3.0, dt=0.1, record_dt=0.1)


def campaign(runs: int = 100, **changes: object) -> Campaign:
    given: dict = {
        "dispersions": (
            Dispersion("base.mass", Normal(1.0, 0.1), "scale"),
            Dispersion("start.velocity", Uniform(-1e-3, 1e-3), "add"),
        ),
        "metrics": (
            Metric("speed", "norm(base.velocity)", unit="m/s"),
            Metric("moved", "base.position[x]", "max", unit="m"),
        ),
        "requirements": (Requirement("slow", "speed", below=0.09, probability=0.7),),
        "seed": 3,
        "block": 16,
    }
    return Campaign(pushed(), runs, **(given | changes))


def files(folder: Path, runs: int = 100) -> Path:
    """The campaign as a user's files; returns the TOML."""
    (folder / "push.py").write_text(FILE)
    path = folder / "push.toml"
    path.write_text(TOML.format(file=folder / "push.py", runs=runs))
    return path

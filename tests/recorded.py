"""One real run, and runs made of plain numbers, shared by the tests of pages and studio."""

from pathlib import Path

import numpy as np
import pytest
import xarray

from freefloat.scenarios import find
from freefloat.sim import Run
from freefloat.sim.audit import Audit, Entry


@pytest.fixture(scope="session")
def gjm_run() -> Run:
    """The nominal ETS-VII run with its claims, simulated once in each process."""
    scenario = find("ets7-gjm").variants()["nominal"]
    run = scenario.simulate()
    return run.with_claims(scenario.judged(run, "nominal"))


@pytest.fixture(scope="session")
def gjm_file(gjm_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run as a file."""
    return gjm_run.save(tmp_path_factory.mktemp("gjm") / "run.nc")


def made_up(
    samples: int, channels: int, components: int = 3, name: str = "channel", seed: int = 7, **attributes: str
) -> Run:
    """A run of smooth random curves, without a scene."""
    rng = np.random.default_rng(seed)
    t = np.arange(samples) * 0.01
    waves = rng.uniform(0.1, 3.0, (channels, components))
    data = xarray.Dataset(
        {
            f"{name}.{i}": (
                ("time", "part"),
                np.sin(np.outer(t, waves[i])),
                {"units": "m", "frame": "N", "long_name": f"Made-up channel {i}", **attributes},
            )
            for i in range(channels)
        },
        coords={"time": t, "part": [f"c{j}" for j in range(components)]},
    )
    audit = Audit((Entry("made-up balance", "J", 1e-12, 0.0, 1e-9),), "made up")
    return Run(data=data, audit=audit, status="completed", scenario={"scenario": "made-up"}, versions={"freefloat": "0"})

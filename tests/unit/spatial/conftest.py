import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    """New draws in every run; the seed is shown when a test fails."""
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    print(f"seed = {seed}")  # noqa: T201
    return np.random.default_rng(seed)

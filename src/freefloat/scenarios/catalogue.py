"""All scenarios by name."""

from freefloat.scenarios.ets7 import Ets7Capture, Ets7Gjm, Ets7GravityGradient, Ets7Rns, Ets7SatelliteBased
from freefloat.scenarios.goddard import GoddardAsymmetric, GoddardSymmetric
from freefloat.scenarios.scenario import Scenario, ScenarioError

SCENARIOS: dict[str, type[Scenario]] = {
    scenario.name: scenario
    for scenario in (
        Ets7Gjm,
        Ets7SatelliteBased,
        Ets7Rns,
        Ets7GravityGradient,
        Ets7Capture,
        GoddardSymmetric,
        GoddardAsymmetric,
    )
}


def find(name: str) -> type[Scenario]:
    """The scenario of that name."""
    if name not in SCENARIOS:
        raise ScenarioError(f"There is no scenario '{name}'. Scenarios: {', '.join(SCENARIOS)}.")
    return SCENARIOS[name]

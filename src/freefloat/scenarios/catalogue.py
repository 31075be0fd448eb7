"""All scenarios by name."""

from pathlib import Path

from freefloat.scenarios.envisat import EnvisatCapture, EnvisatFree
from freefloat.scenarios.ets7 import Ets7Capture, Ets7Gjm, Ets7GravityGradient, Ets7Rns, Ets7SatelliteBased
from freefloat.scenarios.file_scenario import scenario_of_file
from freefloat.scenarios.goddard import GoddardAsymmetric, GoddardRehearsal, GoddardSymmetric
from freefloat.scenarios.scenario import Scenario, ScenarioError
from freefloat.scenarios.srms import SrmsNormal, SrmsTangential
from freefloat.scenarios.station import StationLibration, StationRecovery, StationTravel
from freefloat.values.suggestions import did_you_mean

SCENARIOS: dict[str, type[Scenario]] = {
    scenario.name: scenario
    for scenario in (
        Ets7Gjm,
        Ets7SatelliteBased,
        Ets7Rns,
        Ets7GravityGradient,
        Ets7Capture,
        EnvisatFree,
        EnvisatCapture,
        GoddardSymmetric,
        GoddardAsymmetric,
        GoddardRehearsal,
        SrmsTangential,
        SrmsNormal,
        StationLibration,
        StationRecovery,
        StationTravel,
    )
}


def find(name: str) -> type[Scenario]:
    """Scenario class by name, or from a user's file such as `my_experiment.py`."""
    if name.endswith(".py"):
        return scenario_of_file(name)
    if name not in SCENARIOS:
        own = [f"{name}.py"] if name and Path(f"{name}.py").is_file() else []
        meant = did_you_mean(f"{name}.py" if own else name, (*own, *SCENARIOS))
        raise ScenarioError(
            f"There is no scenario '{name}'.{meant} Scenarios: {', '.join(SCENARIOS)}; "
            "or a Python file, my_experiment.py."
        )
    return SCENARIOS[name]

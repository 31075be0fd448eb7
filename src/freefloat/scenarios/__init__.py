"""Scenarios: the experiments of the papers as frozen records, with the numbers that they must reach."""

from freefloat.scenarios.catalogue import SCENARIOS, find
from freefloat.scenarios.rehearsed import RehearsedScenario
from freefloat.scenarios.scenario import Scenario, ScenarioError

__all__ = ["SCENARIOS", "RehearsedScenario", "Scenario", "ScenarioError", "find"]

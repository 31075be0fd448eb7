"""Campaigns: many runs of one experiment with other numbers, kept on disk, and what they say about all runs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freefloat.campaign.campaign import Campaign, History
    from freefloat.campaign.dispersions import Correlated, Dispersion, Listed
    from freefloat.campaign.distributions import Discrete, LogNormal, Normal, Uniform
    from freefloat.campaign.driving import Route, resume_campaign, run_campaign
    from freefloat.campaign.errors import CampaignError
    from freefloat.campaign.metrics import Metric
    from freefloat.campaign.pages import campaign_page
    from freefloat.campaign.reductions import Reduction
    from freefloat.campaign.replaying import case, replay
    from freefloat.campaign.requirements import Requirement
    from freefloat.campaign.results import Results
    from freefloat.campaign.statistics import Estimate
    from freefloat.campaign.toml_files import read_campaign

__all__ = [
    "Campaign",
    "CampaignError",
    "Correlated",
    "Discrete",
    "Dispersion",
    "Estimate",
    "History",
    "Listed",
    "LogNormal",
    "Metric",
    "Normal",
    "Reduction",
    "Requirement",
    "Results",
    "Route",
    "Uniform",
    "campaign_page",
    "case",
    "read_campaign",
    "replay",
    "resume_campaign",
    "run_campaign",
]

_HOMES = {
    "Campaign": "campaign",
    "History": "campaign",
    "Correlated": "dispersions",
    "Dispersion": "dispersions",
    "Listed": "dispersions",
    "Discrete": "distributions",
    "LogNormal": "distributions",
    "Normal": "distributions",
    "Uniform": "distributions",
    "Route": "driving",
    "resume_campaign": "driving",
    "run_campaign": "driving",
    "CampaignError": "errors",
    "Metric": "metrics",
    "campaign_page": "pages",
    "Reduction": "reductions",
    "case": "replaying",
    "replay": "replaying",
    "Requirement": "requirements",
    "Results": "results",
    "Estimate": "statistics",
    "read_campaign": "toml_files",
}


def __getattr__(name: str) -> Any:
    """Load what needs JAX only when it is used: distributions and reductions do without the rest."""
    if name not in _HOMES:
        raise AttributeError(f"freefloat.campaign has no '{name}'. Names: {', '.join(__all__)}.")
    return getattr(import_module(f"freefloat.campaign.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)

"""Campaigns: many runs of one experiment with other numbers, kept on disk, and what they say about all runs."""

from freefloat.campaign.campaign import Campaign, History
from freefloat.campaign.dispersions import Correlated, Dispersion, Listed
from freefloat.campaign.distributions import Discrete, LogNormal, Normal, Uniform
from freefloat.campaign.driving import Route, resume_campaign, run_campaign
from freefloat.campaign.errors import CampaignError
from freefloat.campaign.metrics import Metric
from freefloat.campaign.reductions import Reduction
from freefloat.campaign.replaying import replay
from freefloat.campaign.requirements import Requirement
from freefloat.campaign.results import Results
from freefloat.campaign.statistics import Estimate

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
    "replay",
    "resume_campaign",
    "run_campaign",
]

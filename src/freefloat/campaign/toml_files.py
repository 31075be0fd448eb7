"""Campaigns in TOML: scenario, number of runs, dispersed numbers, stored metrics and requirements.

scenario = "ets7-capture"
runs = 10000

[settings]
duration = 60.0

[[disperse]]
path = "chaser.base.mass"
distribution = "normal"
mean = 1.0
sigma = 0.02
how = "scale"

[metrics.captured]
of = "time"
reduce = "first"
when = "chaser.capture.mode == 3"

[requirements.capture]
metric = "captured"
below = 45.0
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from freefloat.campaign.campaign import Campaign, History
from freefloat.campaign.dispersions import dispersion_from_dict
from freefloat.campaign.errors import CampaignError, require_known
from freefloat.campaign.metrics import Metric
from freefloat.campaign.requirements import Requirement
from freefloat.scenarios import find
from freefloat.scenarios.runner import build_experiment
from freefloat.values.nested import flatten

_PLAIN = ("runs", "seed", "design", "impossible", "block", "sample_dt", "balances", "title")
_KNOWN = ("scenario", "variant", "settings", "disperse", "metrics", "requirements", "history", *_PLAIN)
_SHIPPED = "shipped"


def shipped_campaigns() -> list[str]:
    """Names of the scenarios that come with dispersions."""
    folder = resources.files("freefloat.campaign").joinpath(_SHIPPED)
    return sorted(Path(entry.name).stem for entry in folder.iterdir() if entry.name.endswith(".toml"))


def read_campaign(
    what: str | Path, changes: Mapping[str, Any] | None = None, settings: Mapping[str, Any] | None = None
) -> Campaign:
    """Read a campaign from a TOML file, or the one that comes with a scenario.

    `changes` replace entries of it, `settings` settings of its scenario.
    """
    content = _read_toml(what)
    merged = flatten(dict(content.get("settings", {}))) | dict(settings or {})
    return campaign_of({**content, "settings": merged, **(changes or {})})


def _read_toml(what: str | Path) -> dict[str, Any]:
    if Path(what).suffix == ".toml":
        path = Path(what)
        if not path.is_file():
            raise CampaignError(f"There is no campaign file {path}.")
        content = path.read_text(encoding="utf-8")
    elif str(what) in shipped_campaigns():
        content = resources.files("freefloat.campaign").joinpath(_SHIPPED, f"{what}.toml").read_text(encoding="utf-8")
    else:
        raise CampaignError(
            f"'{what}' is neither a TOML file nor a scenario that comes with dispersions. Those are: "
            f"{', '.join(shipped_campaigns())}."
        )
    try:
        return tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise CampaignError(f"{what} is not valid TOML: {error}.") from None


def campaign_of(given: Mapping[str, Any]) -> Campaign:
    """A campaign from plain data, as a file or a store contains it."""
    require_known("A campaign", given, _KNOWN)
    if "scenario" not in given or "runs" not in given:
        raise CampaignError("A campaign needs scenario and runs.")
    scenario = find(str(given["scenario"]))
    variants = scenario.variants()
    variant = str(given.get("variant", next(iter(variants))))
    if variant not in variants:
        raise CampaignError(
            f"Scenario '{given['scenario']}' has no variant '{variant}'. Variants: {', '.join(variants)}."
        )
    settings = flatten(dict(given.get("settings", {})))
    experiment = build_experiment(variants[variant].with_settings(settings))
    history = given.get("history")
    return Campaign(
        experiment,
        dispersions=tuple(dispersion_from_dict(entry) for entry in given.get("disperse", ())),
        metrics=tuple(Metric.from_dict(name, entry) for name, entry in given.get("metrics", {}).items()),
        requirements=tuple(Requirement.from_dict(name, entry) for name, entry in given.get("requirements", {}).items()),
        history=None if not history else History(tuple(history["channels"]), float(history["dt"])),
        source={"scenario": str(given["scenario"]), "variant": variant, "settings": settings},
        **{"title": scenario.title, **{key: given[key] for key in _PLAIN if key in given}},  # pyright: ignore[reportArgumentType]
    )


def campaign_of_store(described: Mapping[str, Any]) -> Campaign:
    """Build the campaign of a store again."""
    source = described["source"]
    if "scenario" not in source:
        raise CampaignError(
            "This campaign was made in Python of an experiment of its own: resume and replay it there, with "
            "resume_campaign(campaign, folder) and replay(campaign, run)."
        )
    balances = [name for name in described["metrics"] if name.startswith("balance.")] if described["balances"] else []
    given = {key: described[key] for key in _PLAIN if described.get(key) is not None}
    return campaign_of(
        {
            **source,
            **given,
            "disperse": described["dispersions"],
            "metrics": {name: entry for name, entry in described["metrics"].items() if name not in balances},
            "requirements": described["requirements"],
            "history": described["history"],
        }
    )

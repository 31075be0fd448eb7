"""The error that campaigns raise."""


class CampaignError(ValueError):
    """A campaign that cannot be run, resumed or read as requested; the message gives a remedy."""

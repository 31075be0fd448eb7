"""What a campaign refuses."""


class CampaignError(ValueError):
    """A campaign that cannot be run, resumed or read as it is asked for; the message says what would do."""

"""Remove a campaign from its folder, to make room for another one; what is not its own is never touched."""

from __future__ import annotations

import shutil
from pathlib import Path

from freefloat.campaign.errors import CampaignError
from freefloat.campaign.store import LOCK, MARKS, Store

PAGE, REPLAYS = "page.html", "replays"  # what the command line writes beside the store
_GROUP = "zarr.json"


def holds_campaign(folder: Path) -> bool:
    """Whether there is a campaign in a folder, finished or not."""
    return (folder / _GROUP).exists()


def remove_campaign(folder: Path) -> None:
    """Remove a campaign with its page and replays.

    Raises an error, before anything is removed, where the folder holds other files too, or a process writes to it.
    """
    store = Store(folder)
    made = {_GROUP, MARKS, LOCK, PAGE, REPLAYS, *store.array_names}
    entries = sorted(folder.iterdir())
    if foreign := [path.name for path in entries if path.name not in made]:
        raise CampaignError(
            f"{folder} holds '{foreign[0]}' besides a campaign, so it stays. Move that, or choose another folder."
        )
    with store.writing():
        (folder / _GROUP).unlink()  # first: without it there is no campaign, however far the rest is
        for path in entries:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        (folder / LOCK).unlink(missing_ok=True)

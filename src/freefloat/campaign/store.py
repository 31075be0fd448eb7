"""Store of a campaign: a Zarr group (version 3) with one chunk for each block of runs.

A block counts as finished when its mark exists: a small file with the checksums of the block's chunks, written last
and atomically. A process that is killed earlier leaves no mark, and the block is computed again. Blocks are
independent, so no lock is needed between them; one process at a time writes to a store.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.campaign.blocks import RunBlock, columns_of
from freefloat.campaign.campaign import Campaign
from freefloat.campaign.errors import CampaignError
from freefloat.values.files import write_atomically

FORMAT_VERSION = 1
MARKS, LOCK = "blocks", ".lock"


class Store:
    """A campaign on disk, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._group = _open_group(folder)
        attributes = dict(self._group.attrs)
        if attributes.get("format_version") != FORMAT_VERSION or "campaign" not in attributes:
            raise CampaignError(f"{folder} is no campaign that this freefloat can read. Run the campaign again.")
        self.attributes: dict[str, Any] = attributes
        self.described: dict[str, Any] = attributes["campaign"]

    @staticmethod
    def create(folder: Path, campaign: Campaign, versions: Mapping[str, str]) -> Store:
        """Create an empty store for a campaign; raises an error if the folder is not empty."""
        zarr = _zarr()
        if (folder / "zarr.json").exists():
            raise CampaignError(f"{folder} holds a campaign already. Resume it, or choose another folder.")
        _require_empty(folder)
        columns = columns_of(campaign)
        folder.mkdir(parents=True, exist_ok=True)
        group = zarr.open_group(str(folder), mode="w", zarr_format=3)
        for name, (kind, shape) in columns.items():
            group.create_array(
                name,
                shape=(campaign.runs, *shape),
                chunks=(campaign.block, *(max(n, 1) for n in shape)),
                dtype=kind,
                fill_value=np.nan if kind.kind == "f" else -1,
                dimension_names=("run", *(f"{name}.{k}" for k in range(len(shape)))),
                config={"write_empty_chunks": True},
            )
        (folder / MARKS).mkdir()
        program = campaign.preparation.program
        facts: dict[str, Any] = {
            "format_version": FORMAT_VERSION,
            "campaign": campaign.as_dict(),
            "identity": campaign.identity(),
            "draws": list(campaign.preparation.draws.names),
            "metrics": [metric.name for metric in program.metrics],
            "units": [metric.unit for metric in program.metrics],
            "versions": dict(versions),
        }
        group.attrs.update(facts)
        return Store(folder)

    def require_same(self, campaign: Campaign) -> None:
        """Raise an error if a campaign has other runs than those of this store."""
        if campaign.identity() == self.attributes["identity"]:
            return
        mine, theirs = self.described, campaign.as_dict()
        other = next((key for key in mine if mine[key] != json.loads(json.dumps(theirs[key], default=str))), "runs")
        raise CampaignError(f"{self.folder} holds another campaign: its {other} differs. Choose another folder.")

    # ---- writing

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Lock the store within the block: raises an error if another process writes to it."""
        with (self.folder / LOCK).open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    raise
                raise CampaignError(f"Another process is running the campaign in {self.folder}.") from None
            yield

    def write(self, number: int, block: RunBlock, facts: Mapping[str, Any]) -> None:
        """Write a block: its chunks, then its mark."""
        end = block.first + len(block.arrays["status"])
        for name, values in block.arrays.items():
            if values.size:
                self._group[name][block.first : end] = values
        mark = {**facts, "chunks": {name: self._checksum(name, number) for name in block.arrays}}
        write_atomically(self._mark(number), lambda path: _write_down(path, json.dumps(mark)))

    def _mark(self, number: int) -> Path:
        return self.folder / MARKS / f"{number:08d}.json"

    def _chunk(self, name: str, number: int) -> Path:
        array = self._group[name]
        return self.folder / name / "c" / "/".join([str(number), *["0"] * (array.ndim - 1)])

    def _checksum(self, name: str, number: int) -> str:
        path = self._chunk(name, number)
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""

    # ---- reading

    @property
    def array_names(self) -> tuple[str, ...]:
        """Names of the arrays, each of which is a folder."""
        found = sorted(self.folder.glob("*/zarr.json"))
        return tuple(path.parent.name for path in found if json.loads(path.read_text()).get("node_type") == "array")

    @property
    def blocks(self) -> int:
        """Number of blocks of the whole campaign."""
        return -(-int(self.described["runs"]) // int(self.described["block"]))

    def finished_blocks(self, *, check: bool = False) -> list[int]:
        """Numbers of the finished blocks; with `check` only those whose chunks still have their checksums."""
        marks = sorted((self.folder / MARKS).glob("[0-9]*.json"))
        numbers = [int(path.stem) for path in marks]
        return [n for n in numbers if self._is_whole(n)] if check else numbers

    def damaged_blocks(self) -> list[int]:
        """Numbers of the finished blocks whose chunks have changed since they were written."""
        return sorted(set(self.finished_blocks()) - set(self.finished_blocks(check=True)))

    def _is_whole(self, number: int) -> bool:
        try:
            chunks = json.loads(self._mark(number).read_text())["chunks"]
        except (ValueError, KeyError, OSError):
            return False
        return all(self._checksum(name, number) == value for name, value in chunks.items())

    def facts(self, number: int) -> dict[str, Any]:
        """Which code computed a block, and the checksums of its chunks."""
        return json.loads(self._mark(number).read_text())

    def read(self, name: str, blocks: list[int] | None = None) -> np.ndarray:
        """An array of the stored runs, in order."""
        size, array = int(self.described["block"]), self._group[name]
        numbers = self.finished_blocks() if blocks is None else blocks
        if len(numbers) == self.blocks:
            return np.asarray(array[:])
        parts = [np.asarray(array[n * size : (n + 1) * size]) for n in numbers]
        return np.concatenate(parts) if parts else np.asarray(array[:0])

    def runs(self) -> np.ndarray:
        """Numbers of the stored runs."""
        size, total = int(self.described["block"]), int(self.described["runs"])
        parts = [np.arange(n * size, min((n + 1) * size, total)) for n in self.finished_blocks()]
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def require_mergeable(self, other: Store) -> None:
        """Raise an error if another store has other runs than those of this store."""
        if other.attributes["identity"] != self.attributes["identity"]:
            raise CampaignError(f"{other.folder} holds another campaign than {self.folder}: they cannot be merged.")

    def copy_missing(self, other: Store) -> int:
        """Copy the blocks that are missing here from another store; returns their number."""
        self.require_mergeable(other)
        missing = sorted(set(other.finished_blocks(check=True)) - set(self.finished_blocks(check=True)))
        for number in missing:
            mark = other.facts(number)
            for name in mark["chunks"]:
                source = other._chunk(name, number)
                if source.exists():
                    write_atomically(self._chunk(name, number), lambda path, s=source: path.write_bytes(s.read_bytes()))
            write_atomically(self._mark(number), lambda path, mark=mark: _write_down(path, json.dumps(mark)))
        return len(missing)

    def same_empty(self, folder: Path) -> Store:
        """Create an empty store for the same campaign in another folder."""
        import shutil

        _require_empty(folder)
        for path in self.folder.rglob("zarr.json"):
            target = folder / path.relative_to(self.folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        (folder / MARKS).mkdir()
        return Store(folder)


def _require_empty(folder: Path) -> None:
    if folder.exists() and any(folder.iterdir()):
        raise CampaignError(f"{folder} is not empty. Choose another folder.")


def _write_down(path: Path, text: str) -> None:
    """Write a text and wait until it is on the disk, not only in its cache."""
    with path.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _zarr() -> Any:
    try:
        import zarr
    except ImportError:
        raise CampaignError("Keeping a campaign needs zarr: pip install 'freefloat[campaign]'.") from None
    return zarr


def _open_group(folder: Path) -> Any:
    zarr = _zarr()
    if not (folder / "zarr.json").exists():
        raise CampaignError(f"There is no campaign in {folder}. Give the --out folder of `freefloat campaign run`.")
    return zarr.open_group(str(folder), mode="r+" if os.access(folder, os.W_OK) else "r")

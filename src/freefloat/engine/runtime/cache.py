"""Compiled code on disk, shared by processes.

An entry is written beside its final name and moved there in one step, so readers see all of it or
nothing, and carries a checksum, so a damaged one is built again. A cache that cannot be used at all
(read-only home) is no error: code is then compiled each time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache as remember
from pathlib import Path

MAGIC = b"freefloat1"
SUFFIX = ".code"


def directory() -> Path:
    """Where entries are: $FREEFLOAT_CACHE, else the user's cache directory."""
    chosen = os.environ.get("FREEFLOAT_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "freefloat"


@remember
def engine_version() -> str:
    """A hash of the engine's own source: code from another version is never reused."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def key(*facts: object) -> str:
    """The name of an entry: everything its content depends on."""
    return hashlib.sha256("\0".join(map(str, (engine_version(), *facts))).encode()).hexdigest()


def fetch(name: str, build: Callable[[], bytes]) -> bytes:
    """An entry's content, built if it is missing or damaged."""
    content = read(name)
    if content is None:
        content = build()
        write(name, content)
    return content


def read(name: str) -> bytes | None:
    """An entry's content; None if it is missing or damaged."""
    path = directory() / f"{name}{SUFFIX}"
    try:
        data = path.read_bytes()
    except OSError:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # used last: the oldest go first
    head = len(MAGIC) + 32
    content = data[head:]
    intact = data[:head] == MAGIC + hashlib.sha256(content).digest()
    return content if intact else None


def write(name: str, content: bytes) -> None:
    """Keep an entry, and let the oldest go where there are too many."""
    path = directory() / f"{name}{SUFFIX}"
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + hashlib.sha256(content).digest() + content)
            Path(temporary).replace(path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
        _shrink(size_limit())


def size_limit() -> int:
    """Most bytes that the cache may take: $FREEFLOAT_CACHE_LIMIT in megabytes, else one gigabyte."""
    chosen = os.environ.get("FREEFLOAT_CACHE_LIMIT", "")
    return int(float(chosen) * 1e6) if chosen.replace(".", "", 1).isdigit() else 1_000_000_000


def _shrink(limit: int) -> None:
    """Remove the entries that were used longest ago, until a tenth of the room is free."""
    with os.scandir(directory()) as found:
        files = [(entry.stat(), entry.path) for entry in found if entry.name.endswith(SUFFIX)]
    total = sum(facts.st_size for facts, _ in files)
    if total <= limit:
        return
    for facts, path in sorted(files, key=lambda one: one[0].st_mtime_ns):
        if total <= 0.9 * limit:
            return
        Path(path).unlink(missing_ok=True)
        total -= facts.st_size


def entries() -> list[Path]:
    """Files of the cache."""
    return sorted(directory().glob(f"*{SUFFIX}"))


def clear() -> int:
    """Remove every entry; returns how many there were."""
    found = entries()
    for path in [*found, *directory().glob("*.part")]:
        path.unlink(missing_ok=True)
    return len(found)

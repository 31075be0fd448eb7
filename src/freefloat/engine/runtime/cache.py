"""Compiled code on disk, shared by the processes of one user.

An entry is written beside its final name and moved there in one step, so readers see all of it or nothing. It is signed
with a secret of the user, together with its name: one that is damaged, misplaced or made by somebody else is never
loaded, but built again. A cache that cannot be used (no home, a read-only one, a directory that others may write to) is
no error: code is then compiled each time, and `doctor` says why.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import stat
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache as remember
from pathlib import Path

from .origins import is_source_unchanged
from .secret import read_own_file, secret_file, user_secret

MAGIC = b"freefloat2"
SUFFIX = ".code"
_UNFINISHED = ".part"
_ABANDONED = 3600.0  # [s] after which an unfinished entry is nobody's any more


class CacheWarning(UserWarning):
    """Something in the cache was not used, since it may be somebody else's."""


def directory() -> Path | None:
    """Where entries are: $FREEFLOAT_CACHE, else the user's cache directory; None for a user without a home."""
    chosen = os.environ.get("FREEFLOAT_CACHE")
    if chosen:
        return Path(chosen)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "freefloat"
    except RuntimeError:
        return None


def obstacle() -> str:
    """Why the cache cannot be used, with a remedy; nothing where it can."""
    folder = directory()
    if folder is None:
        return "there is no home directory. Name a folder of your own in FREEFLOAT_CACHE and one in XDG_CONFIG_HOME."
    if user_secret() is None:
        where = secret_file()
        return f"{where} cannot be made, or others may read it. Remove it, or name a folder in XDG_CONFIG_HOME."
    with contextlib.suppress(OSError):
        facts = folder.stat()
        if facts.st_uid != os.geteuid():
            return f"{folder} belongs to another user. Name a folder of your own in FREEFLOAT_CACHE."
        if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return f"others may write to {folder}. Run chmod 700 on it, or name another folder in FREEFLOAT_CACHE."
    return ""


@remember
def _warn(sentence: str) -> None:
    warnings.warn(sentence, CacheWarning, stacklevel=3)


def _folder() -> Path | None:
    """The directory, if entries may be read from it and written to it."""
    if why := obstacle():
        _warn(f"Compiled code is not kept: {why}")
        return None
    return directory()


@remember
def engine_version() -> str:
    """A hash of the engine's own source at import: code from another version is never reused."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


engine_version()


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
    """An entry's content; None if it is missing, damaged or somebody else's, which is said."""
    folder = _folder()
    if folder is None or not os.path.lexists(path := folder / f"{name}{SUFFIX}"):
        return None
    data = read_own_file(path, size_limit()) or b""
    head = len(MAGIC) + 32
    content = data[head:]
    if hmac.compare_digest(data[:head], MAGIC + _signature(name, content)):
        return content
    _warn(f"{path} is damaged, or not from this user: it is not used, and made again.")
    return None


def write(name: str, content: bytes) -> None:
    """Keep an entry, and let the oldest go where there are too many.

    Nothing is written once the package's files have changed: what runs here is not what others would take it for.
    """
    folder = _folder()
    if folder is None:
        return
    if not is_source_unchanged():
        _warn("Compiled code is not kept: files of freefloat have changed since it was imported. Start Python anew.")
        return
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.environ.get("FREEFLOAT_CACHE"):
            folder.chmod(0o700)  # versions before made it readable
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=_UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + _signature(name, content) + content)
            Path(temporary).replace(folder / f"{name}{SUFFIX}")
        except OSError:
            Path(temporary).unlink(missing_ok=True)
        _shrink(folder, size_limit())


def _signature(name: str, content: bytes) -> bytes:
    """What only this user can write under this content with this name."""
    return hmac.digest(user_secret() or b"", name.encode() + b"\0" + content, "sha256")


def size_limit() -> int:
    """Most bytes that the cache may take: $FREEFLOAT_CACHE_LIMIT in megabytes, else one gigabyte."""
    chosen = os.environ.get("FREEFLOAT_CACHE_LIMIT", "")
    return int(float(chosen) * 1e6) if chosen.replace(".", "", 1).isdigit() else 1_000_000_000


def _shrink(folder: Path, limit: int) -> None:
    """Remove what others left unfinished, then the entries used longest ago, until a tenth of the room is free."""
    files = []
    with os.scandir(folder) as found:
        for entry in found:
            with contextlib.suppress(FileNotFoundError):  # another process removes too
                facts = entry.stat(follow_symlinks=False)
                if entry.name.endswith(SUFFIX):
                    files.append((facts, entry.path))
                elif entry.name.endswith(_UNFINISHED) and facts.st_mtime < time.time() - _ABANDONED:
                    Path(entry.path).unlink(missing_ok=True)
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
    folder = directory()
    return [] if folder is None else sorted(folder.glob(f"*{SUFFIX}"))


def clear() -> int:
    """Remove every entry; returns how many there were."""
    found, folder = entries(), directory()
    for path in [*found, *(folder.glob(f"*{_UNFINISHED}") if folder else ())]:
        path.unlink(missing_ok=True)
    return len(found)

"""Compiled code on disk, shared by the processes of one user.

An entry is written to a temporary file and renamed in one step, so readers see all of it or nothing. It is signed with
a secret of the user, together with its name: an entry that is damaged, misplaced or made by another user is never
loaded, but built again. A cache that cannot be used (no home, a read-only one, a directory that others may write to) is
no error: code is then compiled each time, and `doctor` reports why.
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
_ABANDONED = 3600.0  # [s] age after which an unfinished entry is removed


class CacheWarning(UserWarning):
    """An entry of the cache was not used, because it may be from another user, or was not written."""


def directory() -> Path | None:
    """Directory of the entries: $FREEFLOAT_CACHE, else the user's cache directory; None for a user without a home."""
    chosen = os.environ.get("FREEFLOAT_CACHE")
    if chosen:
        return Path(chosen)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "freefloat"
    except RuntimeError:
        return None


def unusable_reason() -> str:
    """Reason why the cache cannot be used, with a remedy; empty if it can be used."""
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
    """Directory of the entries; None, with a warning, if the cache cannot be used."""
    if why := unusable_reason():
        _warn(f"Compiled code is not kept: {why}")
        return None
    return directory()


@remember
def engine_version() -> str:
    """Hash of the engine's source at import, so that code from another version is never reused."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


engine_version()


def key(*facts: object) -> str:
    """Name of an entry: a hash of everything that its content depends on."""
    return hashlib.sha256("\0".join(map(str, (engine_version(), *facts))).encode()).hexdigest()


def fetch(name: str, build: Callable[[], bytes]) -> bytes:
    """Content of an entry, built and written if it is missing or damaged."""
    content = read(name)
    if content is None:
        content = build()
        write(name, content)
    return content


def read(name: str) -> bytes | None:
    """Content of an entry; None if it is missing, or, with a warning, if it is damaged or from another user."""
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
    """Write an entry, and remove the oldest ones where the cache is too large.

    Nothing is written once the package's files have changed, because then this code is not that of the files.
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
            folder.chmod(0o700)  # earlier versions made it readable for others
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=_UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + _signature(name, content) + content)
            Path(temporary).replace(folder / f"{name}{SUFFIX}")
        except OSError:
            Path(temporary).unlink(missing_ok=True)
        _shrink(folder, size_limit())


def _signature(name: str, content: bytes) -> bytes:
    """Signature of an entry's name and content, which only this user can make."""
    return hmac.digest(user_secret() or b"", name.encode() + b"\0" + content, "sha256")


def size_limit() -> int:
    """Largest size of the cache [bytes]: $FREEFLOAT_CACHE_LIMIT in megabytes, else one gigabyte."""
    chosen = os.environ.get("FREEFLOAT_CACHE_LIMIT", "")
    return int(float(chosen) * 1e6) if chosen.replace(".", "", 1).isdigit() else 1_000_000_000


def _shrink(folder: Path, limit: int) -> None:
    """Remove abandoned unfinished files, then the entries used longest ago, until a tenth of the size limit is free."""
    files = []
    with os.scandir(folder) as scan:
        for entry in scan:
            with contextlib.suppress(FileNotFoundError):  # another process removes too
                facts = entry.stat(follow_symlinks=False)
                if entry.name.endswith(SUFFIX):
                    files.append((facts, entry.path))
                elif entry.name.endswith(_UNFINISHED) and facts.st_mtime < time.time() - _ABANDONED:
                    Path(entry.path).unlink(missing_ok=True)
    total = sum(facts.st_size for facts, _ in files)
    if total <= limit:
        return
    for facts, path in sorted(files, key=lambda file: file[0].st_mtime_ns):
        if total <= 0.9 * limit:
            return
        Path(path).unlink(missing_ok=True)
        total -= facts.st_size


def entries() -> list[Path]:
    """Paths of all entries of the cache."""
    folder = directory()
    return [] if folder is None else sorted(folder.glob(f"*{SUFFIX}"))


def clear() -> int:
    """Remove every entry; returns their number."""
    found, folder = entries(), directory()
    for path in [*found, *(folder.glob(f"*{_UNFINISHED}") if folder else ())]:
        path.unlink(missing_ok=True)
    return len(found)

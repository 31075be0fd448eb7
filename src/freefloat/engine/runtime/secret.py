"""A secret of the user: compiled code on disk is signed with it, so that nobody else can leave any for us to run.

It stands apart from the cache: a cache that was unpacked from somebody's archive brings no secret with it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
from functools import cache
from pathlib import Path

_LENGTH = 32  # bytes


def secret_file() -> Path | None:
    """Where the secret is: in the user's configuration directory; None for a user without a home."""
    chosen = os.environ.get("XDG_CONFIG_HOME")
    try:
        return Path(chosen or Path.home() / ".config") / "freefloat" / "cache.key"
    except RuntimeError:
        return None


def user_secret() -> bytes | None:
    """The secret, made when it is first asked for; None where there can be none."""
    path = secret_file()
    return None if path is None else _secret_at(path)


@cache
def _secret_at(path: Path) -> bytes | None:
    if not os.path.lexists(path):
        with contextlib.suppress(OSError):
            _make(path)
    found = read_own_file(path, _LENGTH, private=True)
    return found if found is not None and len(found) == _LENGTH else None


def _make(path: Path) -> None:
    """Write it beside its place first: of several processes that do so one succeeds, and the others take its secret."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent)  # for the user only
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(_LENGTH))
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def read_own_file(path: Path, most: int, *, private: bool = False) -> bytes | None:
    """A plain file of the user's, read to `most` bytes; None for links, pipes, others' files and, if it shall be
    private, files that others may read or write."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        facts = os.fstat(file.fileno())
        others = stat.S_IRWXG | stat.S_IRWXO if private else stat.S_IWGRP | stat.S_IWOTH
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & others:
            return None
        if facts.st_size > most:
            return None
        with contextlib.suppress(OSError):
            os.utime(file.fileno())  # used last: the oldest go first
        return file.read()

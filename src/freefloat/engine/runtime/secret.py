"""A secret of the user: compiled code on disk is signed with it, so that code from other users is not run.

It is not in the cache's directory: a cache unpacked from another user's archive does not contain the secret.
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
    """Path of the secret, in the user's configuration directory; None for a user without a home."""
    chosen = os.environ.get("XDG_CONFIG_HOME")
    try:
        return Path(chosen or Path.home() / ".config") / "freefloat" / "cache.key"
    except RuntimeError:
        return None


def user_secret() -> bytes | None:
    """Secret of the user, made when it is first needed; None where it cannot be made."""
    path = secret_file()
    return None if path is None else _secret_at(path)


@cache
def _secret_at(path: Path) -> bytes | None:
    if not os.path.lexists(path):
        with contextlib.suppress(OSError):
            _write_secret(path)
    found = read_own_file(path, _LENGTH, private=True)
    return found if found is not None and len(found) == _LENGTH else None


def _write_secret(path: Path) -> None:
    """Write a new secret through a temporary file: one of several processes succeeds, and the others use its secret."""
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
    """Content of the user's own plain file of at most `most` bytes; None for links, pipes, files of other users and, if
    `private`, files that others may read or write."""
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
            os.utime(file.fileno())  # marks the file as used now: the oldest are removed first
        return file.read()

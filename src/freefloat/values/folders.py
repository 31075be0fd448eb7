"""Folders that are replaced as a whole or not at all, and reserved before the work for them begins."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

_PARTIAL = re.compile(r"\.(?P<name>.+)\.(?P<process>\d+)\.partial")
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux: two names change places in one step


@contextmanager
def claimed_folder(folder: Path) -> Iterator[None]:
    """Make the folder and check that files can be written; if the work puts nothing in it, all is as before."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(folder.resolve())
    fresh = _partial_folder(folder.resolve())
    fresh.mkdir()
    try:
        (fresh / "claim").write_bytes(b"x" * 4096)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # something is in it
            for path in made:
                path.rmdir()


def free_bytes(folder: Path) -> int:
    """Free space on the disk of a folder [B]."""
    return shutil.disk_usage(folder).free


@contextmanager
def replaced_folder(folder: Path, *, last: str, without: Collection[str] = ()) -> Iterator[Path]:
    """A temporary folder for new files; with the other files of the old one they replace it when all are written.

    Names in `without` are not taken over from the old folder. Where a folder cannot change places with another (the
    current directory, a mounted disk) its files are replaced one by one; `last` is absent until all others are there.
    """
    folder = folder.resolve()
    fresh = _partial_folder(folder)
    fresh.mkdir()
    try:
        shutil.copymode(folder, fresh)
        yield fresh
        if not _exchange_folders(fresh, folder, without):
            _replace_files(fresh, folder, last, without)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _partial_folder(folder: Path) -> Path:
    """Folder for the new files: on the same disk, beside the folder or, where that cannot be, in it."""
    outside = folder.parent if _can_move(folder) else folder
    return outside / f".{folder.name}.{os.getpid()}.partial"


def _can_move(folder: Path) -> bool:
    """Whether another folder may take the place of this one: it is neither in use nor a mounted disk."""
    here = Path.cwd()
    return not (
        folder == here or folder in here.parents or folder.is_mount() or not os.access(folder.parent, os.W_OK | os.X_OK)
    )


def _exchange_folders(fresh: Path, folder: Path, without: Collection[str]) -> bool:
    """Exchange both folders, after the new one got the other files of the old one; False if that is impossible."""
    if not _can_move(folder):
        return False
    if not any(folder.iterdir()):
        fresh.replace(folder)  # an empty folder gives way in one step
        return True
    _link_others(folder, fresh, without)
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    here = ctypes.c_int(-100)  # AT_FDCWD: paths as they are
    return rename is not None and rename(here, os.fsencode(fresh), here, os.fsencode(folder), _EXCHANGE) == 0


def _link_others(old: Path, new: Path, without: Collection[str]) -> None:
    """Link the files of the old folder that the new one does not have: a second name for the same content."""
    for path in old.iterdir():
        target = new / path.name
        if path.name in without or target.exists() or _PARTIAL.fullmatch(path.name):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, target, symlinks=True, copy_function=_link)
        else:
            _link(path, target)


def _link(source: str | Path, target: str | Path) -> str:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # a disk without links
        shutil.copy2(source, target, follow_symlinks=False)
    return str(target)


def _replace_files(fresh: Path, folder: Path, last: str, without: Collection[str]) -> None:
    for name in (last, *without):
        (folder / name).unlink(missing_ok=True)
    for path in sorted(fresh.iterdir(), key=lambda path: path.name == last):
        if not path.is_dir():  # what was linked is there already
            path.replace(folder / path.name)


def _remove_abandoned(folder: Path) -> None:
    """Remove what processes that were killed had begun to write; the folder itself was not touched by them."""
    for path in (*folder.parent.glob(f".{folder.name}.*.partial"), *folder.glob(f".{folder.name}.*.partial")):
        found = _PARTIAL.fullmatch(path.name)
        if found and found["name"] == folder.name and not _is_running(int(found["process"])):
            shutil.rmtree(path, ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # a process of another user
        return True
    return True

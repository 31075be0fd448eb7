"""Folders change as a whole or not at all, and nothing else in them is lost."""

import os
from pathlib import Path

import pytest

from freefloat.values import folders
from freefloat.values.folders import claimed_folder, replaced_folder


def _contents(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a run of before, and things of the user's."""
    made = tmp_path / "run"
    (made / "figures").mkdir(parents=True)
    for name in ("data", "seal", "page", "notes.txt", "figures/a.png"):
        (made / name).write_text(f"old {name}")
    (made / "link").symlink_to("notes.txt")
    return made


def _replace(folder: Path) -> None:
    with replaced_folder(folder, last="seal", without=("data", "seal", "page")) as fresh:
        (fresh / "data").write_text("new data")
        (fresh / "seal").write_text("new seal")


NEW = {
    "data": "new data",
    "seal": "new seal",
    "notes.txt": "old notes.txt",
    "figures/a.png": "old figures/a.png",
    "link": "old notes.txt",
}


def test_what_is_new_comes_what_is_old_goes_and_what_is_others_stays(folder: Path) -> None:
    folder.chmod(0o750)
    _replace(folder)
    assert _contents(folder) == NEW
    assert folder.stat().st_mode & 0o777 == 0o750
    assert (folder / "link").is_symlink()
    assert list(folder.parent.iterdir()) == [folder]


@pytest.mark.parametrize("way", ["no exchange", "current directory", "file by file"])
def test_the_same_where_folders_cannot_change_places(way: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "no exchange":
        monkeypatch.setattr(folders.ctypes, "CDLL", lambda *_, **__: object())
    elif way == "current directory":
        monkeypatch.chdir(folder)
    else:
        monkeypatch.setattr(folders, "_can_move", lambda folder: False)
    inode = folder.stat().st_ino
    _replace(folder)
    assert folder.stat().st_ino == inode
    assert _contents(folder) == NEW
    assert not list(folder.parent.rglob("*.partial"))


def test_while_files_are_replaced_one_by_one_the_seal_is_away(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    original = Path.replace

    def replace(self: Path, target: Path) -> Path:
        seen.append((target.name, (folder / "seal").exists()))
        return original(self, target)

    monkeypatch.setattr(folders, "_can_move", lambda folder: False)
    monkeypatch.setattr(Path, "replace", replace)
    _replace(folder)
    assert seen == [("data", False), ("seal", False)]


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_fails_half_way_leaves_the_old_one_whole(fault: BaseException, folder: Path) -> None:
    before = _contents(folder)

    def write(fresh: Path) -> None:
        (fresh / "data").write_text("half")
        raise fault

    with pytest.raises(type(fault)), replaced_folder(folder, last="seal") as fresh:
        write(fresh)
    assert _contents(folder) == before
    assert list(folder.parent.iterdir()) == [folder]


def test_a_claim_leaves_no_trace_if_nothing_comes_of_it(tmp_path: Path) -> None:
    with claimed_folder(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").is_dir()
    assert not list(tmp_path.iterdir())
    with claimed_folder(tmp_path / "c"):
        (tmp_path / "c" / "kept").write_text("x")
    assert (tmp_path / "c" / "kept").exists()


def test_a_place_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "in"):
        with pytest.raises(OSError, match=r"exists|Not a directory"), claimed_folder(place):
            pytest.fail("the work began")


def test_what_killed_processes_left_is_removed_with_the_next_claim(folder: Path) -> None:
    dead = folder.parent / ".run.999999999.partial"
    alive = folder.parent / f".run.{os.getppid()}.partial"
    others = folder.parent / ".run.b.999999999.partial"
    for path in (dead, alive, others):
        path.mkdir()
    with claimed_folder(folder):
        assert not dead.exists()
    assert alive.exists()
    assert others.exists()

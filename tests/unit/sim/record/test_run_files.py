"""Run files that changed on the way, or that somebody made to do harm: said, and nothing else is read or run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import freefloat as ff
from freefloat.sim import Run
from freefloat.values.checksums import append_checksum, has_checksum, remove_checksum
from support.recorded import made_up

DATA = Path(__file__).parents[3] / "data"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_up(40, 2).save(tmp_path_factory.mktemp("runs") / "run.nc")


def _changed(file: Path, tmp_path: Path, change: Callable[[h5py.File], None]) -> Path:
    """A copy that a hostile hand changed, with a checksum that fits."""
    copy = tmp_path / "changed.nc"
    copy.write_bytes(file.read_bytes())
    remove_checksum(copy)
    with h5py.File(copy, "r+") as opened:
        change(opened)
    append_checksum(copy)
    return copy


def test_120_flipped_bits_are_all_said(file: Path, tmp_path: Path, rng: np.random.Generator) -> None:
    """Anywhere: in numbers, names, structure, padding, or in the checksum itself."""
    whole, copy = file.read_bytes(), tmp_path / "flipped.nc"
    places = [*rng.integers(8 * len(whole), size=100), *(8 * len(whole) - 1 - rng.integers(8 * 88, size=20))]
    for place in places:
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        copy.write_bytes(damaged)
        with pytest.raises(ValueError, match="has changed since it was written"):
            Run.load(copy)


def test_a_file_that_is_cut_short_or_grows_is_said(file: Path, tmp_path: Path) -> None:
    whole, copy = file.read_bytes(), tmp_path / "cut.nc"
    for content in (whole[:-1], whole[: len(whole) // 2], whole + b"\0", b"", whole[:-88]):
        copy.write_bytes(content)
        with pytest.raises(ValueError, match=r"changed since|not a readable"):
            Run.load(copy)


def test_other_programs_read_it_and_their_changes_are_read_where_permitted(file: Path, tmp_path: Path) -> None:
    assert has_checksum(file)
    with xarray.open_dataset(file, engine="h5netcdf") as data:
        data.load().to_netcdf(tmp_path / "theirs.nc", engine="h5netcdf")
    with pytest.raises(ValueError, match="its checksum is gone"):
        Run.load(tmp_path / "theirs.nc")
    assert Run.load(tmp_path / "theirs.nc", changed=True).status == "completed"


def test_runs_from_before_checksums_are_read() -> None:
    assert not has_checksum(DATA / "run_format_2.nc")
    assert Run.load(DATA / "run_format_2.nc").completed


def _external(opened: h5py.File, secret: Path) -> None:
    opened.create_dataset("stolen", (16,), np.uint8, external=[(str(secret), 0, 16)])


def _virtual(opened: h5py.File, secret: Path) -> None:
    layout = h5py.VirtualLayout((16,), np.float64)
    layout[:] = h5py.VirtualSource(str(secret), "values", (16,))
    opened.create_virtual_dataset("stolen", layout)


def _external_link(opened: h5py.File, secret: Path) -> None:
    opened["stolen"] = h5py.ExternalLink(str(secret), "/values")


def _soft_link(opened: h5py.File, secret: Path) -> None:
    opened["stolen"] = h5py.SoftLink("/channel.0")


def _group(opened: h5py.File, secret: Path) -> None:
    opened.create_group("stolen")


def _bomb(opened: h5py.File, secret: Path) -> None:
    opened.create_dataset("stolen", (10**12,), np.float64, chunks=(1024,))


@pytest.mark.parametrize("attack", [_external, _virtual, _external_link, _soft_link, _group, _bomb])
def test_nothing_outside_the_file_is_read(attack: Any, file: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"root:x:0:0:root\n")
    if attack in (_virtual, _external_link):
        secret.unlink()
        with h5py.File(secret, "w") as opened:
            opened["values"] = np.arange(16.0)
    hostile = _changed(file, tmp_path, lambda opened: attack(opened, secret))
    with pytest.raises(ValueError, match="'stolen'"):
        Run.load(hostile)


_FACTS = ("audit", "scenario", "claims", "versions", "events", "status")
_WRONG = (None, True, 7, -1.5, "word", [], {}, [1], [[]], [{}], {"entries": 3}, {"entries": [{}], "reason": "x"})


@pytest.mark.parametrize("fact", _FACTS)
@pytest.mark.parametrize("wrong", _WRONG, ids=str)
def test_facts_of_the_wrong_type_get_a_sentence(fact: str, wrong: Any, file: Path, tmp_path: Path) -> None:
    """They are read, where they make sense, or refused by name; a page is made of what is read."""

    def change(opened: h5py.File) -> None:
        opened.attrs[fact] = json.dumps(wrong)

    _read_or_refuse(_changed(file, tmp_path, change), tmp_path, fact)


@pytest.mark.parametrize("wrong", [b"\xff\xfe", 7, np.arange(3), "{", "[" * 5000], ids=["bytes", "7", "3", "{", "deep"])
def test_facts_that_are_no_json_get_a_sentence(wrong: Any, file: Path, tmp_path: Path) -> None:
    hostile = _changed(file, tmp_path, lambda opened: opened.attrs.__setitem__("audit", wrong))
    with pytest.raises(ValueError, match=r"changed\.nc"):
        Run.load(hostile)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=25, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_fuzzed_run_files_are_read_or_refused(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """One place of the JSON of a real run becomes something else; its page is made, or the file is refused."""
    folder = tmp_path_factory.mktemp("fuzzed")
    whole = DATA / "run_format_2.nc"

    def change(opened: h5py.File) -> None:
        name = data.draw(st.sampled_from((*_FACTS[:5], "scene", "description")))
        place = opened.get(name)
        text = place[()].decode() if place is not None else str(opened.attrs.get(name, "[]"))
        damaged = json.dumps(_damaged(json.loads(text), data))
        if place is None:
            opened.attrs[name] = damaged
        else:
            place[()] = damaged

    _read_or_refuse(_changed(whole, folder, change), folder, "")


def _damaged(tree: Any, data: st.DataObject) -> Any:
    """The same tree with one branch replaced."""
    if not isinstance(tree, (list, dict)) or not tree or data.draw(st.integers(0, 5)) == 0:
        return data.draw(_JSON)
    keys = sorted(tree) if isinstance(tree, dict) else range(len(tree))
    key = data.draw(st.sampled_from(list(keys)))
    tree[key] = _damaged(tree[key], data)
    return tree


def _read_or_refuse(hostile: Path, folder: Path, fact: str) -> None:
    try:
        run = Run.load(hostile)
    except ValueError as fault:
        assert "changed.nc" in str(fault)  # noqa: PT017 (it may be read as well)
        assert fact in str(fault)  # noqa: PT017
        return
    repr(run), str(run.audit), run.verdict, run.conditions, str(run.events)
    try:
        ff.page(hostile, folder / "page.html")
    except ValueError as fault:
        assert "cannot be shown" in str(fault)  # noqa: PT017

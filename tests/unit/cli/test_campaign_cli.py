"""`freefloat campaign` as a user calls it, on a small campaign of their own."""

import json
import re
from pathlib import Path

import pytest

from freefloat.cli import main
from support import pushed_craft


@pytest.fixture
def call(monkeypatch, capsys):
    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["freefloat", "campaign", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        return int(ended.value.code or 0), told.out, told.err

    return run


def test_run_status_replay_page(call, tmp_path):
    file, folder = pushed_craft.files(tmp_path), tmp_path / "kept"
    status, out, _ = call("run", file, "--out", folder, "--runs", 40, "--target", "native")
    assert status == 0
    assert "40 runs, 40 completed" in out
    assert "slow: " in out
    page = (folder / "page.html").read_text()
    assert "Content-Security-Policy" in page
    assert f"freefloat campaign replay {folder} RUN" in page
    status, out, _ = call("status", folder, "--json")
    told = json.loads(out)
    assert (status, told["done"], told["damaged"], told["counts"]["completed"]) == (0, 3, [], 40)
    assert told["requirements"]["slow"]["runs"] == 40
    status, out, _ = call("replay", folder, 7)
    assert status == 0
    assert (folder / "replays" / "00000007" / "page.html").exists()
    assert call("replay", folder, 7)[0] == 2  # it is there already
    assert call("page", folder)[0] == 2
    assert call("page", folder, "--force")[0] == 0
    assert call("resume", folder)[0] == 0


def test_shards_and_merge(call, tmp_path):
    file = pushed_craft.files(tmp_path, runs=48)
    for part in (1, 2):
        assert call("run", file, "--out", tmp_path / f"part{part}", "--shard", f"{part}/2")[0] == 0
    status, out, _ = call("merge", tmp_path / "part1", "--out", tmp_path / "whole")
    assert status == 1
    assert "1 blocks are missing" in call("merge", tmp_path / "part1", "--out", tmp_path / "whole")[2]
    status, out, _ = call("merge", tmp_path / "part2", "--out", tmp_path / "whole")
    assert status == 0
    assert "48 of 48 runs" in out


def test_a_campaign_without_out_gets_a_folder_as_a_run_does(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = pushed_craft.files(tmp_path, runs=32)
    status, out, err = call("run", file, "--json")
    told = json.loads(out)
    (folder,) = (tmp_path / "runs").iterdir()
    assert (status, err) == (0, "")
    assert re.fullmatch(rf"{file.stem}-\d{{8}}-\d{{6}}", folder.name)
    assert told["files"] == {"campaign": f"runs/{folder.name}", "page": f"runs/{folder.name}/page.html"}
    assert told == json.loads(call("status", folder.relative_to(tmp_path), "--json")[1])


def test_a_campaign_is_replaced_only_by_force(call, tmp_path):
    file, folder = pushed_craft.files(tmp_path), tmp_path / "kept"
    assert call("run", file, "--out", folder, "--runs", 20)[0] == 0
    (folder / "replays" / "00000001").mkdir(parents=True)
    status, _, err = call("run", file, "--out", folder, "--runs", 16)
    assert status == 2
    assert "exists already. Choose another --out or add --force" in err
    assert f"freefloat campaign resume {folder}" in err
    assert call("run", file, "--out", folder, "--runs", 16, "--force", "--set", "nothing=1")[0] == 2
    assert kept_runs(call, folder) == 20  # the new one was impossible
    assert call("run", file, "--out", folder, "--runs", 16, "--force")[0] == 0
    assert kept_runs(call, folder) == 16
    assert not (folder / "replays").exists()
    (folder / "notes.txt").write_text("mine")
    status, _, err = call("run", file, "--out", folder, "--runs", 20, "--force")
    assert status == 2
    assert "holds 'notes.txt' besides a campaign" in err
    assert kept_runs(call, folder) == 16
    assert (folder / "notes.txt").read_text() == "mine"


def kept_runs(call, folder):
    """Number of runs of a campaign on disk, all of them finished."""
    status, out, _ = call("status", folder, "--json")
    assert status == 0
    return json.loads(out)["counts"]["completed"]


def test_shards_are_merged_with_the_options_of_a_run(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = pushed_craft.files(tmp_path, runs=32)
    for part in (1, 2):
        assert call("run", file, "--shard", f"{part}/2", "--quiet")[0] == 0
    parts = sorted((tmp_path / "runs").iterdir())
    assert [re.sub(r"-\d{8}-\d{6}", "", part.name) for part in parts] == [f"{file.stem}-{k}-of-2" for k in (1, 2)]
    status, out, _ = call("merge", *parts, "--json")
    told = json.loads(out)
    assert (status, told["done"], told["blocks"], told["counts"]["completed"]) == (0, 2, 2, 32)
    whole = Path(told["files"]["campaign"])
    assert whole.parent == Path("runs")
    other = tmp_path / "other"
    assert call("run", file, "--out", other, "--runs", 16)[0] == 0
    status, _, err = call("merge", *parts, "--out", other)
    assert status == 2
    assert "exists already, with another campaign. Choose another --out or add --force" in err
    assert call("merge", *parts, "--out", other, "--force")[0] == 0
    assert kept_runs(call, other) == 32
    assert call("merge", *parts, "--out", parts[0], "--force")[0] == 2  # it would remove what it merges
    assert call("merge", parts[0], other)[0] == 0


def test_shards_that_do_not_belong_together_change_nothing(call, tmp_path):
    file = pushed_craft.files(tmp_path)
    for name, runs in (("a", 16), ("b", 20), ("c", 17)):
        assert call("run", file, "--out", tmp_path / name, "--runs", runs)[0] == 0
    status, _, err = call("merge", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "c", "--force")
    assert status == 2
    assert "they cannot be merged" in err
    assert kept_runs(call, tmp_path / "c") == 17
    status, _, err = call("merge", tmp_path / "whole", tmp_path / "a")
    assert status == 2
    assert f"freefloat campaign merge {tmp_path / 'a'} --out {tmp_path / 'whole'}" in err


def test_damage_is_told(call, tmp_path):
    file, folder = pushed_craft.files(tmp_path), tmp_path / "kept"
    call("run", file, "--out", folder, "--runs", 20)
    chunk = folder / "draws" / "c" / "1" / "0"
    chunk.write_bytes(b"")
    status, _, err = call("status", folder)
    assert status == 1
    assert "Damaged since they were written: [1]" in err
    assert call("resume", folder)[0] == 0
    assert call("status", folder)[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "ets7-nothing", "--out", "x"), "comes with dispersions"),
        (("run", "missing.toml", "--out", "x"), "There is no campaign file"),
        (("status", "nowhere"), "There is no campaign in nowhere"),
        (("run", "ets7-capture", "--out", "x", "--shard", "2"), "written i/N"),
    ],
)
def test_errors_are_sentences(call, words, said):
    status, _, err = call(*words)
    assert status == 2
    assert said in err

"""`freefloat campaign` as a user calls it, on a small campaign of their own."""

import json

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
    status, out, _ = call("merge", tmp_path / "whole", tmp_path / "part1")
    assert status == 1
    assert "1 blocks are missing" in call("merge", tmp_path / "whole", tmp_path / "part1")[2]
    status, out, _ = call("merge", tmp_path / "whole", tmp_path / "part2")
    assert status == 0
    assert "48 of 48 runs" in out


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

"""How much is recorded is known before the run, and bounded unless somebody asks for more."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

import freefloat as ff
from freefloat.scenarios import runner as performance
from freefloat.scenarios.goddard import GoddardSymmetric
from freefloat.sim.record.record_size import RecordTooLarge, in_words

HUB = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0))


def test_the_estimate_is_what_is_written(tmp_path: Path) -> None:
    with pytest.raises(RecordTooLarge) as refused:
        ff.simulate(HUB, duration=20.0, record_dt=0.01, most_bytes=1000.0)
    run = ff.simulate(HUB, duration=20.0, record_dt=0.01, most_bytes=1.01 * refused.value.size)
    written = run.save(tmp_path / "run.nc").stat().st_size
    assert refused.value.size == pytest.approx(written, rel=0.1)  # beside the numbers: names, units, the scene


def test_a_run_of_many_gigabytes_is_refused_at_once_with_what_to_do() -> None:
    with pytest.raises(RecordTooLarge, match=r"GB: 100000001 instants .* --max-gb"):
        ff.simulate(HUB, duration=1e6, record_dt=0.01)


def test_no_room_on_the_disk_is_said_before_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = replace(GoddardSymmetric(), duration=0.1)
    monkeypatch.setattr(performance, "free_bytes", lambda folder: 10_000_000)
    with pytest.raises(OSError, match="there is room for 0 B"):
        performance.run_scenario(short, "custom", tmp_path / "out", "native", lambda title: nullcontext())
    assert not (tmp_path / "out").exists()


def test_a_run_that_its_folder_cannot_take_goes_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(run: ff.Run, folder: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(performance, "save_run", full)
    monkeypatch.setattr(performance.tempfile, "tempdir", str(tmp_path))
    short = replace(GoddardSymmetric(), duration=0.1)
    with pytest.raises(OSError, match=r"No space left .* The run is in .*run\.nc"):
        performance.run_scenario(short, "custom", tmp_path / "out", "native", lambda title: nullcontext())
    (kept,) = tmp_path.glob("freefloat-*/run.nc")
    assert ff.Run.load(kept).completed


def test_sizes_are_said_as_people_say_them() -> None:
    assert [in_words(size) for size in (5.0, 2.5e3, 4.61e6, 4.61e9)] == ["5 B", "2.5 kB", "4.61 MB", "4.61 GB"]

"""Files for other programs, read back with their own readers."""

import csv
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from freefloat.report.foxglove import _transform, to_mcap
from freefloat.report.paper import figures
from freefloat.report.tabular import to_csv, to_parquet
from freefloat.sim import Run


def test_csv_keeps_every_digit(gjm_run: Run, tmp_path: Path) -> None:
    (path,) = to_csv(gjm_run, tmp_path / "run.csv")
    with path.open() as file:
        heading, *rows = csv.reader(file)
    column = heading.index("joints.rate.arm.3 [rad/s]")
    assert heading[0] == "time [s]"
    assert [float(row[column]) for row in rows] == gjm_run["joints.rate"].values[:, 2].tolist()


def test_parquet_carries_units(gjm_run: Run, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    (path,) = to_parquet(gjm_run, tmp_path / "run.parquet")
    table = parquet.read_table(path)
    assert table.schema.field("base.position.x").metadata[b"unit"] == b"m"
    assert np.array_equal(table["energy.kinetic"].to_numpy(), gjm_run["energy.kinetic"].values)


def test_mcap_has_channels_transforms_and_the_spacecraft(gjm_run: Run, tmp_path: Path) -> None:
    reader = pytest.importorskip("mcap.reader")
    (path,) = to_mcap(gjm_run, tmp_path / "run.mcap")
    found: dict[str, list[dict]] = {}
    with path.open("rb") as file:
        for schema, channel, message in reader.make_reader(file).iter_messages():
            found.setdefault(channel.topic, []).append({"schema": schema.name, **json.loads(message.data)})
    assert len(found["/base/roll_pitch_yaw"]) == 441
    assert found["/base/roll_pitch_yaw"][-1]["pitch"] == gjm_run["base.roll_pitch_yaw"].values[-1, 1]
    assert found["/tf"][0]["schema"] == "foxglove.FrameTransforms"
    assert {t["child_frame_id"] for t in found["/tf"][0]["transforms"]} == set(gjm_run.data["body"].values)
    assert len(found["/scene"][0]["entities"]) == 7


def test_a_transform_has_its_scalar_last() -> None:
    """Ours is first."""
    still, turned = np.array([[[1.0, 2.0, 3.0]]]), np.array([[[0.6, 0.0, 0.0, 0.8]]])
    scene = SimpleNamespace(bodies=("hub",), position=still, attitude=turned)
    told = _transform(scene, 0, 0, 1_500_000_000)
    assert told["translation"] == {"x": 1.0, "y": 2.0, "z": 3.0}
    assert told["rotation"] == {"x": 0.0, "y": 0.0, "z": 0.8, "w": 0.6}
    assert told["timestamp"] == {"sec": 1, "nsec": 500_000_000}


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_figures_for_papers(gjm_run: Run, tmp_path: Path, kind: str) -> None:
    pytest.importorskip("matplotlib")
    first = figures([gjm_run], tmp_path / "a", kind)
    again = figures([gjm_run], tmp_path / "b", kind)
    assert [path.stem for path in first][:2] == ["base.roll_pitch_yaw", "hand.position_error"]
    assert first[0].read_bytes() == again[0].read_bytes()


def test_a_channel_that_is_not_there_is_named(gjm_run: Run, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no channel 'hand\.color' to draw"):
        figures([gjm_run], tmp_path, "png", ["hand.color"])

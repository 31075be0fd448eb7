"""`freefloat rehearse`: the folder that it writes, facilities from words and files, and what it refuses."""

import json

import pytest
from typer.testing import CliRunner

import freefloat as ff
from freefloat.cli.app import app
from freefloat.hil import read_log
from freefloat.hil.cell import IdealCell
from freefloat.report.cell_view import cell_view
from freefloat.scenarios import find
from freefloat.scenarios.facility_choice import choose_facility

SHORT = ["--set", "duration=0.2"]
FREE = find("envisat-free").variants()["paper"]


def rehearse(*words):
    return CliRunner().invoke(app, ["rehearse", "envisat-free", *SHORT, *words], catch_exceptions=True)


def test_the_folder_has_run_log_and_page(tmp_path) -> None:
    out = tmp_path / "cell"
    done = rehearse("--facility", "ideal", "--out", str(out), "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["status"] == "completed"
    run = ff.Run.load(out / "run.nc")
    assert run.scenario["scenario"] == "envisat-free"
    assert [table.title for table in run.description.tables][-1] == "Rehearsal against simulation"
    assert len(read_log(out / "cycles.log").rows) == 51
    assert "Workspace used" in (out / "page.html").read_text()
    assert cell_view(run) is None  # an ideal cell has no robots to be seen
    assert "GO" in (out / "verdict.html").read_text()
    again = rehearse("--facility", "ideal", "--out", str(out))
    assert isinstance(again.exception, FileExistsError)
    assert "cycles.log" in str(again.exception)


def verdict(folder):
    done = CliRunner().invoke(app, ["verdict", str(folder), "--json"], catch_exceptions=True)
    return done, json.loads(done.output) if done.output.startswith("{") else {}


def test_a_verdict_is_judged_again_from_its_folder_and_a_changed_file_is_named(tmp_path) -> None:
    out = tmp_path / "cell"
    done = rehearse("--facility", "ideal", "--out", str(out), "--quiet", "--accept", "workspace=0.5")
    assert done.exit_code == 0, done.output
    assert "GO: all" in done.output
    kept = json.loads((out / "verdict.json").read_text())
    assert {
        "run.nc",
        "cycles.log",
        "simulation.nc",
        "scenario.toml",
        "settings",
        "facility",
        "criteria",
        "code",
    } == set(kept["signature"]["hashes"])
    assert kept["signature"]["command"] == (
        "freefloat rehearse envisat-free --facility ideal --set duration=0.2 --accept workspace=0.5 --out FOLDER"
    )
    assert {"freefloat", "python", "numpy", "jax"} <= set(kept["signature"]["versions"])
    done, again = verdict(out)
    assert (done.exit_code, again["same"], again["criteria"]) == (0, True, kept["criteria"])
    log = bytearray((out / "cycles.log").read_bytes())
    log[-100] ^= 1
    (out / "cycles.log").write_bytes(bytes(log))
    done, again = verdict(out)
    assert (done.exit_code, again["same"], again["changed"]) == (3, False, ["cycles.log"])
    assert "faults" in again["otherwise"]  # its checksum does not fit any more
    (out / "simulation.nc").unlink()
    assert "lacks simulation.nc" in str(verdict(out)[0].exception)
    (out / "verdict.json").write_text("{}")
    assert "is no complete verdict" in str(verdict(out)[0].exception)
    assert "There is no verdict" in str(verdict(tmp_path)[0].exception)


def test_limits_of_a_go_are_checked_before_anything_moves(tmp_path) -> None:
    out = ("--out", str(tmp_path / "cell"), "--facility", "ideal")
    assert "no limit 'speed' of a go. Limits: joint_range" in str(rehearse(*out, "--accept", "speed=1").exception)
    assert "Acceptance.mass" in str(rehearse(*out, "--accept", "mass=-1").exception)
    assert not (tmp_path / "cell").exists()


def test_one_that_cannot_begin_gets_its_verdict(tmp_path) -> None:
    file = tmp_path / "far.py"
    file.write_text(
        "from freefloat.hil.cell import IdealCell, ideal_robot\n"
        "from freefloat.values import ModelError\n"
        "class Far(IdealCell):\n"
        "    def start(self, commands):\n"
        "        raise ModelError(\"The first pose of 'client' is out of reach\")\n"
        "arm = tuple(f'arm.{k}' for k in range(1, 8))\n"
        "facility = Far(['client', ideal_robot('servicer', arm_joints=arm)], cycle=4e-3)\n"
    )
    done = rehearse("--facility", str(file), "--out", str(tmp_path / "cell"), "--quiet")
    assert done.exit_code == 1
    assert "NO-GO" in done.output
    assert "out of reach" in done.output
    assert "The workspace is too small" in (tmp_path / "cell" / "verdict.html").read_text()


@pytest.mark.slow
def test_a_facility_from_a_python_file(tmp_path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from freefloat.hil.cell import IdealCell, ideal_robot\n"
        "from freefloat.hil.faulty import FaultyFacility\n"
        "arm = tuple(f'arm.{k}' for k in range(1, 8))\n"
        "def facility():\n"
        "    cell = IdealCell(['client', ideal_robot('servicer', arm_joints=arm)], cycle=4e-3)\n"
        "    return FaultyFacility(cell, 'protective stop', 520)  # 500 cycles of test motion come first\n"
    )
    done = rehearse("--facility", str(file), "--out", str(tmp_path / "cell"), "--quiet")
    assert done.exit_code == 1
    assert "stopped at 0.08 s: the facility stopped: protective stop" in done.output
    assert ff.Run.load(tmp_path / "cell" / "run.nc").stopped


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("magic", None, r"no facility 'magic'. Choose one of: virtual, ideal"),
        ("gone.py", None, "There is no facility file"),
        ("empty.py", "x = 1\n", "must define facility"),
        ("broken.py", "1 / 0\n", "ZeroDivisionError"),
        ("which.toml", "cell = 'moon'\n", "must say which cell it is: cell = one of envisat, goddard"),
        ("more.toml", "cell = 'envisat'\nrobots = 3\n", "no use for 'robots'"),
        ("wrong.toml", "cell = 'envisat'\n[settings]\ncycle = -1.0\n", "CellSettings.cycle must be positive"),
        ("unknown.toml", "cell = 'envisat'\n[settings]\nspeed = 1.0\n", "settings.speed"),
        ("bad.toml", "cell = \n", "is not valid TOML"),
    ],
)
def test_a_facility_that_cannot_be_is_refused(name, content, message, tmp_path) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_text(content)
    with pytest.raises(ValueError, match=message):
        choose_facility(name if "." not in name else str(file), FREE)


def test_a_virtual_cell_from_a_toml_file(tmp_path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "cell.toml"
    file.write_text("cell = 'envisat'\n[settings]\ncycle = 0.004\nservo = { lag = 'second', bandwidth = 5.0 }\n")
    made = choose_facility(str(file), FREE)
    assert made.bandwidth == 5.0
    assert made.cycle == 0.004


def test_what_names_no_robots_is_not_rehearsed() -> None:
    done = CliRunner().invoke(app, ["rehearse", "ets7-gjm", "--out", "nowhere"], catch_exceptions=True)
    assert "names no robots to rehearse it with. Those that do: " in str(done.exception)
    assert "envisat-free" in str(done.exception)


def test_the_cell_is_seen_where_it_can_be() -> None:
    class Drawn(IdealCell):
        def parts(self):
            from freefloat.hil.facility import CellPart
            from freefloat.model.shapes import Shape

            return (CellPart("ball", "client", Shape.ball((0.0, 0.0, 0.0), 0.1)),)

        def poses(self):
            return {name: (one.position, one.quaternion) for name, one in self._last.robots.items()}

    ideal = choose_facility("ideal", FREE)
    made = FREE.with_settings({"duration": 0.2}).rehearsal()
    view = cell_view(ff.rehearse(made, Drawn(ideal.robots, cycle=4e-3)))
    assert view is not None
    assert view.scene["bodies"][0]["name"] == "client"
    assert view.values("bodies.position").shape == (len(view.values("time")), 1, 3)
    assert not any(name.startswith("servicer.") for name in view.channels)

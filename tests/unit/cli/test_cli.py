"""The command line as a user meets it."""

import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray

from freefloat import engine
from freefloat.cli import main
from freefloat.scenarios import SCENARIOS
from freefloat.scenarios.runner import simulate_variant
from freefloat.scenarios.settings import settings_of
from freefloat.sim import Run, RunFailed
from support.recorded import made_up

URDF = """<robot name="probe"><link name="bus"><inertial><mass value="100"/>
<inertia ixx="20" iyy="20" izz="20" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def freefloat(*words: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a command in this process; returns its exit status."""
    monkeypatch.setattr(sys, "argv", ["freefloat", *words])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


def test_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['freefloat', '--help']\n"
        "from freefloat.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'jax', 'xarray', 'mujoco', 'viser', 'numpy', 'bokeh', 'k3d'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Simulate, control and rehearse" in done.stdout


def test_python_dash_m_is_the_same():
    done = subprocess.run([sys.executable, "-m", "freefloat", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip()


def test_run_writes_everything_and_does_not_overwrite(tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    words = ("run", "goddard-symmetric", "--out", str(out), "--set", "duration=1", "--set", "hub_mass=40")
    assert freefloat(*words, "--json", monkeypatch=monkeypatch) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["ok"]
    assert summary["variant"] == "custom"
    assert (out / "run.nc").exists()
    settings = tomllib.loads((out / "scenario.toml").read_text())
    assert settings["scenario"] == "goddard-symmetric"
    assert settings["hub_mass"] == 40.0
    assert freefloat(*words, monkeypatch=monkeypatch) == 2
    assert "--force" in capsys.readouterr().err
    # The resolved scenario runs again as it is.
    again = ("run", str(out / "scenario.toml"), "--out", str(tmp_path / "again"), "--json")
    assert freefloat(*again, monkeypatch=monkeypatch) == 0
    assert json.loads(capsys.readouterr().out)["audit"] == summary["audit"]


def test_claims_speak_json(monkeypatch, capsys):
    assert freefloat("claims", "goddard-symmetric", "--json", monkeypatch=monkeypatch) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 15
    wanted = {
        "scenario", "variant", "claim", "kind", "source", "relation", "reference", "ours", "unit", "tolerance", "holds",
    }  # fmt: skip
    assert all(wanted <= set(row) for row in rows)
    assert all(row["holds"] for row in rows if row["relation"] != "not reproduced")
    assert all(row["reason"] for row in rows if row["relation"] == "not reproduced")
    assert {row["kind"] for row in rows} == {"printed", "exact"}


def test_a_run_that_fails_or_a_claim_that_does_not_hold_shows_in_the_exit_code(tmp_path, monkeypatch, capsys):
    run = made_up(3, 1)

    def fails(*_, **__):
        raise RunFailed("The run stopped: planted.", run)

    monkeypatch.setattr("freefloat.cli.claims.simulate_variant", fails)
    assert freefloat("claims", "goddard-symmetric", "--json", monkeypatch=monkeypatch) == 1
    said = capsys.readouterr()
    assert json.loads(said.out) == []
    assert "goddard-symmetric (50-kg): The run stopped: planted." in said.err
    for ok, code in ((True, 0), (False, 1)):
        kept = SimpleNamespace(run=run, summary={"ok": ok}, faults=[])
        monkeypatch.setattr("freefloat.cli.run.run_scenario", lambda *_, kept=kept, **__: kept)
        words = ("run", "goddard-symmetric", "--out", str(tmp_path / f"{code}"), "--json")
        assert freefloat(*words, monkeypatch=monkeypatch) == code


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "goddard", "--out", "x"), "There is no scenario 'goddard'. Did you mean"),
        (("run", "ets7-gjm", "--out", "x", "--set", "dration=3"), "no setting 'dration'"),
        (("run", "ets7-gjm", "--out", "x", "--set", "duration"), "not a setting"),
        (("run", "ets7-gjm", "--out", "x", "--set", "duration=-3"), "duration must be > 0 s, got -3"),
        (("run", "ets7-gjm", "--out", "x", "--set", "dt=nan"), "dt must be a finite number [s], got nan"),
        (("run", "ets7-gjm", "--out", "x", "--set", "craft.base.maas=3"), "base.maas"),
        (("run", "ets7-gjm", "--out", "x", "--set", "craft.base.mass=-3"), "mass must be positive"),
        (("run", "ets7-gjm", "--out", "x", "--variant", "best"), "no variant 'best'. Variants: nominal"),
        (("run", "nowhere.toml", "--out", "x"), "no scenario file nowhere.toml"),
        (("run", "ets7-capture", "--out", "x", "--set", "target_direction=0,0,0"), "must not be zero: it points"),
        (("claims", "nothing"), "no scenario 'nothing'"),
        (("run", "ets7-gjm", "--out", "x", "--set", "duration=1e308"), "far too long for steps of dt=0.05 s"),
        (("run", "ets7-gjm", "--out", "x", "--set", "dt=1e-308"), "far too long for steps of dt=1e-308 s"),
        (("run", "ets7-gjm", "--out", "x", "--set", "craft.base.mass=1e308"), "cannot be computed with"),
        (
            ("run", "ets7-gjm", "--out", "x", "--set", "craft.base.inertia=[[1e308,0,0],[0,1e308,0],[0,0,1e308]]"),
            "cannot be computed with",
        ),
        (("run", "ets7-gjm", "--out", "x", "--set", f"path={'[' * 3000}{']' * 3000}"), "no value that a setting"),
        (("run", "ets7-gjm", "--out", "x", "--set", f"duration={'9' * 5000}"), "no value that a setting"),
    ],
)
def test_wrong_words_get_a_sentence(words, message, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert freefloat(*words, monkeypatch=monkeypatch) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said
    assert not (tmp_path / "x").exists()


MAP = ("map", "ets7", "--joint", "arm.2=-90:90:5", "--joint", "arm.3=-90:90:4")


def test_map_writes_a_page_and_says_what_it_shows(tmp_path, monkeypatch, capsys):
    out = tmp_path / "maps" / "map.html"
    words = (*MAP, "--frame", "hand", "--at", "arm.3=10,arm.4=-32.8", "--out", str(out))
    assert freefloat(*words, monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert "arm.2 from -90 to 90 deg (5 points) and arm.3 from -90 to 90 deg (4 points)" in said
    assert "the configuration itself: arm.2 0 deg, arm.3 10 deg" in said
    assert f"page      {out}" in said
    assert out.stat().st_size > 100_000
    assert freefloat(*words, monkeypatch=monkeypatch) == 2
    assert "--force" in capsys.readouterr().err


def test_map_speaks_json_and_keeps_the_numbers(tmp_path, monkeypatch, capsys):
    out = tmp_path / "map.nc"
    words = (*MAP, "--frame", "hand", "--at", "0,0,10,-32.8,0,0", "--out", str(out), "--json")
    assert freefloat(*words, monkeypatch=monkeypatch) == 0
    found = json.loads(capsys.readouterr().out)["maps"]
    data = xarray.load_dataset(out, engine="h5netcdf")
    assert found["largest"]["largest"]["value"] == float(data["largest"].max())
    assert set(found) == {"largest", "smallest", "dynamic", "kinematic"}
    np.testing.assert_allclose(np.rad2deg(data["configuration"].values), [0, 0, 10, -32.8, 0, 0], atol=1e-12)


def test_map_reads_a_urdf_with_a_joint_that_slides(tmp_path, monkeypatch, capsys):
    file = tmp_path / "cart.urdf"
    inertial = '<inertial><mass value="5"/><inertia ixx="2" iyy="2" izz="2" ixy="0" ixz="0" iyz="0"/></inertial>'
    limit = '<axis xyz="0 1 0"/><limit lower="0" upper="1" effort="1" velocity="1"/>'
    joints = (("turn", "continuous", "bus"), ("slide", "prismatic", "turn.link"))
    file.write_text(
        '<robot name="cart">'
        + "".join(f'<link name="{name}">{inertial}</link>' for name in ("bus", "turn.link", "slide.link"))
        + "".join(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{name}.link"/>{limit}</joint>'
            for name, kind, parent in joints
        )
        + "</robot>"
    )
    words = (
        "map",
        str(file),
        "--joint",
        "slide=0:400:3",
        "--joint",
        "turn=0:90:4",
        "--out",
        str(tmp_path / "map.html"),
    )
    assert freefloat(*words, "--at", "slide=200", monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert "slide from 0 to 400 mm (3 points)" in said
    assert "slide 200 mm, turn 0 deg" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("map", "ets8", *MAP[2:]),
            "'ets8' is neither in the library (envisat, ets7, servicer, srms, srms_payload, station) nor a robot",
        ),
        ((*MAP[:4], "--joint", "elbow=0:1"), "no moving joint 'elbow'. Moving joints: arm.1, arm.2"),
        ((*MAP[:4], "--joint", "arm.2=0:1"), "Both axes of the map are joint 'arm.2'"),
        (MAP[:4], "needs two joints, got 1"),
        ((*MAP, "--joint", "arm.4=0:1"), "needs two joints, got 3"),
        ((*MAP[:4], "--joint", "arm.3=0:1:1"), "2 to 250 points along a joint, got 1 for 'arm.3'"),
        ((*MAP[:4], "--joint", "arm.3=0:1:251"), "2 to 250 points along a joint, got 251"),
        ((*MAP[:4], "--joint", "arm.3=0:1:2.5"), "got 2.5 for 'arm.3'"),
        ((*MAP[:4], "--joint", "arm.3=nan:1"), "'nan' in 'arm.3=nan:1' is not finite"),
        ((*MAP[:4], "--joint", "arm.3=0:inf"), "is not finite"),
        ((*MAP[:4], "--joint", "arm.3=a:1"), "'a' in 'arm.3=a:1' is not a number"),
        ((*MAP[:4], "--joint", "arm.3=1:0"), "must go upwards, got 1 to 0"),
        ((*MAP[:4], "--joint", "arm.3"), "'arm.3' is not a joint with its range"),
        ((*MAP, "--frame", "hnd"), "no frame 'hnd'. Frames: base"),
        ((*MAP, "--at", "1,2"), "--at needs 6 numbers (arm.1, arm.2"),
        ((*MAP, "--at", "elbow=1"), "no moving joint 'elbow'"),
        ((*MAP, "--at", "arm.1=nan"), "is not finite"),
    ],
)
def test_map_refuses_with_a_sentence(words, message, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert freefloat(*words, monkeypatch=monkeypatch) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said
    assert not list(tmp_path.iterdir())


def test_check_names_what_is_wrong(tmp_path, monkeypatch, capsys):
    good, bad = tmp_path / "good.urdf", tmp_path / "bad.urdf"
    good.write_text(URDF)
    bad.write_text(URDF.replace('izz="20"', 'izz="50"'))
    assert freefloat("check", str(good), monkeypatch=monkeypatch) == 0
    assert "1 bodies, 0 moving joints" in capsys.readouterr().out
    assert freefloat("check", str(bad), "--repair", monkeypatch=monkeypatch) == 0
    assert "izz 50 -> " in capsys.readouterr().out
    assert freefloat("check", str(bad), monkeypatch=monkeypatch) == 1
    said = capsys.readouterr().out
    assert "With --repair it can." in said
    assert "link 'bus'" in said
    assert "triangle inequality" in said
    assert freefloat("check", str(bad), "--json", monkeypatch=monkeypatch) == 1
    assert json.loads(capsys.readouterr().out)[0]["severity"] == "error"


@pytest.mark.parametrize("name", ["bench_arm.xml", "bench_arm.sdf", "bench_arm.urdf"])
def test_check_knows_three_languages(name, monkeypatch, capsys):
    if name.endswith(".xml"):
        pytest.importorskip("mujoco")
    path = Path(__file__).parents[3] / "examples" / "data" / "robots" / name
    assert freefloat("check", str(path), monkeypatch=monkeypatch) == 0
    assert "spacecraft 'bench_arm'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"duration = ", "not valid TOML"),
        (b"\xff\xfe", "not valid TOML"),
        (b"duration = 3.0", "which scenario it is"),
        (b"x = " + b"[" * 3000 + b"]" * 3000, "nested too deeply"),
        (b'scenario = "ets7-gjm"\n' + b".".join([b"a"] * 5000) + b" = 1", "nested more than 30 deep"),
    ],
)
def test_a_broken_scenario_file_gets_a_sentence(content, said, tmp_path, monkeypatch, capsys):
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    assert freefloat("run", str(path), "--out", str(tmp_path / "out"), monkeypatch=monkeypatch) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "mine.toml" in err


def test_list_names_every_scenario(monkeypatch, capsys):
    assert freefloat("list", "--json", monkeypatch=monkeypatch) == 0
    names = [row["name"] for row in json.loads(capsys.readouterr().out)]
    assert {"ets7-gjm", "goddard-symmetric", "goddard-asymmetric"} <= set(names)


def test_list_shows_what_can_be_set_in_one_scenario(monkeypatch, capsys):
    assert freefloat("list", "ets7-capture", monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert re.search(r"wheel_torque +0\.05 +N m +≥ 0", said)
    assert "case-2-torque-0.1" in said
    assert re.search(r"camera\.latency +0\.25 +s", said)  # of a record that is left out
    assert freefloat("list", "goddard-symmetric", "--json", monkeypatch=monkeypatch) == 0
    settings = {row["path"]: row for row in json.loads(capsys.readouterr().out)["settings"]}
    assert settings["hub_mass"]["unit"] == "kg"


def test_every_setting_with_a_dimension_has_its_unit():
    plain = {"arm_error", "damping_ratio", "bold"}
    plain |= {"arm_share", "sensors.camera_dropout", "workspace_scale", "client_inertia_error"}
    for scenario in SCENARIOS.values():
        numbers = [s for s in settings_of(scenario()) if s.kind == "number" and s.path not in plain]
        assert all(s.unit for s in numbers), [s.path for s in numbers if not s.unit]


def test_an_out_that_is_a_file_gets_a_sentence(tmp_path, monkeypatch, capsys):
    taken = tmp_path / "taken"
    taken.write_text("mine")
    words = ("run", "goddard-symmetric", "--out", str(taken / "sub"), "--set", "duration=0.1")
    assert freefloat(*words, monkeypatch=monkeypatch) == 2
    said = capsys.readouterr().err
    assert "Error: Not a directory" in said
    assert taken.read_text() == "mine"


def test_doctor_tells_the_limit_and_what_is_traced_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FREEFLOAT_CACHE", str(tmp_path))
    monkeypatch.setenv("FREEFLOAT_CACHE_LIMIT", "250")

    def hidden(x):
        return 0.0 * id(x) + x

    engine.compile(hidden, 1.0)
    assert freefloat("doctor", monkeypatch=monkeypatch) == 0
    told = capsys.readouterr().out
    assert "250.0 MB" in told
    assert "traced again" in told
    assert any("hidden" in line and "id()" in line for line in told.splitlines())
    assert freefloat("doctor", "--clear-cache", monkeypatch=monkeypatch) == 0
    assert "traced again" not in capsys.readouterr().out


def test_channels_are_listed_with_unit_and_axes(tmp_path, monkeypatch, capsys):
    run = tmp_path / "out"
    short = ("--set", "duration=0.1")
    assert freefloat("run", "goddard-symmetric", "--out", str(run), *short, "--quiet", monkeypatch=monkeypatch) == 0
    capsys.readouterr()
    listed = {}
    for what in ((str(run),), ("goddard-symmetric", *short)):
        assert freefloat("channels", *what, "--json", monkeypatch=monkeypatch) == 0
        listed[what[0]] = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    of_run, of_scenario = listed.values()
    assert of_scenario["base.rate"] == of_run["base.rate"]
    assert (of_scenario["base.rate"]["unit"], of_scenario["base.rate"]["frame"]) == ("rad/s", "B")
    assert set(of_run) - set(of_scenario) == {"state.q", "state.v", "bodies.position", "bodies.attitude"}
    assert all(row["unit"] for row in of_run.values())
    assert all(row["frame"] for row in of_run.values() if row["components"] == "x, y, z")


def test_the_page_of_channels_is_what_the_command_prints(monkeypatch, capsys):
    assert freefloat("channels", "--markdown", monkeypatch=monkeypatch) == 0
    page = Path(__file__).parents[3] / "docs" / "channels.md"
    assert capsys.readouterr().out.strip() in page.read_text(encoding="utf-8")


def test_an_ascii_terminal_gets_what_it_can_show():
    words = [sys.executable, "-m", "freefloat", "list", "ets7-gjm"]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = subprocess.run(words, capture_output=True, check=False, env=ascii_only)
    assert done.returncode == 0, done.stderr
    assert b"freefloat run ets7-gjm --set" in done.stdout


def test_interrupted_claims_show_what_was_checked_until_then(monkeypatch, capsys):
    whole = simulate_variant

    def interrupted(scenario, variant, progress, engine, **options):
        run = whole(replace(scenario, duration=1.0), variant, progress, engine, **options)
        if variant == "25-kg":
            raise RunFailed("The run stopped.", run, interrupted=True)
        return run

    monkeypatch.setattr("freefloat.cli.claims.simulate_variant", interrupted)
    assert freefloat("claims", "goddard-symmetric", "--json", monkeypatch=monkeypatch) == 1
    said = capsys.readouterr()
    assert {row["variant"] for row in json.loads(said.out)} == {"50-kg"}
    assert "Interrupted: what was checked until then" in said.err


def test_a_violated_run_is_never_announced_as_completed():
    sound = made_up(20, 1)
    run = replace(sound, audit=replace(sound.audit, entries=(replace(sound.audit.entries[0], value=1e9),)))
    assert run.status == "completed"
    assert run.verdict == "ran to its end, but the audit is VIOLATED"
    assert "completed" not in repr(run)


@pytest.mark.parametrize("command", ["page", "compare", "export", "channels"])
def test_a_file_that_is_no_run_gets_a_sentence(command, tmp_path, monkeypatch, capsys):
    file = tmp_path / "run.nc"
    for content in (b"", b"\x89HDF\r\n\x1a\n" + bytes(500), b"CDF\x01" + bytes(100), b"words"):
        file.write_bytes(content)
        more = {"compare": (str(file), "--out", str(tmp_path / "x.html")), "export": ("--to", "csv")}.get(command, ())
        assert freefloat(command, str(file), *more, monkeypatch=monkeypatch) == 2
        said = capsys.readouterr().err
        assert "run.nc" in said
        assert "Traceback" not in said


def test_accuracy_is_measured_unless_it_is_left_out(tmp_path, monkeypatch, capsys):
    words = ("run", "goddard-symmetric", "--set", "duration=1", "--quiet", "--out")
    assert freefloat(*words, str(tmp_path / "on"), "--accuracy", monkeypatch=monkeypatch) == 0
    assert "attitude to" in capsys.readouterr().out
    assert freefloat(*words, str(tmp_path / "off"), "--no-accuracy", monkeypatch=monkeypatch) == 0
    assert "not measured: accuracy=False" in capsys.readouterr().out
    on, off = (Run.load(tmp_path / name / "run.nc").accuracy for name in ("on", "off"))
    assert on.measured
    assert not off.measured
    assert "How accurate is it?" in (tmp_path / "on" / "page.html").read_text()

"""The command line as a user meets it."""

import json
import subprocess
import sys
import tomllib

import pytest

from freefloat.cli import main

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
        "scenario", "variant", "claim", "source", "relation", "published", "ours", "unit", "tolerance", "holds",
    }  # fmt: skip
    assert all(wanted <= set(row) for row in rows)
    assert all(row["holds"] for row in rows if row["relation"] != "not reproduced")
    assert all(row["reason"] for row in rows if row["relation"] == "not reproduced")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "goddard", "--out", "x"), "There is no scenario 'goddard'. Scenarios: ets7-gjm"),
        (("run", "ets7-gjm", "--out", "x", "--set", "dration=3"), "no setting 'dration'"),
        (("run", "ets7-gjm", "--out", "x", "--set", "duration"), "not a setting"),
        (("run", "ets7-gjm", "--out", "x", "--set", "duration=-3"), "duration: Input should be greater than 0"),
        (("run", "ets7-gjm", "--out", "x", "--set", "dt=nan"), "dt: Input should be a finite number"),
        (("run", "ets7-gjm", "--out", "x", "--set", "craft.base.maas=3"), "base.maas"),
        (("run", "ets7-gjm", "--out", "x", "--set", "craft.base.mass=-3"), "mass must be positive"),
        (("run", "ets7-gjm", "--out", "x", "--variant", "best"), "no variant 'best'. Variants: nominal"),
        (("run", "nowhere.toml", "--out", "x"), "no scenario file nowhere.toml"),
        (("claims", "nothing"), "no scenario 'nothing'"),
    ],
)
def test_wrong_words_get_a_sentence(words, message, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert freefloat(*words, monkeypatch=monkeypatch) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said
    assert not (tmp_path / "x").exists()


def test_check_names_what_is_wrong(tmp_path, monkeypatch, capsys):
    good, bad = tmp_path / "good.urdf", tmp_path / "bad.urdf"
    good.write_text(URDF)
    bad.write_text(URDF.replace('izz="20"', 'izz="50"'))
    assert freefloat("check", str(good), monkeypatch=monkeypatch) == 0
    assert "1 bodies, 0 moving joints" in capsys.readouterr().out
    assert freefloat("check", str(bad), monkeypatch=monkeypatch) == 1
    said = capsys.readouterr().out
    assert "link 'bus'" in said
    assert "triangle inequality" in said
    assert freefloat("check", str(bad), "--json", monkeypatch=monkeypatch) == 1
    assert json.loads(capsys.readouterr().out)[0]["severity"] == "error"


def test_list_names_every_scenario(monkeypatch, capsys):
    assert freefloat("list", "--json", monkeypatch=monkeypatch) in (0,)
    names = [row["name"] for row in json.loads(capsys.readouterr().out)]
    assert {"ets7-gjm", "goddard-symmetric", "goddard-asymmetric"} <= set(names)


def test_an_out_that_is_a_file_gets_a_sentence(tmp_path, monkeypatch, capsys):
    taken = tmp_path / "taken"
    taken.write_text("mine")
    words = ("run", "goddard-symmetric", "--out", str(taken / "sub"), "--set", "duration=0.1")
    assert freefloat(*words, monkeypatch=monkeypatch) == 2
    said = capsys.readouterr().err
    assert "Error: Not a directory" in said
    assert taken.read_text() == "mine"

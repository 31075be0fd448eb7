"""Help in English with examples, completion in the shell, and commands that a first user types."""

import os
import re
import shlex
import subprocess
import sys

import pytest

from freefloat import __version__
from freefloat.cli import main
from freefloat.cli.app import app
from freefloat.cli.run import chosen_folder
from freefloat.cli.scenario_titles import SCENARIO_TITLES
from freefloat.scenarios import SCENARIOS
from freefloat.scenarios.scenario import parse_setting

MISSION = '''"""A servicer turns its arm."""
from typing import Annotated
import freefloat as ff
from freefloat.scenarios.settings import Unit

def build(mass: float = 900.0, duration: Annotated[float, Unit("s")] = 0.5):
    craft = ff.Spacecraft.from_base("servicer", mass=mass, inertia=(100, 100, 100))
    parent = "base"
    for name in ("elbow", "wrist"):
        craft = craft.with_link(name, parent=parent, joint="revolute", mass=3.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
        parent = name
    return ff.Experiment.of(craft, duration=duration)
'''
WORLD = MISSION.replace("Experiment.of(craft,", "Experiment.of(ff.World(chaser=craft, client=craft),")


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    """Runs a command in an empty folder; returns its exit status and what it prints on both streams."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mission.py").write_text(MISSION)
    (tmp_path / "world.py").write_text(WORLD)

    def run(words):
        monkeypatch.setattr(sys, "argv", ["freefloat", *shlex.split(words)])
        with pytest.raises(SystemExit) as stop:
            main()
        shown = capsys.readouterr()
        return int(stop.value.code or 0), shown.out, shown.err

    return run


def commands():
    """Every command as its words; those of a group as well."""
    return [command.name for command in app.registered_commands]


def test_help_has_groups_and_examples(call):
    _, text, _ = call("--help")
    order = [text.index(f" {group} ") for group in ("Run", "Look", "Rehearse", "Check")]
    assert order == sorted(order)
    assert "$ freefloat run ets7-gjm --open" in text


@pytest.mark.parametrize("command", [*commands(), "campaign", "campaign run", "campaign replay"])
def test_no_help_speaks_python(command, call):
    code, text, _ = call(f"{command} --help")
    assert code == 0
    assert not re.findall(r"<\w+|list\[|\{\w+\}|Path\b|\bbool\b", text)
    if " " not in command:
        assert "Examples:" in text
        assert "$ freefloat " in text


@pytest.mark.parametrize("command", commands())
def test_examples_name_options_that_exist(command, call):
    _, text, _ = call(f"{command} --help")
    known = set(re.findall(r"(?<![\w-])--[\w-]+", text.partition("Examples:")[0]))
    assert set(re.findall(r"(?<![\w-])--[\w-]+", text.partition("Examples:")[2])) <= known


def test_the_version_has_a_name(call):
    assert call("--version")[1].strip() == f"freefloat {__version__}"


def completed_line(line, folder, after=""):
    """The process that a shell starts for what it completes; `after` runs at its end."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1), "_FREEFLOAT_COMPLETE": "complete_bash"}
    code = f"import atexit, sys; atexit.register(lambda: exec({after!r})); sys.argv = ['freefloat']"
    code += "; from freefloat.cli import main; main()"
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **words, "PYTHONPATH": path},
    )


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("freefloat ru", ["run"]),
        ("freefloat run ets7-g", ["ets7-gjm", "ets7-gravity-gradient"]),
        ("freefloat run ets7-gjm --variant samp", ["sampled-4hz"]),
        ("freefloat run ets7-gjm --set path.s", ["path.speed="]),
        ("freefloat run miss", ["mission.py"]),
        ("freefloat run mission.py --set ma", ["mass="]),
        ("freefloat claims goddard-a", ["goddard-asymmetric"]),
        ("freefloat run nothing --variant x", []),
    ],
)
def test_the_shell_completes_commands_scenarios_variants_and_settings(line, found, tmp_path):
    (tmp_path / "mission.py").write_text(MISSION)
    done = completed_line(line, tmp_path)
    assert done.stdout.split() == found, done.stderr


def test_completing_a_scenario_does_not_wait_for_jax(tmp_path):
    """A key press in the shell: importing JAX alone takes a second. The variants of a scenario need it."""
    for line, loaded in (("freefloat run ets7-g", False), ("freefloat run ets7-gjm --variant samp", True)):
        done = completed_line(line, tmp_path, "print('jax' in sys.modules, file=sys.stderr)")
        assert done.stdout.split()
        assert done.stderr.split() == [str(loaded)], done.stderr


def test_the_names_that_the_shell_completes_are_those_of_the_catalogue():
    assert list(SCENARIO_TITLES.items()) == [(name, scenario.title) for name, scenario in SCENARIOS.items()]


def test_a_run_without_out_gets_a_folder_of_its_own(call, tmp_path):
    code, text, _ = call("run mission.py --quiet")
    assert code == 0
    (folder,) = (tmp_path / "runs").iterdir()
    assert re.fullmatch(r"mission-\d{8}-\d{6}", folder.name)
    assert f"runs/{folder.name}/page.html" in text


def test_a_folder_is_never_taken_twice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.strftime", lambda form: "now")
    for name in ("mission-now", "mission-now-2", "mission-now-3"):
        folder = chosen_folder("mission.py", None)
        assert folder.name == name
        folder.mkdir(parents=True)


def test_the_audit_takes_one_line_unless_asked_for(call):
    assert re.search(r"^Audit: (\d+) of \1 balances hold", call("run mission.py -q --out short")[1], re.MULTILINE)
    assert re.search(r"^linear momentum +holds", call("run mission.py -q -v --out long")[1], re.MULTILINE)


@pytest.mark.parametrize("found", [True, False])
def test_the_page_is_opened_or_its_place_is_said(call, monkeypatch, tmp_path, found):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or found)
    code, _, said = call("run mission.py -q --out a --open")
    assert code == 0
    assert opened == [(tmp_path / "a" / "page.html").resolve().as_uri()]
    assert ("Open this file in one" in said) is not found


def test_the_start_poses_of_many_runs_belong_to_unchanged_settings(call):
    assert "start poses" not in call("run ets7-gjm -q --out changed --set duration=12")[1]
    assert "start poses" in call("run ets7-gjm -q --out nominal")[1]


@pytest.mark.parametrize("words", ["list mission.py", "list goddard-symmetric"])
def test_the_command_that_list_prints_runs(words, call):
    printed = call(words)[1].strip().splitlines()[-1]
    assert printed.startswith(f"freefloat run {words.split()[1]}")
    extra = " --set duration=0.1" if "goddard" in words else ""
    assert call(f"{printed.removeprefix('freefloat ')}{extra} -q --out out")[0] == 0


def test_every_scenario_is_listed_with_a_command_that_can_be_read(call):
    for name, scenario in SCENARIOS.items():
        command = call(f"list {name}")[1].strip().splitlines()[-1]
        setting = command.partition(" --set ")[2]
        assert command.startswith(f"freefloat run {name}")
        assert not setting or scenario().with_settings(dict([parse_setting(setting)])) == scenario(), command


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run mission", "Did you mean 'mission.py'?"),
        ("run ets7-gmj", "Did you mean 'ets7-gjm'"),
        ("run ets7-gjm --variant 4hz", "Did you mean 'sampled-4hz'"),
        ("run ets7-gjm --set durations=3", "Did you mean 'duration'?"),
        ("run ets7-gjm --set path.sped=3", "Did you mean 'path.speed'?"),
        ("run ets7-gjm --set path.speed=-0.02", "path.speed must be > 0 m/s, got -0.02"),
        ("run ets7-gjm --set path.speed=fast", "path.speed must be a number [m/s], got 'fast'"),
        ("check missing.urdf", "There is no robot file missing.urdf"),
        ("rehearse mission.py", "derive its class from ff.scenarios.RehearsedScenario"),
        ("map world.py --joint elbow=0:1 --joint wrist=0:1", "Name one of them: --craft chaser or --craft client"),
        ("map ets8 --joint a=0:1 --joint b=0:1", "Did you mean 'ets7'"),
    ],
)
def test_mistakes_are_answered_with_what_was_meant(words, said, call):
    code, _, text = call(words)
    assert code == 2
    assert said in text
    assert "Traceback" not in text


def test_a_map_of_ones_own_file(call, tmp_path):
    joints = "--joint elbow=-90:90:3 --joint wrist=-90:90:3"
    assert call(f"map mission.py {joints} --out one.html")[0] == 0
    assert call(f"map world.py --craft client {joints} --out other.html")[0] == 0
    assert (tmp_path / "other.html").exists()

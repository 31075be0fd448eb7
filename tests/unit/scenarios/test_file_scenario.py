"""A user's own file goes through run, compare, list and claims, and says clearly what is wrong with it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from freefloat.cli.app import app
from freefloat.scenarios import ScenarioError, find
from freefloat.scenarios.runner import simulate_variant
from freefloat.sim import Run
from support.own_experiment import MINE


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "my_experiment.py"
    file.write_text(MINE)
    return file


def invoke(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    return result.exit_code, result.output


def test_a_file_is_run_with_settings_and_compared_and_run_again(mine, tmp_path):
    code, said = invoke("run", mine, "--out", tmp_path / "one", "--set", "gain=3", "--quiet")
    assert code == 0, said
    assert "A hub of my own that swings its rod" in said
    code, _ = invoke("run", mine, "--out", tmp_path / "two", "--quiet")
    assert code == 0
    again, _ = invoke("run", tmp_path / "one" / "scenario.toml", "--out", tmp_path / "three", "--quiet")
    assert again == 0
    one, two, three = (Run.load(tmp_path / name / "run.nc") for name in ("one", "two", "three"))
    assert one.scenario["gain"] == 3.0
    assert one.variant == "custom"
    assert two.variant == "nominal"
    assert (one["joints.position"].values == three["joints.position"].values).all()
    assert not (one["joints.position"].values == two["joints.position"].values).all()
    code, said = invoke("compare", tmp_path / "one", tmp_path / "two", "--out", tmp_path / "both.html")
    assert code == 0, said
    page = (tmp_path / "both.html").read_text()
    assert "Swing" in page


def test_its_settings_are_listed(mine):
    code, said = invoke("list", mine, "--json")
    assert code == 0
    assert [s["path"] for s in json.loads(said)["settings"]] == ["gain", "duration"]


def test_an_experiment_or_a_scenario_class_will_do_too(tmp_path):
    plain = MINE + "\n\nexperiment = build()\ndel build\n"
    file = tmp_path / "plain.py"
    file.write_text(plain)
    assert next(iter(find(str(file)).variants().values())).build().duration == 2.0
    own = MINE.replace("def build(", "def _build(") + (
        "\n\nfrom dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass Mine(ff.scenarios.Scenario):\n"
        '    """Mine."""\n\n    name = "mine"\n    title = "Mine"\n    source = "me"\n    gain: float = 2.0\n\n'
        "    @classmethod\n    def variants(cls):\n        return {'soft': cls(), 'stiff': cls(gain=8.0)}\n\n"
        "    def build(self):\n        return _build(self.gain)\n\n"
        "    def claims(self, variant, run, others):\n        return []\n"
    )
    file = tmp_path / "own.py"
    file.write_text(own)
    code, said = invoke("run", file, "--variant", "stiff", "--out", tmp_path / "own", "--quiet")
    assert code == 0, said
    assert Run.load(tmp_path / "own" / "run.nc").variant == "stiff"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\n", "defines nothing to run"),
        ("def build(:\n", "line 1"),
        ("import freefloat as ff\nx = 1 / 0\n", "line 2: ZeroDivisionError"),
        ("def build(gain):\n    pass\n", r"build\(gain\) needs a default"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(text, said, tmp_path):
    file = tmp_path / "wrong.py"
    file.write_text(text)
    with pytest.raises(ScenarioError, match=said):
        find(str(file))


def test_a_build_that_returns_something_else_and_a_missing_file_are_refused(tmp_path):
    file = tmp_path / "other.py"
    file.write_text("def build():\n    return 3\n")
    with pytest.raises(ScenarioError, match="an Experiment is needed"):
        next(iter(find(str(file)).variants().values())).build()
    with pytest.raises(ScenarioError, match="There is no file"):
        find(str(tmp_path / "none.py"))


def with_channel(text: str) -> str:
    """The file of a user whose software has a channel of its own."""
    channel = (
        '    def channels(self):\n        return (ff.Channel("swing.error", "Error of the swing", "rad"),)\n\n'
        '    def observe(self, memory, y, clock, truth):\n        return (y["joints.position"][0],)\n\n'
    )
    return text.replace("    def command", f"{channel}    def command")


def test_channels_of_ones_own_software_are_plotted_first(tmp_path):
    (tmp_path / "mine.py").write_text(with_channel(MINE))
    run = simulate_variant(find(str(tmp_path / "mine.py"))())
    assert run.description.figures[0].channel == "swing.error"
    assert "base.roll_pitch_yaw" in [figure.channel for figure in run.description.figures]


def test_a_file_chooses_its_plots(tmp_path):
    (tmp_path / "mine.py").write_text(f'{with_channel(MINE)}\n\nfigures = ("joints.rate", "base.rate")\n')
    run = simulate_variant(find(str(tmp_path / "mine.py"))())
    assert [figure.channel for figure in run.description.figures] == ["joints.rate", "base.rate"]
    (tmp_path / "mine.py").write_text(f"{MINE}\n\nfigures = 3\n")
    with pytest.raises(ScenarioError, match="figures are names of channels"):
        find(str(tmp_path / "mine.py"))


def test_titles_come_from_the_docstrings(tmp_path):
    own = MINE.replace("duration: float = 2.0):\n", 'duration: float = 2.0):\n    """Swing it for a while."""\n')
    (tmp_path / "both.py").write_text(own)
    (tmp_path / "inner.py").write_text(own[own.index("import jax") :])
    both, inner = (find(str(tmp_path / name)) for name in ("both.py", "inner.py"))
    assert (both.title, both.__doc__) == ("A hub of my own that swings its rod", "Swing it for a while.")
    assert inner.title == "Swing it for a while"
    assert simulate_variant(inner()).description.summary == "", "the title says it"

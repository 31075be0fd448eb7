"""The notebook of the examples runs without a browser, and shows trees, pages and plots in place of arrays."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from freefloat.report.notebook import MOST_BYTES

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples" / "first_notebook.ipynb"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Outputs of the cells by the ids of the cells."""
    folder = tmp_path_factory.mktemp("notebook")
    done = folder / "done.ipynb"
    own = {
        "IPYTHONDIR": "ipython",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "run",
        "JUPYTER_CONFIG_DIR": "set",
    }
    env = {**os.environ, **{name: str(folder / path) for name, path in own.items()}, "JUPYTER_PLATFORM_DIRS": "1"}
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    program = ROOT / "tests" / "support" / "execute_notebook.py"
    ended = subprocess.run([sys.executable, program, NOTEBOOK, done], capture_output=True, text=True, env=env)
    assert ended.returncode == 0, ended.stderr
    return {cell["id"]: cell.get("outputs", []) for cell in json.loads(done.read_text())["cells"]}


def shown(outputs, cell):
    """What the last line of a cell shows, by the kind of text or picture."""
    (result,) = [output for output in outputs[cell] if output["output_type"] == "execute_result"]
    return {kind: "".join(data) if isinstance(data, list) else data for kind, data in result["data"].items()}


def test_the_notebook_is_kept_without_outputs():
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        assert not cell.get("outputs"), "clear its outputs: pages of runs are large"


def test_a_spacecraft_and_an_experiment_show_their_tree(outputs):
    for cell in ("craft", "experiment"):
        tree = shown(outputs, cell)["text/html"]
        assert tree.startswith("<pre")
        assert "arm.6" in tree
        assert "revolute about x" in tree
        assert "array(" not in tree


def test_a_run_shows_its_page_within_a_cell(outputs):
    page = shown(outputs, "run")["text/html"]
    assert page.startswith("<iframe")
    assert len(page.encode()) < MOST_BYTES
    assert shown(outputs, "run")["text/plain"].startswith("<Run 'ets7': completed, 22 s")


def test_channels_show_as_a_picture(outputs):
    assert base64.b64decode(shown(outputs, "channels")["image/png"]).startswith(b"\x89PNG")


def test_the_audit_shows_its_table_and_nothing_is_written_as_an_error(outputs):
    assert "linear momentum" in shown(outputs, "audit")["text/html"].lower()
    streams = [output for cell in outputs.values() for output in cell if output["output_type"] == "stream"]
    assert [stream["name"] for stream in streams] == ["stdout"], streams

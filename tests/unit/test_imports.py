"""What is slow to import is imported only where it is used: a script pays for its own needs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
HEAVY = ("dask", "pandas", "scipy", "xarray")
LEVEL = """
hub = ff.Spacecraft.from_base("hub", mass=10.0, inertia=(1.0, 1.0, 1.0))
run = ff.simulate(hub, duration=1.0)
"""


def _heavy_after(program: str, tmp_path: Path) -> list[str]:
    """Which of the heavy packages a program has imported at its end."""
    asked = f"\nimport sys\nprint('heavy:', *sorted({set(HEAVY)} & set(sys.modules)))\n"
    done = subprocess.run([sys.executable, "-c", program + asked], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].removeprefix("heavy:").split()


def _readme_example() -> str:
    found = re.search(r"^```python\n(?P<body>import numpy.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    assert found
    assert "ff.simulate(" in found["body"]
    return found["body"]


@pytest.mark.parametrize(
    "program",
    ["import freefloat as ff", "import freefloat as ff\nff.library.ets7()", "import freefloat as ff" + LEVEL],
    ids=["import", "library", "first call"],
)
def test_the_package_and_a_first_call_import_nothing_heavy(program: str, tmp_path: Path) -> None:
    assert _heavy_after(program, tmp_path) == []


def test_the_example_of_the_readme_imports_nothing_heavy(tmp_path: Path) -> None:
    assert _heavy_after(_readme_example(), tmp_path) == []


@pytest.mark.parametrize(
    ("asked", "needed"),
    [
        ("run.data", "xarray"),
        ("run['base.position'].diff('time')", "pandas"),
        ("ff.library.srms()", "scipy"),
    ],
)
def test_what_needs_them_imports_them(asked: str, needed: str, tmp_path: Path) -> None:
    """Negative controls: the test above sees an import where there is one."""
    assert needed in _heavy_after(f"import freefloat as ff{LEVEL}{asked}", tmp_path)

"""The pages in docs/reference are those that `scripts/reference.py` writes, and name every public name."""

import importlib
import subprocess
import sys

import pytest

import reference


def test_the_reference_is_up_to_date():
    """In a process of its own: here, types of arguments are checked, which wraps every function."""
    command = [sys.executable, str(reference.ROOT / "scripts" / "reference.py"), "--check"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, f"Run `make reference`; other than the program: {done.stdout}{done.stderr}"


@pytest.mark.parametrize("package", reference.PACKAGES)
def test_every_public_name_of_a_package_is_on_its_page(package):
    module = importlib.import_module(f"freefloat.{package}")
    page = (reference.FOLDER / f"{package}.md").read_text(encoding="utf-8")
    missing = [name for name in reference.public_names(module.__name__) if f"### {name}\n" not in page]
    assert missing == []


def test_a_page_names_arguments_units_and_methods():
    text = reference.name_text("freefloat.sim", "simulate")
    assert text.startswith("### simulate\n\n`simulate(what: ")
    assert "duration: float | None=None" in text
    assert "[rad/s]" in reference.name_text("freefloat.control", "ApproachLimits")
    assert "- `with_link(name: str, *, parent: str" in reference.name_text("freefloat.model", "Spacecraft")


def test_a_name_that_is_set_nowhere_is_an_error():
    with pytest.raises(LookupError, match="nothing_there"):
        reference.constant_text("nothing_there", "freefloat.control")

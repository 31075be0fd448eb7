"""README, CONTRIBUTING and docs name only what is there: commands, targets of make, files, names of `ff`, layers."""

import importlib
import re
import tomllib
from functools import cache, reduce
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "freefloat"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

# `freefloat run`, at the start of a line of a console block or in backticks; `freefloat campaign run` as well.
COMMAND = re.compile(r"(?:^|`|\$ )freefloat ([a-z]+)(?: ([a-z]+))?", re.MULTILINE)
TARGET = re.compile(r"(?:^|`)make ([a-z]+)(?=`|$|  +#)", re.MULTILINE)
SCRIPT = re.compile(r"\b((?:scripts|benchmarks|examples|tests|docs)/[\w./-]*\w)")
FOLDER = re.compile(r"`(?:src/)?(?:freefloat/)?((?:[a-z_0-9]+/)+[a-z_0-9]+(?:\.py)?)`")
NAME = re.compile(r"\b(?:ff|freefloat)((?:\.[A-Za-z_]\w*)+)")
PATTERNS = {"examples/NN_what_it_teaches.py"}
NAMES_OF_EXAMPLES = {"tip/z"}  # an axis of a frame


@cache
def commands() -> dict[str, set[str]]:
    """Commands of `freefloat`, and the commands of each of them."""
    import typer

    from freefloat.cli.app import app

    group = typer.main.get_command(app)
    return {name: set(getattr(command, "commands", ())) for name, command in group.commands.items()}


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_exist(page: Path) -> None:
    known = commands()
    for command, sub in COMMAND.findall(text_of(page)):
        assert command in known, f"freefloat {command}"
        assert not (known[command] and sub) or sub in known[command], f"freefloat {command} {sub}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_targets_of_make_exist(page: Path) -> None:
    known = set(re.findall(r"^([a-z]+):", text_of(ROOT / "Makefile"), re.MULTILINE))
    assert set(TARGET.findall(text_of(page))) <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_and_modules_exist(page: Path) -> None:
    text = text_of(page)
    for path in set(SCRIPT.findall(text)) - PATTERNS:
        assert (ROOT / path).exists() or list(ROOT.glob(f"{path}*")), path
    for path in set(FOLDER.findall(text)) - NAMES_OF_EXAMPLES:
        stem = path.removesuffix(".py")
        places = [ROOT, SOURCE, *(folder for folder in SOURCE.iterdir() if folder.is_dir())]
        found = [place / f"{stem}{end}" for place in places for end in ("", ".py") if (place / f"{stem}{end}").exists()]
        assert found, path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_names_of_the_package_exist(page: Path) -> None:
    for dotted in set(NAME.findall(text_of(page))):
        words = dotted.strip(".").split(".")
        if words[-1] in ("py", "md", "nc", "html", "toml", "json", "org", "h", "c"):
            continue  # a file
        assert resolved(words), f"freefloat{dotted}"


def resolved(words: list[str]) -> bool:
    """Whether a dotted name is a module, or a name in one."""
    for count in range(len(words), -1, -1):
        try:
            module = importlib.import_module(".".join(["freefloat", *words[:count]]))
        except ImportError:
            continue
        try:
            reduce(getattr, words[count:], module)
        except AttributeError:
            return False
        return True
    return False


def test_a_negative_control() -> None:
    assert not resolved(["sim", "nothing_of_that_name"])
    assert resolved(["sim", "Experiment", "of"])
    assert COMMAND.findall("`freefloat flown x`") == [("flown", "x")]


def test_the_layers_are_those_of_the_linter() -> None:
    contract = tomllib.loads(text_of(ROOT / "pyproject.toml"))["tool"]["importlinter"]["contracts"][0]
    layers = [sides(layer) for layer in contract["layers"] if layer not in ("lazy_names", "renamed")]
    (documented,) = re.findall(r"`(cli > [^`]*)`", text_of(ROOT / "CONTRIBUTING.md"))
    assert [sides(layer) for layer in documented.split(" > ")] == layers


def sides(layer: str) -> set[str]:
    return set(re.split(r"\s*\|\s*", layer))


def test_every_package_is_on_the_map() -> None:
    listed = set(re.findall(r"^  ([a-z]+)/", text_of(ROOT / "CONTRIBUTING.md"), re.MULTILINE))
    there = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert listed == there

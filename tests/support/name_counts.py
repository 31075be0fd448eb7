"""Names and docstrings that a reader would have to guess, counted: see CONTRIBUTING, "Names"."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "freefloat"

# Past participles that do not end in -ed; `read`, `put`, `run`, `set`, `cut`, `split`, `cost` are verbs or nouns, too.
PARTICIPLES = frozenset(
    [
        "told",
        "said",
        "kept",
        "felt",
        "seen",
        "driven",
        "known",
        "found",
        "made",
        "given",
        "built",
        "begun",
        "shown",
        "held",
        "left",
        "taken",
        "written",
        "drawn",
        "sent",
        "spent",
        "bent",
        "heard",
        "met",
        "lost",
        "grown",
        "borne",
        "chosen",
        "thrown",
        "broken",
        "woken",
        "laid",
        "led",
        "sought",
        "caught",
        "brought",
        "thought",
        "bought",
        "swung",
        "spun",
        "stuck",
        "hung",
        "dug",
        "won",
        "sat",
        "stood",
        "understood",
        "bound",
        "wound",
        "swept",
        "dealt",
        "meant",
        "sung",
        "gone",
        "done",
        "worn",
        "hidden",
        "forgotten",
    ]
)
# Verbs that say nothing without an object.
VERBS = frozenset(
    [
        "ask",
        "hear",
        "tell",
        "play",
        "happen",
        "settle",
        "feel",
        "look",
        "say",
        "see",
        "know",
        "let",
        "give",
        "take",
        "make",
        "show",
        "think",
        "believe",
        "listen",
        "speak",
        "talk",
        "fill",
        "carry",
        "drive",
        "board",
        "seat",
        "sit",
        "stand",
        "hold",
        "keep",
        "watch",
        "meet",
        "agree",
        "refuse",
    ]
)
LAW = ("law", "laws")
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
FRAGMENT = re.compile(r"(Of |The same|As it|Now\.|Never\.|Not at all)")


def definitions(source: Path = SOURCE) -> Iterator[tuple[Path, ast.FunctionDef | ast.ClassDef]]:
    """Every function and class of the package with its file."""
    for path in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                yield path.relative_to(source), node


def bare_names(source: Path = SOURCE) -> list[str]:
    """Functions and classes whose whole name is a participle or a verb."""
    found = []
    for path, node in definitions(source):
        word = node.name.strip("_").lower()
        participle = word in PARTICIPLES or (word.endswith("ed") and word not in ("speed", "seed", "feed"))
        verb = word in VERBS and isinstance(node, ast.FunctionDef)
        if "_" not in word and not node.name.startswith("__") and (participle or verb):
            found.append(f"{path}: {node.name}")
    return found


def fragments(source: Path = SOURCE) -> list[str]:
    """Docstrings that cannot be read without the name before them."""
    return [
        f"{path}: {node.name}: {text.splitlines()[0]}"
        for path, node in definitions(source)
        if FRAGMENT.match(text := ast.get_docstring(node) or "")
    ]


def loops_over_one(source: Path = SOURCE) -> list[str]:
    """Loops and comprehensions whose variable is called `one`."""
    return [
        f"{path.relative_to(source)}:{node.target.lineno}"
        for path in sorted(source.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.For, ast.comprehension))
        and any(isinstance(part, ast.Name) and part.id == "one" for part in ast.walk(node.target))
    ]


def classes_of_two_meanings(source: Path = SOURCE) -> dict[str, list[str]]:
    """Class names that stand in two files or more, private ones included."""
    places: dict[str, set[str]] = defaultdict(set)
    for path, node in definitions(source):
        if isinstance(node, ast.ClassDef):
            places[node.name.lstrip("_")].add(str(path))
    return {name: sorted(paths) for name, paths in places.items() if len(paths) > 1}


def names_of_laws(source: Path = SOURCE) -> dict[str, list[str]]:
    """Names with the word `law` by file; what commands a spacecraft is called software."""
    found: dict[str, list[str]] = {}
    for path in sorted(source.rglob("*.py")):
        names = {path.stem, *_identifiers(ast.parse(path.read_text(encoding="utf-8")))}
        if laws := sorted(name for name in names if any(word.lower() in LAW for word in WORD.findall(name))):
            found[path.relative_to(source).as_posix()] = laws
    return found


def _identifiers(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        for field in ("name", "asname", "id", "arg", "attr"):
            if isinstance(name := getattr(node, field, None), str):
                yield name


def states_called_loops(root: Path = SOURCE) -> list[str]:
    """Lines that call the state of a system a loop."""
    return [
        f"{path.relative_to(root)}: {line.strip()}"
        for path in sorted(root.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"\bloop: SystemState|\b\w+, loop = .*begin\(", line)
    ]

"""Write docs/reference/: public names of each package with their arguments, and the commands of the command line.

python scripts/reference.py           # write all pages
python scripts/reference.py --check   # change nothing; exit status 1 if a page would change
"""

import ast
import dataclasses
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import freefloat

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "reference"
SOURCE = ROOT / "src" / "freefloat"
PACKAGES = sorted({path.parent.name for path in SOURCE.glob("*/__init__.py")} - {"cli"})
INNER = ("analysis.identification", "control.lqr", "effects.contact", "hil.cell", "hil.judging")  # parts of the API
WRITTEN = "Written by `scripts/reference.py` from signatures and docstrings."
PLAIN = (int, float, str, bool, tuple, type(None))
_UNITS = re.compile(r"#\s*(\[.*)$")


@cache
def tree_of(module: str) -> tuple[ast.Module, list[str]]:
    """Syntax tree and lines of a module of the package."""
    file = inspect.getsourcefile(importlib.import_module(module))
    text = Path(str(file)).read_text(encoding="utf-8")
    return ast.parse(text), text.splitlines()


def definition(thing: Any) -> ast.AST | None:
    """Where a class or a function is defined, in the syntax tree of its module."""
    node: ast.AST | None = tree_of(thing.__module__)[0]
    for name in thing.__qualname__.split("."):
        found = (n for n in ast.iter_child_nodes(node) if getattr(n, "name", None) == name)
        if (node := next(found, None)) is None:
            return None
    return node


def written_arguments(node: ast.FunctionDef) -> str:
    """Arguments of a function as they are written, without `self`."""
    arguments = node.args
    if arguments.args and arguments.args[0].arg in ("self", "cls"):
        arguments = ast.parse(f"def f({ast.unparse(arguments)}): ...").body[0].args
        arguments.args = arguments.args[1:]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"({ast.unparse(arguments)}){returns}".replace("\n", " ")


def fields_of(cls: type) -> dict[str, tuple[str, str]]:
    """Written type and unit of every field of a class, inherited ones included."""
    found: dict[str, tuple[str, str]] = {}
    for home in reversed(cls.__mro__):
        if not home.__module__.startswith("freefloat"):
            continue
        node, lines = definition(home), tree_of(home.__module__)[1]
        for line in getattr(node, "body", ()):
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                unit = _UNITS.search(lines[line.end_lineno - 1])
                found[line.target.id] = ast.unparse(line.annotation), unit[1] if unit else ""
    return found


def class_arguments(cls: type) -> str:
    """Arguments with which an object of the class is made; nothing for errors and classes without any."""
    init = vars(cls).get("__init__")
    node = definition(cls)
    own = [n for n in getattr(node, "body", ()) if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
    if own and init is not None:
        return written_arguments(own[0]).removesuffix(" -> None")
    if issubclass(cls, Exception) or not (dataclasses.is_dataclass(cls) or hasattr(cls, "_fields")):
        return ""
    fields, words = fields_of(cls), []
    parameters = list(inspect.signature(cls).parameters.values())
    for place, parameter in enumerate(parameters):
        if parameter.kind is parameter.KEYWORD_ONLY and parameters[place - 1].kind is not parameter.KEYWORD_ONLY:
            words.append("*")
        words.append(_field_text(parameter, fields.get(parameter.name, ("", ""))[0]))
    return f"({', '.join(words)})"


def _field_text(parameter: inspect.Parameter, kind: str) -> str:
    text = f"{parameter.name}: {kind}" if kind else parameter.name
    if parameter.default is parameter.empty:
        return text
    if isinstance(parameter.default, float):
        return f"{text} = {float(parameter.default):.6g}"
    return f"{text} = {parameter.default!r}" if isinstance(parameter.default, PLAIN) else f"{text} = ..."


def docstring(thing: Any) -> str:
    """Own docstring; a name without one of its own has none."""
    return inspect.cleandoc(thing.__doc__ or "").replace("``", "`")


def methods_of(cls: type) -> Iterator[str]:
    """One line for each public method that the class adds; those of its parents stand there."""
    inherited = {
        name for parent in cls.__mro__[1:] if parent.__module__.startswith("freefloat") for name in vars(parent)
    }
    for node in getattr(definition(cls), "body", ()):
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_") or node.name in inherited:
            continue
        text = (ast.get_docstring(node) or "").split("\n\n")[0].replace("\n", " ").replace("``", "`")
        is_value = any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
        returns = f": {ast.unparse(node.returns)}" if node.returns else ""
        yield f"- `{node.name}{returns if is_value else written_arguments(node)}`: {text}"


def class_text(name: str, cls: type) -> str:
    """Signature, docstring, units of fields and methods of a class."""
    base = [b.__name__ for b in cls.__bases__ if b.__module__.startswith("freefloat") or issubclass(b, Exception)]
    kind = f"*class*, a `{base[0]}`: " if base else "*class* "
    units = [f"`{field}` {unit}" for field, (_, unit) in fields_of(cls).items() if unit and not field.startswith("_")]
    parts = [f"### {name}", f"{kind}`{name}{class_arguments(cls)}`", docstring(cls)]
    parts.append(f"Units: {', '.join(units)}" if units else "")
    return "\n\n".join([part for part in (*parts, "\n".join(methods_of(cls))) if part])


def constant_text(name: str, package: str) -> str:
    """Line of the source in which a constant or a kind of type is set."""
    for home in homes(package, name):
        tree, lines = tree_of(home)
        for node in ast.walk(tree):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
                return f"### {name}\n\n```\n{text}\n```"
    raise LookupError(f"{package}.{name} is set nowhere.")


def homes(package: str, name: str) -> Iterator[str]:
    """Modules from which a name comes, as the imports of its package say, one after the other."""
    module = package
    for _ in range(5):  # a name is passed on through a few packages at most
        yield module
        file = Path(str(inspect.getsourcefile(importlib.import_module(module))))
        stub = file.with_suffix(".pyi")
        imports = [
            node
            for node in ast.walk(ast.parse((stub if stub.exists() else file).read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names)
        ]
        if not imports or imports[0].module == module:
            return
        module = f"{module}.{imports[0].module}" if imports[0].level else str(imports[0].module)


def name_text(package: str, name: str) -> str:
    """Section on one public name."""
    thing = getattr(importlib.import_module(package), name)
    if isinstance(thing, type) and thing.__module__.startswith("freefloat"):
        return class_text(name, thing)
    plain = inspect.unwrap(thing) if callable(thing) else thing
    if isinstance(plain, FunctionType) and isinstance(node := definition(plain), ast.FunctionDef):
        return f"### {name}\n\n`{name}{written_arguments(node)}`\n\n{docstring(plain)}"
    return constant_text(name, package)


def public_names(package: str) -> list[str]:
    """Public names of a package, without modules and without those of the package around it."""
    module = importlib.import_module(package)
    outer, _, _ = package.rpartition(".")
    known = set(public_names(outer)) if outer.count(".") else set()
    names = set(module.__all__) - known
    return sorted((n for n in names if not isinstance(getattr(module, n), ModuleType)), key=lambda n: (n.lower(), n))


def package_page(name: str) -> str:
    """Page on a package and on its inner packages that belong to the API."""
    parts = [f"# freefloat.{name}", WRITTEN]
    for package in (f"freefloat.{name}", *(f"freefloat.{p}" for p in INNER if p.startswith(f"{name}."))):
        if package.count(".") > 1:
            parts.append(f"## {package}")
        parts.append(docstring(importlib.import_module(package)))
        parts += [name_text(package, public) for public in public_names(package)]
    return "\n\n".join(parts) + "\n"


def first_sentence(text: str) -> str:
    """First sentence of a docstring, in one line."""
    return re.split(r"(?<=\.)\s", text.split("\n\n")[0].replace("\n", " "))[0]


def index_page() -> str:
    """Packages, and the names of `freefloat` itself with the page on which each stands."""
    rows = [
        f"- [`freefloat.{p}`]({p}.md): {first_sentence(docstring(importlib.import_module(f'freefloat.{p}')))}"
        for p in PACKAGES
    ]
    names = []
    for name in sorted(freefloat.__all__, key=str.lower):
        home = next(iter(list(homes("freefloat", name))[1:]), "freefloat")
        if home != "freefloat":
            thing = getattr(freefloat, name)
            page = f"{home.split('.')[1]}.md"
            anchor = f"#{name.lower()}" if name in importlib.import_module(f"freefloat.{page[:-3]}").__all__ else ""
            names.append(f"- [`ff.{name}`]({page}{anchor}): {first_sentence(docstring(thing))}")
    head = "# Reference\n\n" + WRITTEN + " The command line: [cli](cli.md). The words: [glossary](../glossary.md)."
    top = "## Names of `freefloat` itself\n\n`import freefloat as ff`\n\n" + "\n".join(names)
    return f"{head}\n\n## Packages\n\n" + "\n".join(rows) + f"\n\n{top}\n"


def command_text(path: str, command: Any) -> str:
    """Section on one command: usage, help, arguments and options, examples."""
    from freefloat.cli import plain_help

    arguments, rows, context = [], [], command.context_class(command)
    for parameter in command.get_params(context):
        help_text = (getattr(parameter, "help", "") or "").replace("|", "\\|").replace("\n", " ")
        if parameter.param_type_name == "argument":
            word = plain_help._argument_text(parameter)
            arguments.append(word)
            rows.append(f"| `{word}` | {help_text} |")
        elif parameter.name != "help" and not getattr(parameter, "hidden", False):
            names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
            kind = "" if parameter.is_flag else parameter.display_type_rich(context).replace("|", "\\|")
            default = parameter.default
            shown = isinstance(default, (int, float, str)) and not isinstance(default, bool) and default != ""
            rows.append(
                f"| {names} {kind} | {help_text}{f' Default: {default}.' if shown else ''} |".replace("  ", " ")
            )
    usage = " ".join([path, *arguments, "[OPTIONS]"])
    parts = [f"## {path}", f"`{usage}`", inspect.cleandoc(command.help or "")]
    parts += ["\n".join(["| | |", "|---|---|", *rows])] if rows else []
    if examples := re.findall(r"^\$ (.*)$", command.epilog or "", re.MULTILINE):
        parts.append("```\n" + "\n".join(examples) + "\n```")
    return "\n\n".join(part for part in parts if part)


def cli_page() -> str:
    """Page on the command line, from the program itself."""
    import typer

    from freefloat.cli.app import app

    group: Any = typer.main.get_command(app)
    parts = [
        "# Command line",
        "Written by `scripts/reference.py` from the program. Every command has `--help`.",
        group.help,
    ]
    for name, command in group.commands.items():
        inner = getattr(command, "commands", None)
        if inner is None:
            parts.append(command_text(f"freefloat {name}", command))
            continue
        parts += [command_text(f"freefloat {name} {sub}", each) for sub, each in inner.items()]
    return "\n\n".join(parts) + "\n"


def pages() -> dict[Path, str]:
    """Every page of the reference with its text."""
    texts = {"index": index_page(), "cli": cli_page()} | {name: package_page(name) for name in PACKAGES}
    return {FOLDER / f"{name}.md": text for name, text in texts.items()}


def main() -> int:
    """Write the pages, or report which of them would change."""
    fresh = pages()
    old = {path: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    changed = [path for path in fresh.keys() | old.keys() if fresh.get(path) != old.get(path)]
    if "--check" in sys.argv:
        print(*sorted(str(path.relative_to(ROOT)) for path in changed), sep="\n")
        return int(bool(changed))
    FOLDER.mkdir(exist_ok=True)
    for path in changed:
        path.write_text(fresh[path], encoding="utf-8") if path in fresh else path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())

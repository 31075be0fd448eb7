"""Python files of users: loaded as modules, and errors that name the user's own line.

It is here, and not in `values`, because a process of flight software loads its file without JAX.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType


def load_user_file(path: Path, fault: type[Exception]) -> ModuleType:
    """Module loaded from a user's Python file; an error in the file is raised as a `fault` that names the line."""
    file = path.resolve()
    if not file.is_file():
        raise fault(f"There is no file {path}.")
    # The same name in every process: compiled code is found by the classes of the file.
    name = f"freefloat_user_file_{hashlib.sha256(str(file).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise fault(f"{path} is no Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise fault(f"{path}, line {error.lineno}: {error.msg}.") from error
    except Exception as error:
        raise fault(user_error_text(path, error, "while it is loaded")) from error
    return module


def user_error_text(path: Path, error: Exception, otherwise: str) -> str:
    """Text of an error in a user's file, with the line; `otherwise` is used where no line is known."""
    file = str(path.resolve())
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    where = f"line {lines[-1]}" if lines else otherwise
    return f"{path}, {where}: {type(error).__name__}: {error}"

"""One HTML file from a template: its words, its numbers, its scripts; it asks nobody for anything."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from freefloat.report.payload import squeezed
from freefloat.values.files import write_atomically


def document(template: str, scripts: Sequence[str], places: Mapping[str, str]) -> str:
    """A template in the frame of all pages, its places filled; the one script is named in the policy by its hash."""
    script = "\n".join(asset(name) for name in scripts)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    filled_in = {
        "policy": f"default-src 'none'; script-src 'sha256-{digest}' blob:; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'",
        "style": asset("page.css"),
        "plotting": squeezed(_bokeh()),
        "script": script,
        **places,
    }
    pieces = asset("frame.html").replace("{{ main }}", asset(template)).split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, rest = piece.split("}}", 1)
        filled += [filled_in[name.strip()], rest]
    return "".join(filled)


def put(text: str, path: Path) -> Path:
    """Write a file whole or not at all."""
    return write_atomically(path, lambda partial: partial.write_text(text, encoding="utf-8"))


@cache
def asset(name: str) -> str:
    """A file that comes with the package."""
    return resources.files("freefloat.report").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _bokeh() -> bytes:
    """BokehJS and its plotting interface, as the installed package carries them; Bokeh itself is not imported."""
    found = importlib.util.find_spec("bokeh")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("The page needs Bokeh for its plots. Install it: pip install bokeh.")
    folder = Path(found.origin).parent / "server" / "static" / "js"
    return b"\n".join((folder / name).read_bytes() for name in ("bokeh.min.js", "bokeh-api.min.js"))

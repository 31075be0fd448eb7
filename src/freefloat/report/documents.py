"""One self-contained HTML file from a template, with its texts, numbers and scripts; it needs no network."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from freefloat.report.payload import compressed_text
from freefloat.values.files import write_atomically


def document(template: str, scripts: Sequence[str], places: Mapping[str, str]) -> str:
    """A template with its placeholders filled, in the common frame; the security policy has the hash of its script."""
    script = "\n".join(asset(name) for name in scripts)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    filled_in = {
        "policy": f"default-src 'none'; script-src 'sha256-{digest}' blob:; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'",
        "style": asset("page.css"),
        "plotting": compressed_text(_bokeh()),
        "script": script,
        **places,
    }
    pieces = asset("frame.html").replace("{{ main }}", asset(template)).split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, rest = piece.split("}}", 1)
        filled += [filled_in[name.strip()], rest]
    return "".join(filled)


def write_document(text: str, path: Path) -> Path:
    """Write a text file atomically."""
    return write_atomically(path, lambda partial: partial.write_text(text, encoding="utf-8"))


@cache
def asset(name: str) -> str:
    """Text of a file that comes with the package."""
    return resources.files("freefloat.report").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _bokeh() -> bytes:
    """BokehJS and its plotting interface, as the installed package carries them; Bokeh itself is not imported."""
    spec = importlib.util.find_spec("bokeh")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("The page needs Bokeh for its plots. Install it: pip install bokeh.")
    folder = Path(spec.origin).parent / "server" / "static" / "js"
    return b"\n".join((folder / name).read_bytes() for name in ("bokeh.min.js", "bokeh-api.min.js"))

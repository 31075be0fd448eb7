"""Program that executes a notebook without a browser and writes it with its outputs: `execute_notebook.py IN OUT`."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def main(source: str, target: str) -> None:
    notebook = nbformat.read(source, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    nbformat.validate(notebook)
    Path(target).write_text(nbformat.writes(notebook), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])

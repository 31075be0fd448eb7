"""The command line. Heavy packages are imported inside the commands, so that `--help` answers at once."""

from freefloat.cli.app import main

__all__ = ["main"]

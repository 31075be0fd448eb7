"""The signature of a verdict: versions, hashes of all evidence, and the command that repeats it."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from freefloat.engine.runtime.origins import package_source
from freefloat.hil.facility import Facility
from freefloat.hil.judging.acceptance import Acceptance
from freefloat.sim.record.run import versions
from freefloat.values.verdicts import CODE, Signature, digest_of, plain_data


def sign(
    files: Mapping[str, Path],
    settings: Mapping[str, Any],
    facility: Mapping[str, Any],
    accept: Acceptance,
    command: str,
) -> Signature:
    """Signature with hashes of files by name, settings of scenario and facility, limits of a go, and the code."""
    hashes = {name: _file_hash(path) for name, path in files.items()}
    hashes |= {"settings": digest_of(settings), "facility": digest_of(facility), "criteria": digest_of(asdict(accept))}
    return Signature(_versions(), {**hashes, CODE: package_source()}, command)


def describe_facility(facility: Facility) -> dict[str, Any]:
    """A facility as plain data: its own description, with name, cycle, delay and gravity."""
    own = {"name": facility.name, "cycle": facility.cycle, "delay": facility.delay, "gravity": list(facility.gravity)}
    return plain_data({"driver": driver_source(facility), **facility.description(), **own})


def driver_source(facility: Facility) -> str:
    """SHA-256 of the source file of a facility's class; empty where there is none."""
    try:
        return _file_hash(Path(inspect.getfile(type(facility))))
    except (OSError, TypeError):
        return ""


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _versions() -> dict[str, str]:
    installed = versions()
    try:
        return installed | {"mujoco": metadata.version("mujoco")}
    except metadata.PackageNotFoundError:
        return installed

"""The verdict of a rehearsed scenario: judged when it has run, and again from its folder, without any facility."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from freefloat.report.documents import put
from freefloat.report.folder import VERDICT_FILES, files_in
from freefloat.report.verdict_page import refusal_page, verdict_page
from freefloat.scenarios.runner import described_rehearsal
from freefloat.scenarios.scenario import ScenarioError
from freefloat.sim import Run
from freefloat.values.verdicts import Criterion, Verdict

if TYPE_CHECKING:
    from freefloat.hil.judging import Acceptance, Evidence
    from freefloat.scenarios.rehearsed import RehearsedScenario

LOG = "cycles.log"
_SIGNED = ("run", "scenario")  # files of every run that are signed
_CLOSE = 1e-6  # relative; another machine may round otherwise


def accepted(scenario: RehearsedScenario, settings: Mapping[str, Any]) -> Acceptance:
    """The limits of a scenario, some of them replaced; an error lists what there is."""
    from freefloat.hil.judging import Acceptance

    own = scenario.acceptance()
    if not settings:
        return own
    known = [one.name for one in dataclasses.fields(Acceptance)]
    if unknown := [name for name in settings if name not in known]:
        raise ScenarioError(f"There is no limit '{unknown[0]}' of a go. Limits: {', '.join(known)}.")
    given = {**dataclasses.asdict(own), "given_by": "the user", **settings}
    try:
        return TypeAdapter(Acceptance).validate_python(given)
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ScenarioError(f"These limits of a go cannot be: {told}.") from None


# ---- when it has run


def judge_rehearsed(
    scenario: RehearsedScenario, folder: Path, run: Run, simulated: Run, accept: Acceptance, told: Mapping[str, Any]
) -> Verdict:
    """Judge what a rehearsal left in its folder, sign it and write it there with its page.

    `told` has the facility as plain data (`facility`) and the command that repeats it all (`command`).
    """
    from freefloat.hil.judging import judge_rehearsal, sign, verdict_curves

    simulated.save(folder / VERDICT_FILES["simulation"], force=True)
    evidence = _evidence(scenario, folder, run, simulated, accept)
    signature = sign(signed_files(folder), run.scenario, told["facility"], accept, told["command"])
    verdict = judge_rehearsal(evidence, signature)
    _write(verdict, accept, told["facility"], folder)
    verdict_page(verdict, run, verdict_curves(evidence), folder / VERDICT_FILES["verdict page"])
    return verdict


def refuse_rehearsal(
    scenario: RehearsedScenario, folder: Path, reason: str, accept: Acceptance, told: Mapping[str, Any]
) -> Verdict:
    """The verdict of a rehearsal that could not begin: a no-go that says why, in its folder."""
    from freefloat.hil.judging import refused, sign

    signature = sign({}, scenario.as_dict(), told["facility"], accept, told["command"])
    verdict = Verdict(scenario.title, (refused(reason),), signature)
    folder.mkdir(parents=True, exist_ok=True)
    _write(verdict, accept, told["facility"], folder)
    refusal_page(verdict, folder / VERDICT_FILES["verdict page"])
    return verdict


def _write(verdict: Verdict, accept: Acceptance, facility: Mapping[str, Any], folder: Path) -> None:
    kept = {**verdict.as_dict(), "acceptance": dataclasses.asdict(accept), "facility": facility}
    put(json.dumps(kept, indent=2) + "\n", folder / VERDICT_FILES["verdict"])


def signed_files(folder: Path) -> dict[str, Path]:
    """Files whose hashes stand in a signature, by name."""
    own = files_in(folder)
    paths = [*(own[kind] for kind in _SIGNED), folder / VERDICT_FILES["simulation"], folder / LOG]
    return {path.name: path for path in paths}


def _evidence(scenario: RehearsedScenario, folder: Path, run: Run, simulated: Run, accept: Acceptance) -> Evidence:
    from freefloat.hil import read_log
    from freefloat.hil.judging import Evidence

    return Evidence(
        rehearsal=described_rehearsal(scenario),
        run=run,
        log=read_log(folder / LOG),
        declared=scenario.declared(),
        simulated=simulated,
        claims=tuple(scenario.mission_claims(run)),
        accept=accept,
    )


# ---- from its folder


@dataclass(frozen=True)
class Repeated:
    """A verdict as it was signed, as it is now, and what differs."""

    signed: Verdict
    now: Verdict
    changed: tuple[str, ...]  # files, settings, limits that are not those that were signed
    made_otherwise: tuple[str, ...]  # programs that are others now; they need not change a result
    otherwise: tuple[str, ...]  # criteria that come out differently

    @property
    def same(self) -> bool:
        """Whether nothing that was judged has changed and every criterion comes out as it was signed."""
        return not self.changed and not self.otherwise and self.signed.go == self.now.go


def judge_folder(scenario: RehearsedScenario, folder: Path) -> Repeated:
    """Judge a folder again from its files alone; a file that has changed is named, and judged as it is."""
    from freefloat.hil.judging import Acceptance, judge_rehearsal, sign

    kept = read_verdict(folder)
    accept = TypeAdapter(Acceptance).validate_python(kept["acceptance"])
    signed = Verdict.from_dict(kept)
    if gone := [name for name, path in signed_files(folder).items() if not path.is_file()]:
        raise FileNotFoundError(f"{folder} lacks {', '.join(gone)}: it cannot be judged again. Rehearse it again.")
    run = Run.load(files_in(folder)["run"], changed=True)
    simulated = Run.load(folder / VERDICT_FILES["simulation"], changed=True)
    signature = sign(signed_files(folder), run.scenario, kept["facility"], accept, signed.signature.command)
    now = judge_rehearsal(_evidence(scenario, folder, run, simulated, accept), signature)
    before = signed.signature
    programs = before.made_otherwise(signature)
    return Repeated(signed, now, before.changed(signature), programs, tuple(_differing(signed, now)))


def read_verdict(folder: Path) -> dict[str, Any]:
    """The verdict of a folder as plain data; an error says what is wrong with it."""
    path = folder / VERDICT_FILES["verdict"]
    if not path.is_file():
        raise FileNotFoundError(f"There is no verdict {path}. Rehearse first: freefloat rehearse ... --out {folder}.")
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        Verdict.from_dict(kept)
        return {**kept, "acceptance": dict(kept["acceptance"]), "facility": dict(kept["facility"])}
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no complete verdict ({type(error).__name__}: {error}). Rehearse again.") from None


def _differing(signed: Verdict, now: Verdict) -> list[str]:
    before, after = ({one.name: one for one in verdict.criteria} for verdict in (signed, now))
    return [name for name in dict.fromkeys((*before, *after)) if not _alike(before.get(name), after.get(name))]


def _alike(a: Criterion | None, b: Criterion | None) -> bool:
    if a is None or b is None or (a.decision, a.limit, a.required) != (b.decision, b.limit, b.required):
        return False
    if a.value is None or b.value is None:
        return a.value is b.value
    size = max(abs(a.value), abs(b.value), abs(a.limit))
    return a.value == b.value or abs(a.value - b.value) <= _CLOSE * size or (a.value != a.value and b.value != b.value)

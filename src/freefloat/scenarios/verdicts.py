"""Verdict of a rehearsed scenario: made after the rehearsal, and repeated from its folder without a facility."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from freefloat.report.documents import write_document
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
_CLOSE = 1e-6  # relative; rounding may differ on another machine


def acceptance_limits(scenario: RehearsedScenario, settings: Mapping[str, Any]) -> Acceptance:
    """Limits of a scenario with some of them replaced; an error lists the limits that exist."""
    from freefloat.hil.judging import Acceptance

    own = scenario.acceptance()
    if not settings:
        return own
    known = [field.name for field in dataclasses.fields(Acceptance)]
    if unknown := [name for name in settings if name not in known]:
        raise ScenarioError(f"There is no limit '{unknown[0]}' of a go. Limits: {', '.join(known)}.")
    given = {**dataclasses.asdict(own), "given_by": "the user", **settings}
    try:
        return TypeAdapter(Acceptance).validate_python(given)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ScenarioError(f"These limits of a go cannot be: {faults}.") from None


# ---- after the rehearsal


def judge_rehearsed(
    scenario: RehearsedScenario, folder: Path, run: Run, simulated: Run, accept: Acceptance, origin: Mapping[str, Any]
) -> Verdict:
    """Judge a rehearsal from the files in its folder, sign the verdict and write it there with its page.

    `origin` has the facility as plain data (`facility`) and the command that repeats the rehearsal (`command`).
    """
    from freefloat.hil.judging import judge_rehearsal, sign, verdict_curves

    simulated.save(folder / VERDICT_FILES["simulation"], force=True)
    evidence = _evidence(scenario, folder, run, simulated, accept)
    signature = sign(signed_files(folder), run.scenario, origin["facility"], accept, origin["command"])
    verdict = judge_rehearsal(evidence, signature)
    _write_verdict(verdict, accept, origin["facility"], folder)
    verdict_page(verdict, run, verdict_curves(evidence), folder / VERDICT_FILES["verdict page"])
    return verdict


def refuse_rehearsal(
    scenario: RehearsedScenario, folder: Path, reason: str, accept: Acceptance, origin: Mapping[str, Any]
) -> Verdict:
    """Write the no-go verdict, with its reason, of a rehearsal that could not begin."""
    from freefloat.hil.judging import refusal_criterion, sign

    signature = sign({}, scenario.as_dict(), origin["facility"], accept, origin["command"])
    verdict = Verdict(scenario.title, (refusal_criterion(reason),), signature)
    folder.mkdir(parents=True, exist_ok=True)
    _write_verdict(verdict, accept, origin["facility"], folder)
    refusal_page(verdict, folder / VERDICT_FILES["verdict page"])
    return verdict


def _write_verdict(verdict: Verdict, accept: Acceptance, facility: Mapping[str, Any], folder: Path) -> None:
    document = {**verdict.as_dict(), "acceptance": dataclasses.asdict(accept), "facility": facility}
    write_document(json.dumps(document, indent=2) + "\n", folder / VERDICT_FILES["verdict"])


def signed_files(folder: Path) -> dict[str, Path]:
    """Files whose hashes are part of the signature, by name."""
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
        declared=scenario.declared_world(),
        simulated=simulated,
        claims=tuple(scenario.mission_claims(run, simulated)),
        accept=accept,
    )


# ---- repeated from the folder


@dataclass(frozen=True)
class VerdictComparison:
    """The signed verdict, the repeated verdict, and their differences."""

    signed: Verdict
    now: Verdict
    changed: tuple[str, ...]  # files, settings and limits that differ from the signed ones
    made_otherwise: tuple[str, ...]  # programs whose version differs now; results may still be the same
    otherwise: tuple[str, ...]  # criteria whose result differs

    @property
    def same(self) -> bool:
        """Whether no judged input has changed and every criterion has its signed result."""
        return not self.changed and not self.otherwise and self.signed.go == self.now.go


def judge_folder(scenario: RehearsedScenario, folder: Path) -> VerdictComparison:
    """Judge a folder again from its files alone; files that have changed are listed, and judged as they are now."""
    from freefloat.hil.judging import Acceptance, judge_rehearsal, sign

    document = read_verdict(folder)
    accept = TypeAdapter(Acceptance).validate_python(document["acceptance"])
    signed = Verdict.from_dict(document)
    if gone := [name for name, path in signed_files(folder).items() if not path.is_file()]:
        raise FileNotFoundError(f"{folder} lacks {', '.join(gone)}: it cannot be judged again. Rehearse it again.")
    run = Run.load(files_in(folder)["run"], changed=True)
    simulated = Run.load(folder / VERDICT_FILES["simulation"], changed=True)
    signature = sign(signed_files(folder), run.scenario, document["facility"], accept, signed.signature.command)
    now = judge_rehearsal(_evidence(scenario, folder, run, simulated, accept), signature)
    before = signed.signature
    programs = before.changed_programs(signature)
    return VerdictComparison(
        signed, now, before.changed_inputs(signature), programs, tuple(_changed_criteria(signed, now))
    )


def read_verdict(folder: Path) -> dict[str, Any]:
    """Verdict of a folder as plain data; an error if it is missing or incomplete."""
    path = folder / VERDICT_FILES["verdict"]
    if not path.is_file():
        raise FileNotFoundError(f"There is no verdict {path}. Rehearse first: freefloat rehearse ... --out {folder}.")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        Verdict.from_dict(document)
        return {**document, "acceptance": dict(document["acceptance"]), "facility": dict(document["facility"])}
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no complete verdict ({type(error).__name__}: {error}). Rehearse again.") from None


def _changed_criteria(signed: Verdict, now: Verdict) -> list[str]:
    before, after = ({criterion.name: criterion for criterion in verdict.criteria} for verdict in (signed, now))
    return [name for name in dict.fromkeys((*before, *after)) if not _same_result(before.get(name), after.get(name))]


def _same_result(a: Criterion | None, b: Criterion | None) -> bool:
    if a is None or b is None or (a.decision, a.limit, a.required) != (b.decision, b.limit, b.required):
        return False
    if a.value is None or b.value is None:
        return a.value is b.value
    size = max(abs(a.value), abs(b.value), abs(a.limit))
    return a.value == b.value or abs(a.value - b.value) <= _CLOSE * size or (a.value != a.value and b.value != b.value)

"""`freefloat rehearse`."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.table import Table

from freefloat.cli.progress import progress_bar
from freefloat.cli.run import print_run, require_free, resolve
from freefloat.cli.tables import print_table
from freefloat.cli.verdict import print_verdict
from freefloat.report.folder import CELL_PAGE, VERDICT_FILES, files_in, finish_folder, save_run
from freefloat.scenarios import SCENARIOS, ScenarioError, find
from freefloat.scenarios.facility_choice import choose_facility
from freefloat.scenarios.rehearsed import RehearsedScenario
from freefloat.scenarios.runner import rehearse_variant
from freefloat.scenarios.scenario import Scenario, parse_setting
from freefloat.scenarios.verdicts import LOG, acceptance_limits, judge_rehearsed, refuse_rehearsal
from freefloat.sim import Run
from freefloat.values.errors import ModelError


@dataclass(frozen=True)
class RehearsalOptions:
    """Options of a rehearsal, which are enough to repeat it."""

    name: str
    out: Path
    settings: list[str]
    variant: str | None
    facility: str
    accept: list[str]
    realtime: bool

    @property
    def command(self) -> str:
        """Command line that repeats the rehearsal into another folder."""
        words = ["freefloat", "rehearse", self.name, "--facility", self.facility]
        words += ["--variant", self.variant] if self.variant else []
        words += [word for option in self.settings for word in ("--set", option)]
        words += [word for option in self.accept for word in ("--accept", option)]
        words += ["--realtime"] if self.realtime else []
        return shlex.join([*words, "--out", "FOLDER"])


def rehearse(options: RehearsalOptions, *, force: bool, as_json: bool, quiet: bool) -> int:
    """Rehearse a scenario, save everything, judge it and print the results; returns 0 for a go, 1 for a no-go."""
    from freefloat.hil.judging import describe_facility

    scenario, variant = resolve(options.name, options.settings, options.variant)
    scenario = rehearsed_scenario(scenario, options.name)
    limits = acceptance_limits(scenario, dict(parse_setting(text) for text in options.accept))
    files = _files(options.out)
    require_free(files.values(), force)
    chosen = choose_facility(options.facility, scenario)
    files["log"].unlink(missing_ok=True)
    origin = {"facility": describe_facility(chosen), "command": options.command}
    try:
        with progress_bar(f"{scenario.name} {variant} in {chosen.name}", quiet or as_json) as progress:
            run, simulated = rehearse_variant(
                scenario, variant, chosen, realtime=options.realtime, log=files["log"], progress=progress
            )
    except ModelError as refusal:  # nothing moved: that is a verdict too
        print_verdict(refuse_rehearsal(scenario, options.out, str(refusal), limits, origin), as_json=as_json)
        return 1
    finally:
        chosen.close()
    save_run(run, options.out)
    summary = finish_folder(run, options.out)
    verdict = judge_rehearsed(scenario, options.out, run, simulated, limits, origin)
    if as_json:
        judged = {"ok": verdict.go, "go": verdict.go, "criteria": verdict.as_dict()["criteria"]}
        typer.echo(json.dumps({**summary, **judged}, indent=2))
    else:
        _print_tables(run)
        print_run(run, {kind: path for kind, path in files.items() if path.exists()})
        print_verdict(verdict, as_json=False)
    return 0 if verdict.go else 1


def rehearsed_scenario(scenario: Scenario, name: str) -> RehearsedScenario:
    """The scenario if it names robots; raises an error with those that do if it does not."""
    if isinstance(scenario, RehearsedScenario):
        return scenario
    known = ", ".join(key for key in SCENARIOS if issubclass(find(key), RehearsedScenario)) or "none"
    raise ScenarioError(f"Scenario '{name}' names no robots to rehearse it with. Those that do: {known}.")


def _files(out: Path) -> dict[str, Path]:
    verdict = {kind: out / name for kind, name in VERDICT_FILES.items()}
    return {**files_in(out), **verdict, "log": out / LOG, "cell": out / CELL_PAGE}


def _print_tables(run: Run) -> None:
    for facts in run.description.tables:
        shown = Table(title=facts.title, title_justify="left", box=None, pad_edge=False)
        for heading in facts.headings:
            shown.add_column(heading)
        for row in facts.rows:
            shown.add_row(*row)
        print_table(shown)
    typer.echo("")

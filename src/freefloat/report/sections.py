"""Texts and tables of a page: what was simulated, reference numbers, conservation audit, settings, versions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.report.figures import is_curve, times
from freefloat.report.markup import Markup, element, join_markup, table, text, verdict
from freefloat.report.units import number_text
from freefloat.sim.audit.conditions import find_conditions
from freefloat.values.claims import KINDS, Claim, kinds_in_words
from freefloat.values.nested import flatten

if TYPE_CHECKING:
    from freefloat.sim import Run


@dataclass(frozen=True)
class Sheet:
    """A run and its name on the page."""

    name: str
    run: Run


def title(run: Run) -> str:
    """Title of a run in one line."""
    name = run.description.title or run.scenario.get("scenario") or run.scenario.get("spacecraft")
    return str(name or "A run")


def lead_paragraph(run: Run) -> Markup:
    """First paragraph of a page: what was simulated, the outcome, the reference numbers, the conservation audit."""
    outcome = run.description.outcome
    came_to = text(f"{outcome} " if outcome else "")
    return element("p", _simulation_sentence(run), came_to, _claims_sentence(run), _audit_sentence(run), class_="lead")


def about(run: Run) -> Markup:
    """Paragraphs on the experiment and its publication, as far as they are recorded."""
    description = run.description
    source = f" {_origin(description.source)}" if description.source else ""
    parts = [element("p", f"{description.summary}{source}", class_="about")] if description.summary or source else []
    for number, note in enumerate(description.notes):
        others = element("a", "Compare with others.", href="#scatters") if description.scatters and not number else ""
        parts.append(element("p", f"{note} ", others, class_="about"))
    return join_markup(parts)


def _origin(source: str) -> str:
    """Where an experiment is published, or the user's file that it comes from."""
    return f"From {source}." if source.endswith(".py") else f"Published in: {source}."


def guessed_shapes(sheets: Sequence[Sheet]) -> Markup:
    """Note on the bodies that were given no shapes, so that their pictures are made from mass, inertia and joints."""
    drawn = [body for sheet in sheets if sheet.run.scene for body in sheet.run.scene.get("bodies", [])]
    names = list(dict.fromkeys(str(body.get("name", "")) for body in drawn if body.get("guessed")))
    if not names:
        return Markup("")
    listed = ", ".join(names) if len(names) <= _MOST_GUESSED else f"{', '.join(names[:_MOST_GUESSED])} and others"
    return element(
        "p", f"Guessed from mass, inertia and joints, because no shapes were given: {listed}.", class_="note"
    )


def _simulation_sentence(run: Run) -> Markup:
    duration = _duration(run)
    what = f"Simulated: {duration:g} s"
    if run.scene:
        bodies, mass = len(run.scene["bodies"]), run.scene.get("mass")
        what += f" of spacecraft {run.scene.get('name', '')}"
        what += f" ({bodies} {'body' if bodies == 1 else 'bodies'}"
        what += f", {mass:.6g} kg)" if isinstance(mass, float) else ")"
    if "dt" in run.scenario:
        what += f", in steps of {run.scenario['dt']} s"
    end = "" if run.completed else f" It did not finish: {run.status}."
    return text(what + "." + end + " ")


def _claims_sentence(run: Run) -> Markup:
    if not run.claims:
        return text("No reference numbers belong to these settings. ")
    judged = _judged_claims(run)
    reached, beyond = sum(claim["holds"] is True for claim in judged), len(run.claims) - len(judged)
    aside = f"{beyond} cannot be reproduced; the table says why. " if beyond else ""
    if reached == len(judged):
        words = f"It reaches all {reached} reference numbers ({kinds_in_words(judged)}). " if judged else ""
        return text(words + aside)
    missed = f"It misses {len(judged) - reached} of {len(judged)} reference numbers. "
    return join_markup([element("strong", missed), text(aside)])


def _judged_claims(run: Run) -> list[dict[str, Any]]:
    """Claims that hold or fail; one without a result counts as failed."""
    return [{"holds": False, **claim} for claim in run.claims if claim.get("holds", False) is not None]


def _audit_sentence(run: Run) -> Markup:
    entries = run.audit.entries
    if not entries:
        return text("No conservation audit was recorded.")
    if run.audit.holds:
        return text("Momentum and energy balance within what the integrator promises.")
    return element("strong", f"{len(run.audit.violations)} of {len(entries)} balances are violated: do not trust it.")


def _duration(run: Run) -> float:
    samples = int(run.recorded.sizes.get("time", 0))
    t = times(run, samples)
    return float(t[-1] - t[0]) if samples else 0.0


def badges(run: Run) -> Markup:
    """Badges for status, conditions, claims and audit, the worst first, with links to their sections."""
    judged, holds = _judged_claims(run), len(run.audit.entries) - len(run.audit.violations)
    reached = sum(claim["holds"] is True for claim in judged)
    badges = [_Badge(0 if run.completed else 3, "completed" if run.completed else run.status)]
    if run.audit.entries:
        words = f"{holds} of {len(run.audit.entries)} balances hold"
        badges.append(_Badge(0 if run.audit.holds else 3, words, "#conserved"))
    if judged:
        words = f"{reached} of {len(judged)} reference numbers reached: {kinds_in_words(judged)}"
        badges.append(_Badge(0 if reached == len(judged) else 2, words, "#claims"))
    if run.accuracy.measured:
        badges.append(_Badge(0 if run.accuracy.converged else 3, run.accuracy.in_short(), "#accuracy"))
    conditions = sorted(find_conditions(run.recorded), key=lambda condition: -condition.share)
    badges += [_Badge(1, f"{c.label}: {c.meaning} {100 * c.share:.3g} % of the time", "#conserved") for c in conditions]
    badges += [_Badge(1, f"warning: {words}", "#conserved") for words in run.audit.warnings]
    if len(judged) < len(run.claims):
        badges.append(_Badge(1, f"{len(run.claims) - len(judged)} not reproduced", "#claims"))
    badges.sort(key=lambda badge: -badge.gravity)
    return element("div", *(badge.markup() for badge in badges), class_="chips")


@dataclass(frozen=True)
class _Badge:
    """One badge at the head of a page: a coloured word with a link."""

    gravity: int  # 0 good, 1 remark, 2 a reference number is missed, 3 the run cannot be trusted
    words: str
    section: str = ""

    def markup(self) -> Markup:
        colour, sign = (("good", "✓"), ("caution", "!"), ("bad", "✗"), ("bad", "✗"))[self.gravity]
        badge = element("span", f"{sign} {self.words}", class_=colour)
        return element("a", badge, href=self.section) if self.section else badge


def claims(sheets: Sequence[Sheet]) -> Markup:
    """Table of the reference numbers, ours beside them, and the verdicts."""
    rows = [(sheet, _claim(row)) for sheet in sheets for row in sheet.run.claims]
    if not rows:
        return element("p", "No reference numbers belong to these settings.")
    headings = ("claim", "reference", "ours", "verdict", "who says so")
    reasons = dict.fromkeys(_reason(row) for sheet in sheets for row in sheet.run.claims)
    notes = [element("p", words, class_="note") for words in reasons if words]
    counts = kinds_in_words(row for sheet in sheets for row in sheet.run.claims)
    legend = element("p", f"References: {counts}.", class_="note")
    return join_markup([runs_table(sheets, headings, rows, numbers=(1, 2)), legend, *notes])


def _reason(row: dict[str, Any]) -> str:
    """Why a number is not reproduced, or by which interpretation it holds; empty without a reason."""
    return f"{row.get('claim', '?')}: {row['reason']}." if row.get("reason") else ""


def _claim(row: dict[str, Any]) -> list[object]:
    try:
        claim = Claim.from_dict(row)
        return [
            claim.name,
            claim.statement.replace("+-", "±"),
            claim.with_unit(number_text(claim.value)),
            _verdict_cell(claim),
            ": ".join(filter(None, (KINDS.get(claim.source.kind, ""), claim.source.text))),
        ]
    except (KeyError, TypeError, ValueError):
        return [
            row.get("claim", "?"),
            row.get("reference", "?"),
            row.get("ours", "?"),
            "unreadable",
            row.get("source", ""),
        ]


def _verdict_cell(claim: Claim) -> Markup:
    if claim.holds is None:
        return element("span", "not reproduced", class_="note")
    return verdict(claim.holds, "holds", "fails")


def audit_table(sheets: Sequence[Sheet]) -> Markup:
    """Table of the audit: the largest imbalance of every balance, with warnings and conditions."""
    rows = [
        (
            sheet,
            (
                entry.name,
                f"{entry.value:.1e} {entry.unit}",
                f"{entry.at:g} s",
                f"{entry.limit:.1e} {entry.unit}",
                verdict(entry.holds, "holds", "violated"),
            ),
        )
        for sheet in sheets
        for entry in sheet.run.audit.entries
    ]
    headings = ("balance", "largest imbalance", "at", "permitted", "verdict")
    reasons = dict.fromkeys(sheet.run.audit.reason for sheet in sheets if sheet.run.audit.reason)
    parts = [runs_table(sheets, headings, rows, numbers=(1, 2, 3))]
    parts += [element("p", f"What is permitted follows from: {reason}.", class_="note") for reason in reasons]
    remarks = dict.fromkeys(
        f"{kind}: {remark}"
        for sheet in sheets
        for kind, texts in (("Warning", sheet.run.audit.warnings), ("Not normal", sheet.run.conditions))
        for remark in texts
    )
    return join_markup([*parts, *(element("p", remark, class_="note") for remark in remarks)])


def energy_momentum_table(sheets: Sequence[Sheet]) -> Markup:
    """Table of energy and momentum at the start and at the end, with work, impulse and dissipation."""
    rows = [(sheet, row) for sheet in sheets for row in _energy_momentum_rows(sheet.run)]
    if not rows:
        return element("p", "No energy or momentum was recorded.")
    return runs_table(sheets, ("ledger", "start", "end", "change"), rows, numbers=(1, 2, 3))


_MOST_GUESSED = 12  # bodies that are named
_BALANCE_CHANNELS = (
    *("energy.kinetic", "energy.elastic", "energy.work", "energy.dissipated", "energy.inner", "energy.inner_work"),
    *("momentum.linear", "momentum.angular_com", "impulse.linear", "impulse.angular_com"),
)


def _energy_momentum_rows(run: Run) -> list[list[object]]:
    rows: list[list[object]] = []
    for name in run.channels:
        if not is_curve(run, name) or not any(f".{name}".endswith(f".{book}") for book in _BALANCE_CHANNELS):
            continue
        array = run.recorded[name]
        values = np.asarray(array.values, dtype=float).reshape(array.shape[0], -1)
        unit, frame = str(array.attrs.get("units", "")), str(array.attrs.get("frame", ""))
        size = np.linalg.norm(values, axis=1) if values.shape[1] > 1 else values[:, 0]
        change = np.linalg.norm(values[-1] - values[0]) if values.shape[1] > 1 else size[-1] - size[0]
        label = str(array.attrs.get("long_name", name)) + (f", length (axes {frame})" if frame else "")
        rows.append([label, *(f"{number_text(float(v), 4)} {unit}" for v in (size[0], size[-1], change))])
    return rows


def facts(sheets: Sequence[Sheet]) -> Markup:
    """Sections of the tables in the descriptions of the runs."""
    parts = []
    for sheet in sheets:
        name = f"{sheet.name}: " if len(sheets) > 1 else ""
        for own in sheet.run.description.tables:
            note = [element("p", own.note, class_="note")] if own.note else []
            heading = element("h2", name + own.title)
            parts.append(element("section", heading, table(own.headings, own.rows), *note))
    return join_markup(parts)


_LISTED_EVENTS = 200  # rows of the table, of each run


def events(sheets: Sequence[Sheet]) -> Markup:
    """Table of the events in order of time."""
    rows = []
    for sheet in sheets:
        listed = [(float(e.get("time", 0.0)), str(e.get("label", ""))) for e in sheet.run.events]
        shown = listed[:_LISTED_EVENTS]
        if more := len(listed) - len(shown):
            shown.append((shown[-1][0], f"and {more} events more; the run's file has them"))
        t = times(sheet.run, int(sheet.run.recorded.sizes.get("time", 0)))
        if t.size:
            shown += [(float(t[0]), "start"), (float(t[-1]), "end" if sheet.run.completed else sheet.run.status)]
        rows += [(sheet, (f"{when:g} s", label)) for when, label in sorted(shown)]
    return runs_table(sheets, ("time", "event"), rows, numbers=(0,))


def settings(sheets: Sequence[Sheet]) -> Markup:
    """Table of all settings: scenario, parts, start, limits. For several runs those that differ come first."""
    flat = [_all_settings(sheet.run) for sheet in sheets]
    units = {path: unit for sheet in sheets for path, unit in sheet.run.description.units.items()}
    rows = {
        path: [path, *(_plain(values[path]) if path in values else "" for values in flat), units.get(path, "")]
        for path in dict.fromkeys(path for values in flat for path in values)
    }
    headings = ["setting", *(sheet.name if len(sheets) > 1 else "value" for sheet in sheets), "unit"]
    if len(sheets) > 1:
        first, folded = {path for path, row in rows.items() if len(set(row[1:-1])) > 1}, "What is the same"
    else:
        first, folded = set(flatten(sheets[0].run.scenario)), "Parts with their settings, start, limits"
    shown, rest = ([row for path, row in rows.items() if (path in first) is there] for there in (True, False))
    parts = [table(headings, shown) if shown else element("p", "Nothing that was set differs.")]
    parts += [element("details", element("summary", folded), table(headings, rest))] if rest else []
    return join_markup(parts)


def _all_settings(run: Run) -> dict[str, Any]:
    description = run.description
    parts = {f"{part['kind']} {number}": dict(part) for number, part in enumerate(description.parts, start=1)}
    return flatten({**run.scenario, **parts, "start": dict(description.start), "limit": dict(description.limits)})


def versions(sheets: Sequence[Sheet]) -> Markup:
    """Table of the software versions with which the runs were made."""
    paths = list(dict.fromkeys(name for sheet in sheets for name in (sheet.run.versions or {})))
    rows = [[name, *((sheet.run.versions or {}).get(name, "") for sheet in sheets)] for name in paths]
    return table(["made with", *(sheet.name if len(sheets) > 1 else "version" for sheet in sheets)], rows)


def _plain(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_plain, value))
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def runs_table(
    sheets: Sequence[Sheet],
    headings: Sequence[str],
    rows: Iterable[tuple[Sheet, Sequence[object]]],
    numbers: Sequence[int] = (),
) -> Markup:
    """Table of rows of several runs, each with the name of its run in front if there is more than one run."""
    if len(sheets) > 1:
        named = [[sheet.name, *row] for sheet, row in rows]
        return table(["run", *headings], named, [column + 1 for column in numbers])
    return table(headings, [row for _, row in rows], numbers)

"""The words and tables of a page: what was simulated, does it match the paper, what was conserved, with what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.report.figures import is_curve, times
from freefloat.report.markup import Markup, element, joined, table, text, verdict
from freefloat.report.units import written
from freefloat.scenarios import SCENARIOS, Claim
from freefloat.scenarios.settings import settings_of

if TYPE_CHECKING:
    from freefloat.sim import Run


@dataclass(frozen=True)
class Sheet:
    """A run and what it is called on the page."""

    name: str
    run: Run


def title(run: Run) -> str:
    """What was simulated, in a line."""
    scenario = SCENARIOS.get(str(run.scenario.get("scenario", "")))
    if scenario:
        return scenario.title
    return str(run.scenario.get("scenario") or run.scenario.get("spacecraft") or "A run")


def lead(run: Run) -> Markup:
    """The answer in few sentences: what was simulated, what it came to, whether it matches, what was conserved."""
    return element("p", _simulated(run), _came_to(run), _matched(run), _conserved(run), class_="lead")


def about(run: Run) -> Markup:
    """What the experiment is and where it was published, as far as the scenario says."""
    scenario = SCENARIOS.get(str(run.scenario.get("scenario", "")))
    if not scenario:
        return Markup("")
    told = (scenario.__doc__ or "").strip().split("\n")[0]
    parts = [element("p", f"{told} Published in: {scenario.source}.", class_="about")]
    if scenario.note:
        others = element("a", "Compare with others.", href="#scatters") if scenario.scatters else ""
        parts.append(element("p", f"{scenario.note} ", others, class_="about"))
    return joined(parts)


def _came_to(run: Run) -> Markup:
    scenario = SCENARIOS.get(str(run.scenario.get("scenario", "")))
    try:
        words = scenario.came_to(run) if scenario else ""
    except (KeyError, IndexError, TypeError, ValueError):  # a run file from elsewhere may lack anything
        words = ""
    return text(f"{words} " if words else "")


def _simulated(run: Run) -> Markup:
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


def _matched(run: Run) -> Markup:
    if not run.claims:
        return text("No reference numbers belong to these settings. ")
    reached, judged = _count(run)
    beyond = len(run.claims) - judged
    aside = f"{beyond} cannot be reproduced; the table says why. " if beyond else ""
    if reached == judged:
        return text((f"It reaches all {judged} reference numbers. " if judged else "") + aside)
    return joined([element("strong", f"It misses {judged - reached} of {judged} reference numbers. "), text(aside)])


def _count(run: Run) -> tuple[int, int]:
    """Reference numbers that were reached, and those that can be judged at all."""
    verdicts = [claim.get("holds", False) for claim in run.claims]
    return sum(v is True for v in verdicts), sum(v is not None for v in verdicts)


def _conserved(run: Run) -> Markup:
    entries = run.audit.entries
    if not entries:
        return text("No conservation audit was recorded.")
    if run.audit.holds:
        return text("Momentum and energy balance within what the integrator promises.")
    return element("strong", f"{len(run.audit.violations)} of {len(entries)} balances are violated: do not trust it.")


def _duration(run: Run) -> float:
    samples = int(run.data.sizes.get("time", 0))
    t = times(run, samples)
    return float(t[-1] - t[0]) if samples else 0.0


def chips(run: Run) -> Markup:
    """Status, claims and audit at a glance, each a link to its section."""
    reached, judged = _count(run)
    made = [verdict(run.completed, "completed", run.status)]
    if judged:
        words = f"{reached} of {judged} reference numbers reached"
        made.append(element("a", verdict(reached == judged, words, words), href="#claims"))
    if run.audit.entries:
        holds = len(run.audit.entries) - len(run.audit.violations)
        words = f"{holds} of {len(run.audit.entries)} balances hold"
        made.append(element("a", verdict(run.audit.holds, words, words), href="#conserved"))
    return element("div", *made, class_="chips")


def claims(sheets: Sequence[Sheet]) -> Markup:
    """Reference numbers, ours beside them, the verdict."""
    rows = [[*_named(sheets, sheet), *_claim(row)] for sheet in sheets for row in sheet.run.claims]
    if not rows:
        return element("p", "No reference numbers belong to these settings.")
    headings = [*_named_heading(sheets), "claim", "reference", "ours", "verdict", "source"]
    shift = len(headings) - 5
    told = dict.fromkeys(_reason(row) for sheet in sheets for row in sheet.run.claims)
    notes = [element("p", words, class_="note") for words in told if words]
    return joined([table(headings, rows, numbers=(1 + shift, 2 + shift)), *notes])


def _reason(row: dict[str, Any]) -> str:
    """Why a number is not reproduced, or by which reading it holds; nothing where nothing need be said."""
    return f"{row.get('claim', '?')}: {row['reason']}." if row.get("reason") else ""


def _claim(row: dict[str, Any]) -> list[object]:
    try:
        claim = Claim.from_dict(row)
        return [
            claim.claim,
            claim.statement.replace("+-", "±"),
            claim.with_unit(written(claim.ours)),
            _judged(claim),
            claim.source,
        ]
    except (KeyError, TypeError, ValueError):
        return [
            row.get("claim", "?"),
            row.get("published", "?"),
            row.get("ours", "?"),
            "unreadable",
            row.get("source", ""),
        ]


def _judged(claim: Claim) -> Markup:
    if claim.holds is None:
        return element("span", "not reproduced", class_="note")
    return verdict(claim.holds, "holds", "fails")


def conserved(sheets: Sequence[Sheet]) -> Markup:
    """The audit, and the ledger of energy and momentum behind it."""
    rows = [
        [
            *_named(sheets, sheet),
            entry.quantity,
            f"{entry.imbalance:.1e} {entry.unit}",
            f"{entry.at:g} s",
            f"{entry.permitted:.1e} {entry.unit}",
            verdict(entry.holds, "holds", "violated"),
        ]
        for sheet in sheets
        for entry in sheet.run.audit.entries
    ]
    headings = [*_named_heading(sheets), "balance", "largest imbalance", "at", "permitted", "verdict"]
    shift = len(headings) - 5
    reasons = dict.fromkeys(sheet.run.audit.reason for sheet in sheets if sheet.run.audit.reason)
    parts = [table(headings, rows, numbers=(1 + shift, 2 + shift, 3 + shift))]
    parts += [element("p", f"What is permitted follows from: {reason}.", class_="note") for reason in reasons]
    remarks = dict.fromkeys(
        f"{kind}: {remark}"
        for sheet in sheets
        for kind, found in (("Warning", sheet.run.audit.warnings), ("Not normal", sheet.run.conditions))
        for remark in found
    )
    return joined([*parts, *(element("p", remark, class_="note") for remark in remarks)])


def ledger(sheets: Sequence[Sheet]) -> Markup:
    """Energy and momentum at the start and at the end, with what went in and out."""
    rows = [row for sheet in sheets for row in ([*_named(sheets, sheet), *r] for r in _ledger(sheet.run))]
    if not rows:
        return element("p", "No energy or momentum was recorded.")
    headings = [*_named_heading(sheets), "ledger", "start", "end", "change"]
    shift = len(headings) - 4
    return table(headings, rows, numbers=(1 + shift, 2 + shift, 3 + shift))


_BOOKS = (
    "energy.kinetic",
    "energy.elastic",
    "energy.work",
    "energy.dissipated",
    "energy.inner",
    "energy.inner_work",
    "momentum.linear",
    "momentum.angular_com",
    "impulse.linear",
    "impulse.angular_com",
)


def _ledger(run: Run) -> list[list[object]]:
    rows: list[list[object]] = []
    for name in _BOOKS:
        if not is_curve(run, name):
            continue
        array = run.data[name]
        values = np.asarray(array.values, dtype=float).reshape(array.shape[0], -1)
        unit, frame = str(array.attrs.get("units", "")), str(array.attrs.get("frame", ""))
        size = np.linalg.norm(values, axis=1) if values.shape[1] > 1 else values[:, 0]
        change = np.linalg.norm(values[-1] - values[0]) if values.shape[1] > 1 else size[-1] - size[0]
        label = str(array.attrs.get("long_name", name)) + (f", length (axes {frame})" if frame else "")
        rows.append([label, *(f"{written(float(v), 4)} {unit}" for v in (size[0], size[-1], change))])
    return rows


def events(sheets: Sequence[Sheet]) -> Markup:
    """What happened, in order of time."""
    rows = []
    for sheet in sheets:
        found = [(float(e.get("time", 0.0)), str(e.get("label", ""))) for e in sheet.run.events]
        t = times(sheet.run, int(sheet.run.data.sizes.get("time", 0)))
        if t.size:
            found += [(float(t[0]), "start"), (float(t[-1]), "end" if sheet.run.completed else sheet.run.status)]
        rows += [[*_named(sheets, sheet), f"{when:g} s", label] for when, label in sorted(found)]
    headings = [*_named_heading(sheets), "time", "event"]
    return table(headings, rows, numbers=(len(headings) - 2,))


def settings(sheets: Sequence[Sheet]) -> Markup:
    """The resolved scenario; of several runs only what differs is set off."""
    flat = [_flat(sheet.run.scenario) for sheet in sheets]
    paths = list(dict.fromkeys(path for one in flat for path in one))
    units = _units(sheets[0].run)
    rows = []
    for path in paths:
        values = [_plain(one.get(path, "")) for one in flat]
        differs = len(set(values)) > 1
        rows.append([path, *(element("strong", v) if differs else v for v in values), units.get(path, "")])
    return table(["setting", *(sheet.name if len(sheets) > 1 else "value" for sheet in sheets), "unit"], rows)


def _units(run: Run) -> dict[str, str]:
    """Units of the settings, where the scenario still exists."""
    scenario = SCENARIOS.get(str(run.scenario.get("scenario", "")))
    nominal = next(iter(scenario.variants().values()), None) if scenario else None
    return {setting.path: setting.unit for setting in settings_of(nominal)} if nominal else {}


def versions(sheets: Sequence[Sheet]) -> Markup:
    """What the numbers depend on."""
    paths = list(dict.fromkeys(name for sheet in sheets for name in (sheet.run.versions or {})))
    rows = [[name, *((sheet.run.versions or {}).get(name, "") for sheet in sheets)] for name in paths]
    return table(["made with", *(sheet.name if len(sheets) > 1 else "version" for sheet in sheets)], rows)


def _flat(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in data.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def _plain(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_plain, value))
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _named(sheets: Sequence[Sheet], sheet: Sheet) -> list[object]:
    return [sheet.name] if len(sheets) > 1 else []


def _named_heading(sheets: Sequence[Sheet]) -> list[str]:
    return ["run"] if len(sheets) > 1 else []

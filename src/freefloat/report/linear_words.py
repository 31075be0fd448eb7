"""Texts and tables of the page of a linear model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.control.lqr import RobustnessReport
from freefloat.control.lqr.mode_reach import LIMIT
from freefloat.report.linear_facts import LinearFacts
from freefloat.report.markup import Markup, element, headed_section, join_markup, table

_FREE = 1e-9  # frequencies below this are those of free motion [rad/s]
STILL = 1e-8  # poles nearer to zero than this are those of free motion, and rounding [1/s]


def lead_paragraph(facts: LinearFacts, what: str) -> Markup:
    """First paragraph of the page: the model and its poles in a few sentences."""
    structure, w = facts.structure, facts.structure.modes.frequencies
    swinging, free, falling = w[w > _FREE], int(np.sum(np.abs(w) <= _FREE)), int(np.sum(w < -_FREE))
    words = [
        f"{what}: {len(structure.M)} coordinates, {2 * len(structure.M)} states, {len(structure.inputs)} inputs, "
        f"{len(structure.outputs)} outputs."
    ]
    if len(swinging):
        words.append(f"{len(swinging)} modes from {swinging[0]:.4g} to {swinging[-1]:.5g} rad/s.")
    words += [f"{count} {kind}." for count, kind in ((free, "free"), (falling, "unstable")) if count]
    words.append(_damping_words("Without control", facts.before, facts))
    if facts.after is not None:
        kind = (
            "With the controller" if facts.period is None else f"With the controller, sampled every {facts.period:g} s"
        )
        words.append(_damping_words(kind, facts.after, facts))
    return element("p", " ".join(filter(None, words)), class_="lead")


def _damping_words(when: str, poles: np.ndarray, facts: LinearFacts) -> str:
    swinging = np.flatnonzero(np.isfinite(poles) & (np.imag(poles) > _FREE))
    if not len(swinging):
        return ""
    ratios = damping(poles[swinging])
    least = swinging[int(np.argmin(ratios))]
    return (
        f"{when} the least damped mode is {facts.structure.modes.names[least]}: "
        f"{percent(float(np.min(ratios)))} of critical damping."
    )


def badges(facts: LinearFacts) -> Markup:
    """Badges for stability, controllability, observability and margins, the worst first."""
    badges: list[tuple[int, str]] = []
    badges.append(_stability("without control", facts.poles_before))
    if facts.poles_after is not None:
        badges.append(_stability("with the controller", facts.poles_after))
    for measures, verb in ((facts.reached, "reached by the inputs"), (facts.seen, "seen by the outputs")):
        missed = int(np.sum(measures < LIMIT))
        words = (
            f"{missed} {'mode is' if missed == 1 else 'modes are'} not {verb}" if missed else f"every mode is {verb}"
        )
        badges.append((1 if missed else 0, words))
    if isinstance(facts.margins, RobustnessReport):
        phase = np.rad2deg(min(loop.phase for loop in facts.margins.loops))
        words = f"{phase:.3g} deg phase margin of the worst loop" if np.isfinite(phase) else "no phase destabilises"
        badges.append((1 if phase < 30.0 else 0, words))
    badges.sort(key=lambda badge: -badge[0])
    return element("div", *(_badge(*badge) for badge in badges), class_="chips")


def _stability(when: str, poles: np.ndarray) -> tuple[int, str]:
    free = int(np.sum((np.abs(poles) <= STILL) & (np.imag(poles) >= 0.0)))
    poles = poles[np.abs(poles) > STILL]
    growing = poles[np.real(poles) > 1e-9 * np.abs(poles)]
    count = int(np.sum(np.imag(growing) >= 0.0))
    if count:
        words = "mode grows" if count == 1 else "modes grow"
        return 2, f"{when}: {count} {words}, the quickest at {np.max(np.real(growing)):.3g} 1/s"
    staying = free + int(np.sum((np.imag(poles) >= 0.0) & (np.real(poles) > -1e-9 * np.abs(poles))))
    if staying:
        return 1, f"{when}: {staying} poles do not decay"
    return 0, f"{when}: stable, slowest decay {-np.max(np.real(poles)):.3g} 1/s"


def _badge(gravity: int, words: str) -> Markup:
    colour, sign = (("good", "✓"), ("caution", "!"), ("bad", "✗"))[gravity]
    return element("span", f"{sign} {words}", class_=colour)


def mode_table(facts: LinearFacts, shown: Sequence[int]) -> Markup:
    """Table with a row for each mode: moving bodies, frequency, damping, controllability and observability."""
    modes = facts.structure.modes
    headings = ["mode", "what moves", "Hz", "rad/s", "damping"]
    headings += [] if facts.after is None else ["controlled: rad/s", "damping"]
    headings += ["reached", "seen"]
    rows = []
    for k in shown:
        w = modes.frequencies[k]
        row: list[object] = [str(k + 1), modes.main_components((k,))]
        row += [_number(w / (2 * np.pi)) if w > _FREE else "", _rate(w)]
        row += [_damping_text(facts.before[k])]
        if facts.after is not None:
            pole = facts.after[k]
            row += [_number(abs(pole)) if np.isfinite(pole) and pole.imag > _FREE else "", _damping_text(pole)]
        row += [_measure(facts.reached[k]), _measure(facts.seen[k])]
        rows.append((k, row))
    head = element("thead", element("tr", *(_cell("th", c, h) for c, h in enumerate(headings))))
    body = [element("tr", *(_cell("td", c, v) for c, v in enumerate(row)), data_mode=str(k)) for k, row in rows]
    return element("div", element("table", head, element("tbody", *body)), class_="table modes")


def _cell(tag: str, column: int, value: object) -> Markup:
    return element(tag, value) if column == 1 else element(tag, value, class_="number")


def _rate(w: float) -> str:
    if w < -_FREE:
        return f"grows, {-w:.3g} 1/s"
    return _number(w) if w > _FREE else "free"


def _number(value: float) -> str:
    return f"{value:.4g}"


def _damping_text(pole: complex) -> object:
    if not np.isfinite(pole) or abs(pole) < STILL:
        return "–"
    if pole.real > 1e-9 * abs(pole):
        return element("span", f"+{pole.real:.2g} 1/s", class_="bad")
    if pole.imag <= _FREE:
        return f"{-pole.real:.2g} 1/s" if pole.real < -1e-9 else "–"
    return percent(float(damping(np.array([pole]))[0]))


def _measure(value: float) -> object:
    return element("span", "no", class_="caution") if value < LIMIT else f"{value:.1e}"


def damping(poles: np.ndarray) -> np.ndarray:
    """Damping ratio of each pole; a ratio within rounding is zero."""
    ratio = -np.real(poles) / np.maximum(np.abs(poles), 1e-300)
    return np.where(np.abs(ratio) < 1e-10, 0.0, ratio)


def percent(ratio: float) -> str:
    """A damping ratio as text in percent."""
    return "none" if ratio == 0.0 else f"{100 * ratio:.3g} %"


def margin_section(facts: LinearFacts) -> Markup:
    """Section of the gain, phase and delay margins of each loop, or of the reason why there are none."""
    if facts.margins is None:
        return Markup("")
    heading = "How far from instability?"
    if isinstance(facts.margins, str):
        return headed_section("margins", heading, element("p", facts.margins, class_="bad"))
    rows = [
        [loop.name, _limit(loop.gain_up), _limit(loop.gain_down), _limit(np.rad2deg(loop.phase)), _limit(loop.delay),
         f"{loop.distance:.3f}"]
        for loop in facts.margins.loops
    ]  # fmt: skip
    headings = ["loop", "gain up", "gain down", "phase [deg]", "delay [s]", "|1 + L|"]
    low, high = facts.margins.disk_gain
    together = (
        f"Each loop with the others closed. All at once: gains between {low:.3g} and {high:.3g} with phases up to "
        f"{np.rad2deg(facts.margins.disk_phase):.3g} deg; a common delay of {facts.margins.delay:.3g} s destabilises."
    )
    margins = table(headings, rows, numbers=range(1, 6))
    return headed_section("margins", heading, margins, element("p", together, class_="note"))


def _limit(value: float) -> str:
    return "any" if np.isinf(value) else f"{value:.3g}"


def about(lines: Sequence[str]) -> Markup:
    """Paragraphs of the caller below the headline."""
    return join_markup(element("p", line, class_="about") for line in lines)

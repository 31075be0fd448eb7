"""Texts and tables of a campaign's page."""

from __future__ import annotations

import numpy as np

from freefloat.campaign.results import Results
from freefloat.report.markup import Markup, element, headed_section, join_markup, table, verdict

_QUANTILES = (0.01, 0.05, 0.5, 0.95, 0.99)
_WORST = 10


def header(results: Results, title: str) -> Markup:
    """Head of the page: title, number of runs, how they ended, and how often they succeeded."""
    counts, share = results.counts, results.success()
    ended = ", ".join(f"{count} {word}" for word, count in counts.items() if count and word != "runs")
    run_sentence = (
        f"{counts['runs']} of {results.described['runs']} runs: {ended}." if counts["runs"] else "No runs yet."
    )
    success = (
        f"{share.percent} of the runs meet all requirements." if results.requirements else f"{share.percent} complete."
    )
    design = f"Design: {results.described['design']}, seed {results.described['seed']}."
    colours = {True: "good", False: "bad", None: "caution"}
    chips = [
        element("span", f"{judged.requirement.name}: {judged.word}", class_=colours[judged.passed])
        for judged in results.verdicts
    ]
    lead = element("p", f"{run_sentence} {success if counts['runs'] else ''} {design}", class_="lead")
    return join_markup([element("h1", title), lead, element("div", *chips, class_="chips")])


def requirement_section(results: Results) -> Markup:
    """Section of the requirements: pass or fail with confidence; empty without requirements."""
    rows = [
        (
            judged.requirement.name,
            judged.requirement.words,
            f"{100 * judged.requirement.probability:g} % with {100 * judged.requirement.confidence:g} % confidence",
            f"{judged.met} of {judged.runs}",
            judged.share.percent,
            verdict(judged.passed, "pass", "fail")
            if judged.passed is not None
            else element("span", "? not decided: more runs", class_="caution"),
        )
        for judged in results.verdicts
    ]
    if not rows:
        return Markup("")
    headings = ("requirement", "each run", "asked for", "met by", "share, 95 % interval", "")
    return headed_section("requirements", "Requirements", table(headings, rows))


def metric_section(results: Results) -> Markup:
    """Section of the metrics: quantiles with the bounds of their order statistics."""
    rows = []
    for name in results.metric_names:
        rows.append((name, results.units[name], *(results.quantile(name, p).words for p in _QUANTILES)))
    headings = ("metric", "unit", *(f"{100 * p:g} % quantile" for p in _QUANTILES))
    note = "In brackets: 95 % bounds by order statistics, whatever the distribution. Runs that diverged are left out."
    quantiles = table(headings, rows, numbers=range(2, 2 + len(_QUANTILES)))
    return headed_section("metrics", "Metrics", quantiles, element("p", note, class_="note"))


def sensitivity_section(results: Results) -> Markup:
    """Section of the sensitivities: rank correlations of draws and metrics, Sobol indices if the design allows them."""
    names = [name for name in results.metric_names if not name.startswith("balance.")]
    if not results.draw_names or not names:
        return Markup("")
    correlations = {name: results.rank_correlations(name) for name in names}
    order = sorted(results.draw_names, key=lambda d: -max(abs(np.nan_to_num(correlations[m][d].value)) for m in names))
    rows = [(draw, *(f"{correlations[name][draw].value:+.2f}" for name in names)) for draw in order]
    parts = [element("h2", "Rank correlation"), table(("draw", *names), rows, numbers=range(1, 1 + len(names)))]
    if results.described["design"] == "saltelli":
        indices = {name: results.sobol_indices(name) for name in names}
        rows = [
            (draw, *(f"{indices[n][draw].first.value:.2f} / {indices[n][draw].total.value:.2f}" for n in names))
            for draw in order
        ]
        parts += [element("h2", "Sobol indices: first order / total"), table(("draw", *names), rows)]
    return element("section", *parts, id="sensitivity")


def worst_section(results: Results, folder: str) -> Markup:
    """Section of the worst runs of every metric, each with the command that repeats it in full."""
    cards = []
    smallest = {limit.metric for limit in results.requirements if limit.above is not None and limit.below is None}
    for name in results.metric_names:
        rows = [
            (element("button", str(run), type="button", data_run=str(run)), f"{value:.5g}")
            for run, value in results.worst(name, _WORST, smallest=name in smallest)
        ]
        unit = f" [{results.units[name]}]" if results.units[name] else ""
        cards.append(
            element("article", element("h3", name + unit), table(("run", "value"), rows, numbers=(1,)), class_="card")
        )
    command = element("code", f"freefloat campaign replay {folder} RUN")
    note = element(
        "p", "A run is repeated in full, with its own page, by ", command, ". Click one for its command.", class_="note"
    )
    return headed_section("worst", "Worst runs", note, element("div", *cards, class_="scatters"))


def dispersion_section(results: Results) -> Markup:
    """Section of the dispersions: which numbers were dispersed, and how."""
    rows = []
    for dispersion in results.described["dispersions"]:
        path = dispersion.get("path") or ", ".join(dispersion["paths"])
        kind = dispersion.get("distribution") or ("listed" if "listed" in dispersion else "jointly Gaussian")
        skipped = ("path", "paths", "distribution", "how", "listed")
        numbers = ", ".join(f"{key} {value}" for key, value in dispersion.items() if key not in skipped)
        rows.append((path, dispersion["how"], kind, numbers))
    redrawn = results.counts["redrawn"]
    note = f"{redrawn} impossible draws were drawn again." if redrawn else ""
    dispersed = table(("number", "how", "distribution", ""), rows)
    return headed_section("dispersions", "Dispersions", dispersed, element("p", note, class_="note"))

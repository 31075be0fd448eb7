"""Rows of a benchmark, ours beside a peer's, as a table for people or JSON for machines."""

import argparse
import json
from collections.abc import Callable, Iterator

import timing

Row = dict[str, object]


def row(case: str, measure: str, ours: float, peer_name: str | None = None, peer: float | None = None) -> Row:
    """One comparison: ratio = peer / ours."""
    ratio = peer / ours if peer is not None else None
    return {"case": case, "measure": measure, "ours": ours, "peer_name": peer_name, "peer": peer, "ratio": ratio}


def main(description: str | None, rows: Callable[..., Iterator[Row]], targets: tuple[str, ...] = ()) -> None:
    """Measure, then print; where there are targets to choose from, `rows` is told the chosen one."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="the first case only, roughly: a smoke run")
    if targets:
        parser.add_argument("--target", choices=targets)
    options = parser.parse_args()
    timing.quick = options.quick
    found = list(rows(options.quick, options.target) if targets else rows(options.quick))
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{'case':<10} {'measure':<22} {'ours':>12} {'peer':>24} {'ratio':>9}")
    for line in found:
        measure = str(line["measure"])
        other = f"{_shown(measure, line['peer'])} {line['peer_name']}" if line["peer"] is not None else ""
        ratio = f"{line['ratio']:.3g}x" if line["peer"] is not None else ""
        print(f"{line['case']:<10} {measure:<22} {_shown(measure, line['ours']):>12} {other:>24} {ratio:>9}")


def _shown(measure: str, value) -> str:
    """A count, a relative error or a time [s]."""
    if "operations" in measure:
        return f"{value:.0f}"
    if "error" in measure:
        return f"{value:.1e}"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= 0.5 * scale:
            return f"{value / scale:.2f} {unit}"
    return f"{value / 1e-9:.0f} ns"

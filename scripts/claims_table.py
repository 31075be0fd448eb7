"""Write all claims into docs/claims.md, and their counts into README.md: no number is typed by hand.

python scripts/claims_table.py               # run every scenario (`freefloat claims --json`), then rewrite both
python scripts/claims_table.py claims.json   # the same from a file that `freefloat claims --json` wrote
python scripts/claims_table.py --check ...   # change nothing; exit status 1 if a page would change
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from freefloat.scenarios import SCENARIOS
from freefloat.values.claims import KINDS, Claim, count_kinds, tally

ROOT = Path(__file__).parents[1]
README, ALL = ROOT / "README.md", ROOT / "docs" / "claims.md"
INTRO = """# All claims

Written by `scripts/claims_table.py` from `freefloat claims --json`, which runs the scenarios and exits with 1 if one
does not hold. Each says where its reference comes from: *printed* in the paper, an *exact* solution, our independent
*prototype* (a program that computed the number beforehand for the same model, where the paper prints none), a *bound*
of ours, or another *run of our own*."""
# First words of the names of scenarios, and what they reproduce.
GROUPS = {
    "ets7": "[ETS-VII](docs/ets7.md), flight experiments",
    "envisat": "[Capture of Envisat](docs/envisat-capture.md)",
    "goddard": "[Goddard](docs/flexible-howto.md), hub with flexible beams",
    "srms": "[Shuttle arm](docs/srms.md), impact of a payload",
    "station": "[Station](docs/station.md), flexible, LQR",
}
START, END = "<!-- claims: written by scripts/claims_table.py -->", "<!-- end of claims -->"


def claims(file: str | None) -> list[dict[str, Any]]:
    """Claims as plain data, from a file or by running every scenario; a claim that fails is shown, not hidden."""
    if file is not None:
        return json.loads(Path(file).read_text(encoding="utf-8"))
    command = [sys.executable, "-m", "freefloat", "claims", "--json"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False, encoding="utf-8").stdout)


def counts(rows: list[dict[str, Any]]) -> str:
    """Markdown table with the number of claims of each experiment, by kind of reference."""
    lines = [f"| experiment | {' | '.join(KINDS)} | not reproduced |", f"|---{'|--:' * (len(KINDS) + 1)}|"]
    groups = {title: [row for row in rows if row["scenario"].startswith(start)] for start, title in GROUPS.items()}
    for title, own in (*groups.items(), ("**all**", rows)):
        judged = count_kinds(row for row in own if row["holds"] is not None)
        numbers = [judged.get(kind, 0) for kind in KINDS] + [sum(row["holds"] is None for row in own)]
        lines.append(f"| {title} | {' | '.join(str(number or '') for number in numbers)} |")
    return "\n".join([f"{tally(rows)}.", "", *lines])


def rows_on(page: str) -> list[dict[str, Any]]:
    """Scenario, kind and verdict of every claim on the page of all claims."""
    rows, scenario = [], ""
    for line in page.splitlines():
        if name := re.match(r"\*\*`([\w-]+)`\*\*", line):
            scenario = name[1]
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[3] in KINDS:
            holds = None if cells[5].startswith("not reproduced") else not cells[5].startswith("**fails")
            rows.append({"scenario": scenario, "kind": cells[3], "holds": holds})
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """One Markdown table for each scenario, under its title."""
    parts = [tally(rows) + "."]
    for name in dict.fromkeys(row["scenario"] for row in rows):
        own = [row for row in rows if row["scenario"] == name]
        title = SCENARIOS[name].title if name in SCENARIOS else name
        lines = [
            f"**`{name}`** {title} ({tally(own)})",
            "",
            "| variant | quantity | reference | who says so | freefloat | |",
            "|---|---|--:|---|--:|---|",
        ]
        parts.append("\n".join([*lines, *map(_row, own)]))
    return "\n\n".join(parts)


def _row(row: dict[str, Any]) -> str:
    claim = Claim.from_dict(row)
    # Numbers that are only bounded (an error below 1e-6) are rounding noise: one digit says all that repeats.
    digits = ".0e" if claim.relation in ("below", "above") and abs(claim.value) < 1e-3 else ".5g"
    verdict = {True: "holds", False: "**fails**", None: "not reproduced"}[claim.holds]
    verdict += f": {claim.reason}" if claim.reason else ""
    statement = claim.statement.replace("+-", "±").replace("<", "&lt;")
    ours = claim.with_unit(f"{claim.value:{digits}}")
    return f"| {row['variant']} | {claim.name} | {statement} | {claim.source.kind} | {ours} | {verdict} |"


def main() -> int:
    """Rewrite the page of all claims, and their counts in the README, or say whether they would change."""
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    rows = claims(arguments[0] if arguments else None)
    before, rest = README.read_text(encoding="utf-8").split(START)
    _, after = rest.split(END)
    fresh = {README: f"{before}{START}\n\n{counts(rows)}\n\n{END}{after}", ALL: f"{INTRO}\n\n{table(rows)}\n"}
    changed = [path for path, text in fresh.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv:
        return int(bool(changed))
    for path in changed:
        path.write_text(fresh[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

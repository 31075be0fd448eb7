"""Write the table of reproduced results into README.md, from `freefloat claims --json`: no number is typed by hand.

python scripts/claims_table.py               # run every scenario, then rewrite the table
python scripts/claims_table.py claims.json   # the same from a file that `freefloat claims --json` wrote
python scripts/claims_table.py --check ...   # change nothing; exit status 1 if the table would change
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from freefloat.scenarios import SCENARIOS
from freefloat.values.claims import Claim, tally

ROOT = Path(__file__).parents[1]
README, ALL = ROOT / "README.md", ROOT / "docs" / "claims.md"
START, END = "<!-- claims: written by scripts/claims_table.py -->", "<!-- end of claims -->"


def claims(file: str | None) -> list[dict[str, Any]]:
    """Claims as plain data, from a file or by running every scenario; a claim that fails is shown, not hidden."""
    if file is not None:
        return json.loads(Path(file).read_text(encoding="utf-8"))
    command = [sys.executable, "-m", "freefloat", "claims", "--json"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False, encoding="utf-8").stdout)


def table(rows: list[dict[str, Any]], *, whole: bool) -> str:
    """One Markdown table for each scenario, under its title: all of it, or its first variant only."""
    parts = [
        tally(rows) + "."
        if whole
        else f"{tally(rows)}; [all of them](docs/claims.md), below the first variant of each scenario."
    ]
    for name in dict.fromkeys(row["scenario"] for row in rows):
        own = [row for row in rows if row["scenario"] == name]
        shown = own if whole else [row for row in own if row["variant"] == own[0]["variant"]]
        title = SCENARIOS[name].title if name in SCENARIOS else name
        lines = [
            f"**`{name}`** {title} ({tally(own)})",
            "",
            "| variant | quantity | reference | who says so | freefloat | |",
            "|---|---|--:|---|--:|---|",
        ]
        parts.append("\n".join([*lines, *map(_row, shown)]))
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
    """Rewrite the README between the two marks and the page of all claims, or say whether they would change."""
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    rows = claims(arguments[0] if arguments else None)
    before, rest = README.read_text(encoding="utf-8").split(START)
    _, after = rest.split(END)
    intro = "# All claims\n\nWritten by `scripts/claims_table.py` from `freefloat claims --json`."
    fresh = {
        README: f"{before}{START}\n\n{table(rows, whole=False)}\n\n{END}{after}",
        ALL: f"{intro}\n\n{table(rows, whole=True)}\n",
    }
    changed = [path for path, text in fresh.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv:
        return int(bool(changed))
    for path in changed:
        path.write_text(fresh[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

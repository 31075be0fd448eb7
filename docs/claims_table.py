"""Write the table of reproduced results into README.md, from `freefloat claims --json`: no number is typed by hand.

python docs/claims_table.py               # run every scenario, then rewrite the table
python docs/claims_table.py claims.json   # the same from a file that `freefloat claims --json` wrote
python docs/claims_table.py --check ...   # change nothing; exit status 1 if the table would change
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from freefloat.scenarios import SCENARIOS, Claim

README = Path(__file__).parents[1] / "README.md"
START, END = "<!-- claims: written by docs/claims_table.py -->", "<!-- end of claims -->"
_FIELDS = ("claim", "source", "relation", "published", "ours", "unit", "tolerance")


def claims(file: str | None) -> list[dict[str, Any]]:
    """Claims as plain data, from a file or by running every scenario; a claim that fails is shown, not hidden."""
    if file is not None:
        return json.loads(Path(file).read_text(encoding="utf-8"))
    command = [sys.executable, "-m", "freefloat", "claims", "--json"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False, encoding="utf-8").stdout)


def table(rows: list[dict[str, Any]]) -> str:
    """One Markdown table for each scenario, under its title."""
    parts = [f"{sum(row['holds'] for row in rows)} of {len(rows)} claims hold."]
    for name in dict.fromkeys(row["scenario"] for row in rows):
        own = [row for row in rows if row["scenario"] == name]
        title = SCENARIOS[name].title if name in SCENARIOS else name
        lines = [
            f"**`{name}`** {title}",
            "",
            "| variant | quantity | reference | freefloat | |",
            "|---|---|--:|--:|---|",
        ]
        parts.append("\n".join([*lines, *map(_row, own)]))
    return "\n\n".join(parts)


def _row(row: dict[str, Any]) -> str:
    claim = Claim(**{key: row[key] for key in _FIELDS})
    # Numbers that are only bounded (an error below 1e-6) are rounding noise: one digit says all that repeats.
    digits = ".0e" if claim.relation in ("below", "above") and abs(claim.ours) < 1e-3 else ".5g"
    verdict = "holds" if claim.holds else "**fails**"
    statement = claim.statement.replace("+-", "±").replace("<", "&lt;")
    return f"| {row['variant']} | {claim.claim} | {statement} | {claim.ours:{digits}} {claim.unit} | {verdict} |"


def main() -> int:
    """Rewrite the part of the README between the two marks, or say whether it would change."""
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(START)
    _, after = rest.split(END)
    fresh = f"{before}{START}\n\n{table(claims(arguments[0] if arguments else None))}\n\n{END}{after}"
    if "--check" in sys.argv:
        return int(fresh != text)
    README.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The page of a verdict: every criterion is on it, words before colours, and nothing in it can become markup."""

import re

import numpy as np

import freefloat as ff
from freefloat.report.verdict_page import criteria_table, refusal_page, verdict_page
from freefloat.values.verdicts import Criterion, Signature, Verdict

EVIL = "</script><script>alert(1)</script>"
CRITERIA = (
    Criterion("way", "at most", 10.0, 12.0, "mm", "It stays near.", f"It went too far {EVIL}.", limit_from="scenario"),
    Criterion("force", "at most", 10.0, 4.0, "N", "It is soft.", "Largest at 2 s.", limit_from="default"),
    Criterion("deadlines", "at most", 1.0, None, "%", "In time.", "Does not apply.", required=False),
    Criterion("energy", "at most", 1.0, None, "J", "Kept.", "Not judged: no observer."),
)
VERDICT = Verdict(f"Mine {EVIL}", CRITERIA, Signature({"freefloat": "1"}, {"run.nc": "abc"}, f"freefloat {EVIL}"))


def test_every_criterion_says_its_verdict_by_word_and_shape() -> None:
    html = criteria_table(VERDICT)
    words = [re.sub("<[^>]+>", " ", row).split() for row in html.split("<tr>")]
    assert ["✗", "no-go", "way"] in [row[:3] for row in words]
    assert ["●", "go", "force"] in [row[:3] for row in words]
    assert ["○", "not", "judged", "but", "required", "energy"] in [row[:6] for row in words]
    assert ["○", "not", "judged", "deadlines"] in [row[:4] for row in words]
    assert html.index("way") < html.index("force") < html.index("deadlines")
    for text in ("at most 10 mm", "12 mm", "20 % beyond", "60 % left", "scenario", "It stays near."):
        assert text in html


def test_the_page_is_one_harmless_file(tmp_path) -> None:
    craft = ff.Spacecraft.from_base("hub", mass=10.0, inertia=(1.0, 1.0, 1.0))
    run = ff.simulate(craft, duration=0.2, dt=0.1, state=craft.at_rest())
    page = verdict_page(VERDICT, run, (run, run), tmp_path / "verdict.html").read_text()
    assert "<script>alert" not in page
    assert page.count("script-src 'sha256-") == 1
    assert "NO-GO" in page
    assert "freefloat verdict FOLDER" in page
    alone = verdict_page(VERDICT, run, (run, None), tmp_path / "alone.html").read_text()
    assert len(alone) < len(page) * 1.01
    refused = refusal_page(VERDICT, tmp_path / "refused.html").read_text()
    assert "Nothing was rehearsed" in refused
    assert np.isfinite(len(refused))

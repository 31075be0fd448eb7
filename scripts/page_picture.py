"""Photograph pages in a real browser: `scripts/page_picture.py` writes three pictures into docs/images."""

import shutil
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from playwright.sync_api import sync_playwright

from freefloat.report.linear_pages import linear_page
from freefloat.scenarios import find
from freefloat.scenarios.runner import run_scenario
from freefloat.scenarios.station.model import station_model

IMAGES = Path(__file__).parents[1] / "docs" / "images"
WIDTH, HEIGHT = 1280, 760  # [px]
MIDDLE = 0.6  # of the run, where the cursor stands
_MOVE = """(share) => {
    const slider = document.querySelector("input[type=range]");
    slider.value = slider.min * (1 - share) + slider.max * share;
    slider.dispatchEvent(new Event("input"));
}"""


def _photograph_modes(browser, folder: Path) -> None:
    """The page of the station's linear model, its third bending mode at its largest."""
    station = station_model(reduction="craig-bampton")
    page = linear_page(
        station.model,
        folder / "linear.html",
        craft=station.craft,
        q=station.reference.q,
        controller=station.regulator,
        title="Station: modes and poles, without and with its regulator",
        outputs=("yaw", "roll", "pitch", "theta1", "theta2", "zeta"),
    )
    tab = browser.new_page(viewport={"width": WIDTH, "height": 1060})
    tab.goto(page.as_uri())
    tab.wait_for_selector("html[data-ready]", state="attached")
    tab.evaluate("freefloat.modes.play(false); freefloat.modes.phase = Math.PI / 2; freefloat.modes.choose(10)")
    tab.wait_for_timeout(1500)
    tab.screenshot(path=IMAGES / "linear-page.png")


def _photograph_verdict(browser, folder: Path) -> None:
    """The page of the verdict on a rehearsal in the virtual cell; its exit status says go or no-go."""
    command = [sys.executable, "-m", "freefloat", "rehearse", "envisat-free", "--out", str(folder), "--quiet"]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    tab.goto((folder / "verdict.html").as_uri())
    tab.wait_for_timeout(3000)
    tab.screenshot(path=IMAGES / "verdict-page.png")


def main() -> int:
    """Run the first experiment, open its page, move the cursor, take the picture."""
    browser_path = shutil.which("chromium")
    if browser_path is None:
        sys.stderr.write("There is no Chromium on this machine (Debian: apt-get install chromium): no picture.\n")
        return 1
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        run_scenario(find("ets7-gjm")(), "nominal", Path(folder), "native", lambda title: nullcontext())
        browser = play.chromium.launch(
            executable_path=browser_path, args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        tab.goto((Path(folder) / "page.html").as_uri())
        tab.wait_for_selector("html[data-ready]", state="attached")
        tab.evaluate(_MOVE, MIDDLE)
        tab.wait_for_timeout(1500)  # the plots are drawn one after the other
        tab.screenshot(path=IMAGES / "page.png")
        _photograph_modes(browser, Path(folder))
        _photograph_verdict(browser, Path(folder) / "cell")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())

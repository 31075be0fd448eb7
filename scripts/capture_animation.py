"""Animate the page of a capture: `scripts/capture_animation.py` writes docs/images/capture.gif from a run."""

import io
import shutil
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from freefloat.scenarios import find
from freefloat.scenarios.runner import run_scenario

TARGET = Path(__file__).parents[1] / "docs" / "images" / "capture.gif"
SCENARIO, VARIANT = "envisat-capture", "paper"
AWAY = 3  # turns of the wheel that move the camera back
TO = 1.0  # share of the run that is shown
WIDTH, HEIGHT = 1120, 640  # of the browser [px]
SHOWN = 760  # width of the picture [px]
FRAMES, PAUSE = 48, 90  # number, and time of each [ms]
LAST = 1500  # how long the last one stands [ms]
COLOURS = 224
MOST = 1_500_000  # bytes
_MOVE = """(share) => {
    const slider = document.querySelector("input[type=range]");
    slider.value = slider.min * (1 - share) + slider.max * share;
    slider.dispatchEvent(new Event("input"));
}"""


def photographs(tab: Page) -> list[Image.Image]:
    """The scene and the plots beside it, from the start of the run until well after the latch."""
    area = tab.locator(".watch").bounding_box()
    clip = {**area, "height": min(area["height"], HEIGHT - area["y"])} if area else None
    pictures = []
    for number in range(FRAMES):
        tab.evaluate(_MOVE, TO * number / (FRAMES - 1))
        tab.wait_for_timeout(120)
        picture = Image.open(io.BytesIO(tab.screenshot(clip=clip))).convert("RGB")
        high = round(picture.height * SHOWN / picture.width)
        pictures.append(picture.resize((SHOWN, high), Image.Resampling.LANCZOS))
    return pictures


def write_animation(pictures: list[Image.Image], path: Path) -> int:
    """Write the pictures with one palette, so that only what moves is stored; returns the number of bytes."""
    several = Image.new("RGB", (pictures[0].width, 3 * pictures[0].height))
    for number, picture in enumerate((pictures[0], pictures[len(pictures) // 2], pictures[-1])):
        several.paste(picture, (0, number * picture.height))
    palette = several.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    pauses = [PAUSE] * (len(frames) - 1) + [LAST]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=pauses, loop=0, optimize=False, disposal=1)
    return path.stat().st_size


def main(page: Path | None = None) -> int:
    """Run the capture unless its page is given, play it in a browser, write the animation."""
    browser_path = shutil.which("chromium")
    if browser_path is None:
        sys.stderr.write("There is no Chromium on this machine (Debian: apt-get install chromium): no animation.\n")
        return 1
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        if page is None:
            scenario = find(SCENARIO).variants()[VARIANT]
            run_scenario(scenario, VARIANT, Path(folder), "native", lambda title: nullcontext())
            page = Path(folder) / "page.html"
        browser = play.chromium.launch(
            executable_path=browser_path, args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        tab.goto(page.resolve().as_uri())
        tab.wait_for_selector("html[data-ready]", state="attached")
        tab.wait_for_timeout(2000)  # the plots are drawn one after the other
        tab.uncheck("[data-show=vectors]")
        tab.evaluate("document.querySelector('.watch').scrollIntoView()")
        tab.click("#canvas")
        for _ in range(AWAY):
            tab.mouse.wheel(0, 120)
        tab.wait_for_timeout(500)
        size = write_animation(photographs(tab), TARGET)
        browser.close()
    print(f"{TARGET.name}: {FRAMES} pictures, {size / 1e6:.2f} MB")
    return 0 if size < MOST else 1


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))

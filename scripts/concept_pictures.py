"""Draw docs/images/concepts.svg, the parts of an experiment, and number the parts of a page in page-annotated.png."""

import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

IMAGES = Path(__file__).parents[1] / "docs" / "images"
WIDTH, HEIGHT = 960, 690  # [px]
STYLE = """
  .ground { fill: #ffffff } .room { fill: #f3f5f7; stroke: #8a949e } .box { fill: #dce9f5; stroke: #30618f }
  .own { fill: #fdebd8; stroke: #b3470c } .result { fill: #dff0e3; stroke: #2a7d46 }
  text { fill: #1c2126; font: 14px sans-serif; text-anchor: middle }
  .title { font-weight: bold } .small { font-size: 12px }
  .arrow { stroke: #4a545e; stroke-width: 2; fill: none; marker-end: url(#tip) } #tip path { fill: #4a545e }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #14181c } .room { fill: #1e242a; stroke: #6b7680 } .box { fill: #1d3a55; stroke: #6ea8dc }
    .own { fill: #4d2c12; stroke: #f0925a } .result { fill: #173d24; stroke: #67c483 }
    text { fill: #eef1f4 } .arrow { stroke: #b4bec8 } #tip path { fill: #b4bec8 }
  }"""


@dataclass(frozen=True)
class Box:
    """A rectangle with a title and lines of small text; `kind` is its class in the style."""

    x: int  # [px], left
    y: int  # [px], top
    width: int  # [px]
    height: int  # [px]
    title: str
    lines: tuple[str, ...] = ()
    kind: str = "box"

    def svg(self) -> str:
        """Rectangle and texts."""
        middle = self.x + self.width // 2
        texts = [f'<text class="title" x="{middle}" y="{self.y + 22}">{escape(self.title)}</text>']
        texts += [
            f'<text class="small" x="{middle}" y="{self.y + 42 + 17 * place}">{escape(line)}</text>'
            for place, line in enumerate(self.lines)
        ]
        where = f'x="{self.x}" y="{self.y}" width="{self.width}" height="{self.height}"'
        return "\n".join([f'<rect class="{self.kind}" {where} rx="8"/>', *texts])


BOXES = (
    Box(20, 20, 920, 385, "Experiment: a world, parts, a start and a duration", kind="room"),
    Box(50, 65, 250, 200, "World", kind="room"),
    Box(70, 97, 100, 62, "Spacecraft", ("servicer",)),
    Box(180, 97, 100, 62, "Spacecraft", ("client",)),
    Box(70, 170, 210, 82, "Between them", ("connections, brakes, contacts", "interactions: compliant contact")),
    Box(395, 65, 170, 62, "Sensors", ("measure, late and noisy",)),
    Box(650, 65, 200, 82, "Software", ("controllers, filters, sequences", "yours or ready"), "own"),
    Box(395, 200, 170, 62, "Actuators", ("limits, forces, rates",)),
    Box(650, 205, 200, 58, "Ports", ("inputs and commands by name",)),
    Box(50, 305, 250, 72, "Effects", ("gravity, friction, springs, pushes",)),
    Box(345, 305, 260, 72, "Failures", ("wrap actuators and sensors", "from a time on")),
    Box(650, 305, 250, 72, "Quantities", ("more that can be measured", "and recorded")),
    Box(20, 445, 920, 80, "Drivers: the same experiment", kind="room"),
    *(
        Box(40 + 180 * k, 475, 160, 40, name)
        for k, name in enumerate(("simulate", "campaign", "rehearse", "fly", "studio"))
    ),
    Box(40, 575, 220, 90, "Run", ("channels, events, conditions", "one file"), "result"),
    Box(340, 575, 170, 90, "Audit", ("momentum, energy,", "work balance"), "result"),
    Box(550, 575, 170, 90, "Claims", ("reference numbers", "are reached"), "result"),
    Box(760, 575, 160, 90, "Page", ("scene, plots,", "badges"), "result"),
)
ARROWS = (
    "M300 96 H393",  # world to sensors
    "M565 96 H648",  # sensors to software
    "M750 147 V174 H480 V198",  # software to actuators
    "M395 230 H302",  # actuators to world
    "M650 234 H567",  # ports to actuators
    "M850 234 H905 V106 H852",  # ports to software
    "M175 305 V267",  # effects to world
    "M480 305 V264",  # failures to actuators
    "M370 305 V110 H393",  # failures to sensors
    "M480 405 V443",
    "M150 525 V573",
    "M260 620 H338",
    "M510 620 H548",
    "M720 620 H758",
)


def diagram() -> str:
    """The diagram as SVG, for light and dark surroundings."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">'
    tip = '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" markerHeight="5" orient="auto">'
    ground = f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>'
    title = "<title>World, parts, ports, drivers, run, audit, claims and page</title>"
    marks = f'<defs>{tip}<path d="M0 0 L8 4 L0 8 z"/></marker></defs>'
    arrows = [f'<path class="arrow" d="{way}"/>' for way in ARROWS]
    lines = [head, title, f"<style>{STYLE}\n</style>", marks, ground, *(box.svg() for box in BOXES), *arrows, "</svg>"]
    return "\n".join(lines) + "\n"


# Middles of the marks [px]; docs/concepts.md has the list that belongs to them.
MARKS = (
    (850, 36),
    (194, 156),
    (664, 187),
    (600, 250),
    (420, 711),
    (440, 745),
    (960, 229),
    (1048, 274),
    (1046, 330),
    (1160, 467),
)
RADIUS = 14  # [px]


def annotate(picture: Path, out: Path) -> None:
    """Put numbers beside the parts of a page."""
    with Image.open(picture) as opened:
        image = opened.convert("RGB")
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(size=18)
    for number, (x, y) in enumerate(MARKS, start=1):
        draw.ellipse((x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS), fill="#b3006b", outline="white", width=2)
        draw.text((x, y), str(number), fill="white", font=font, anchor="mm")
    image.save(out, optimize=True)


def main() -> int:
    """Write both pictures."""
    (IMAGES / "concepts.svg").write_text(diagram(), encoding="utf-8")
    annotate(IMAGES / "page.png", IMAGES / "page-annotated.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""An open page, what it complained about and asked for, and whether it shows anything."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ARTEFACTS = Path(__file__).parents[2] / "artefacts" / "browser"


@dataclass
class Tab:
    """An open page and everything it complained about or asked for."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def keep(self, name: str, **options: Any) -> bytes:
        """Save a screenshot among the artefacts."""
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        return self.page.screenshot(path=ARTEFACTS / f"{name}.png", **options)


def note(tab: Tab, message: Any) -> None:
    if message.type in ("error", "warning") and "GPU stall" not in message.text:  # software WebGL is slow, and says so
        tab.complaints.append(message.text)


def not_blank(tab: Tab, selector: str = "canvas") -> int:
    """How many different colours a canvas shows; a blank one shows one."""
    return tab.page.evaluate(
        """(selector) => {
            const canvas = document.querySelector(selector);
            const copy = Object.assign(document.createElement("canvas"), { width: 120, height: 90 });
            const pen = copy.getContext("2d");
            pen.drawImage(canvas, 0, 0, 120, 90);
            const data = pen.getImageData(0, 0, 120, 90).data;
            const colours = new Set();
            for (let i = 0; i < data.length; i += 4) colours.add(data.slice(i, i + 4).join());
            return colours.size;
        }""",
        selector,
    )

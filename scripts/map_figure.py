"""A map over two joints as plain SVG: the heat map is a small picture inside it, lines and text stay sharp."""

import base64
import struct
import zlib
from dataclasses import dataclass

import numpy as np
from bokeh.palettes import Viridis256

WIDTH, HEIGHT, LEFT, TOP, SIDE, BAR = 460, 420, 66, 40, 310, 12  # of one panel, its picture and its colour bar [px]
_COLOURS = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in Viridis256], dtype=np.uint8)


@dataclass(frozen=True)
class MapPanel:
    """One map: values over two joints in degrees, with lines and a ring; powers of ten if `decades`."""

    title: str
    joints: tuple[str, str]
    degrees: tuple[np.ndarray, np.ndarray]
    values: np.ndarray  # (first joint, second joint)
    limits: tuple[float, float]
    ticks: tuple[float, ...]
    ring: tuple[float, float]
    lines: tuple[tuple[str, str, list[np.ndarray]], ...] = ()  # colour, dash, paths [deg]
    legend: tuple[str, ...] = ()
    decades: bool = False


def map_svg(panel: MapPanel) -> list[str]:
    """A panel as lines of SVG."""
    x0, y0 = LEFT, TOP + SIDE
    first, second = panel.degrees
    half = (0.5 * (first[1] - first[0]), 0.5 * (second[1] - second[0]))

    def px(x: np.ndarray | float) -> np.ndarray:
        return x0 + SIDE * (np.asarray(x) - first[0] + half[0]) / (np.ptp(first) + 2 * half[0])

    def py(y: np.ndarray | float) -> np.ndarray:
        return y0 - SIDE * (np.asarray(y) - second[0] + half[1]) / (np.ptp(second) + 2 * half[1])

    parts = [text(x0 + SIDE / 2, TOP - 16, panel.title, "middle", bold=True)]
    parts.append(_image(x0, TOP, SIDE, SIDE, _share(panel.values, panel).T[::-1]))
    for colour, dash, paths in panel.lines:
        for path in paths:
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(px(path[:, 0]), py(path[:, 1]), strict=True))
            style = f'stroke="{colour}" stroke-width="1.8"' + (f' stroke-dasharray="{dash}"' if dash else "")
            parts.append(f'<polyline points="{points}" fill="none" {style}/>')
    x, y = float(px(panel.ring[0])), float(py(panel.ring[1]))
    for width, colour in ((4.5, "black"), (2, "white")):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="none" stroke="{colour}" stroke-width="{width}"/>')
    for tick in np.arange(-90.0, 91.0, 30.0):
        parts.append(text(float(px(tick)), y0 + 17, f"{tick:g}", "middle"))
        parts.append(text(x0 - 7, float(py(tick)) + 4, f"{tick:g}", "end"))
    parts.append(text(x0 + SIDE / 2, y0 + 36, f"{panel.joints[0]} [deg]", "middle"))
    turn = f"rotate(-90 16 {TOP + SIDE / 2:g})"
    parts.append(f'<g transform="{turn}">{text(16, TOP + SIDE / 2, f"{panel.joints[1]} [deg]", "middle")}</g>')
    parts += [text(x0, y0 + 54 + 14 * k, line, "start", colour="#555") for k, line in enumerate(panel.legend)]
    return [*parts, *_bar(panel)]


def figure_of_maps(*panels: MapPanel) -> str:
    """Panels side by side on white."""
    return side_by_side(list(map(map_svg, panels)), WIDTH, HEIGHT)


def side_by_side(panels: list[list[str]], width: int, height: int) -> str:
    """SVG text of panels of one size [px] on white."""
    font = 'font-family="sans-serif" font-size="12"'
    whole = width * len(panels)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {height}" {font}>'
    lines = [head, f'<rect width="{whole}" height="{height}" fill="white"/>']
    for k, panel in enumerate(panels):
        lines += [f'<g transform="translate({k * width},0)">', *panel, "</g>"]
    return "\n".join([*lines, "</svg>"]) + "\n"


def text(x: float, y: float, words: str, anchor: str, *, colour: str = "#222", bold: bool = False) -> str:
    """Text at a point, which is its start, middle or end."""
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{weight}>{words}</text>'


def _share(values: np.ndarray, panel: MapPanel) -> np.ndarray:
    low, high = panel.limits
    clipped = np.clip(values, low, high)
    return np.log(clipped / low) / np.log(high / low) if panel.decades else (clipped - low) / (high - low)


def _bar(panel: MapPanel) -> list[str]:
    x = LEFT + SIDE + 14
    parts = [_image(x, TOP, BAR, SIDE, np.linspace(1.0, 0.0, 256)[:, None])]
    for tick in panel.ticks:
        y = TOP + SIDE * (1.0 - float(_share(np.array(tick), panel)))
        parts.append(f'<line x1="{x + BAR}" x2="{x + BAR + 4}" y1="{y:.1f}" y2="{y:.1f}" stroke="#666"/>')
        parts.append(text(x + BAR + 7, y + 4, f"{tick:g}", "start"))
    return parts


def _image(x: float, y: float, width: float, height: float, shares: np.ndarray) -> str:
    """Shares from 0 to 1, the first row on top, as an embedded PNG."""
    pixels = _COLOURS[np.clip((255 * shares).round(), 0, 255).astype(int)]
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    size = struct.pack(">2I5B", shares.shape[1], shares.shape[0], 8, 2, 0, 0, 0)
    blocks = ((b"IHDR", size), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in blocks
    )
    place = f'x="{x}" y="{y}" width="{width}" height="{height}" preserveAspectRatio="none"'
    return f'<image {place} href="data:image/png;base64,{base64.b64encode(png).decode()}"/>'

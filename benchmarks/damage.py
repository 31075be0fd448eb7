"""Robot files damaged at random, as by a slip of the hand, a lost line, or malice."""

import re
import xml.etree.ElementTree as ET

import numpy as np

_JUNK = (
    "",
    " ",
    "nan",
    "inf",
    "1e400",
    "-1",
    "0",
    "0 0 0",
    "1e308",
    "-1e-300",
    "1,5",
    "base",
    "world",
    "x" * 3000,
    "\u00e4",
)
_TAGS = (
    *("limit", "mimic", "axis", "origin", "inertia", "planar", "link", "joint", "freefloat", "wheel", "keep"),
    *("pose", "frame", "model", "xyz", "body", "geom", "site", "freejoint", "default", "equality", "tendon", "mesh"),
)


def damage_text(text: str, rng: np.random.Generator) -> str:
    """The text with one to four damages: to its elements, or to its letters."""
    return _damage_letters(text, rng) if rng.random() < 0.2 else _damage_elements(text, rng)


def _damage_letters(text: str, rng: np.random.Generator) -> str:
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(text) + 1))
        match int(rng.integers(4)):
            case 0:
                text = text[:at] + text[at + int(rng.integers(1, 200)) :]
            case 1:
                text = text[:at] + chr(int(rng.integers(1, 0x250))) + text[at:]
            case 2:
                text = text[: max(at, 1)]
            case _:
                text = text[:at] + text[max(at - 300, 0) : at] + text[at:]
    return text if text.lstrip("\ufeff \t\r\n").startswith("<") else "<" + text


def _damage_elements(text: str, rng: np.random.Generator) -> str:
    try:
        robot = ET.fromstring(text)
    except ET.ParseError:
        return text
    for _ in range(rng.integers(1, 5)):
        parents = [element for element in robot.iter() if len(element)]
        parent = parents[int(rng.integers(len(parents)))] if parents else robot
        child = parent[int(rng.integers(len(parent)))] if len(parent) else robot
        match int(rng.integers(7)):
            case 0 if child is not robot:
                parent.remove(child)
            case 1 if child is not robot:
                parent.append(child)  # twice
            case 2:
                child.tag = str(rng.choice(_TAGS))
            case 3:
                child.attrib.clear()
            case 4:
                ET.SubElement(child, str(rng.choice(_TAGS)), name=str(rng.choice(_JUNK)))
            case _:
                _damage_attribute(robot, rng)
    return ET.tostring(robot, encoding="unicode")


def _damage_attribute(robot: ET.Element, rng: np.random.Generator) -> None:
    """A number, a name or a type becomes junk, or that of another element; the same for text between tags."""
    told = [element for element in robot.iter() if (element.text or "").strip()]
    if told and rng.random() < 0.7:
        one, other = (told[int(rng.integers(len(told)))] for _ in range(2))
        one.text = str(rng.choice(_JUNK)) if rng.random() < 0.5 else other.text
        return
    owners = [element for element in robot.iter() if element.attrib]
    if not owners:
        return
    one, other = (owners[int(rng.integers(len(owners)))] for _ in range(2))
    name = str(rng.choice(sorted(one.attrib)))
    match int(rng.integers(3)):
        case 0:
            one.set(name, str(rng.choice(_JUNK)))
        case 1:
            one.set(name, str(rng.choice(sorted(other.attrib.values()))))
        case _:
            one.set(name, re.sub(r"[0-9]", lambda _: str(rng.choice(list("0123456789.-e"))), one.get(name, "")))

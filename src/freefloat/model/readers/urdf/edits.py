"""Changes to a document before it is read: another root, other names, and `base` kept free for the root."""

import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator, Mapping

from freefloat.model.readers.urdf.findings import Findings, name_list

# Where a file names a link and where it names a joint: (path below <robot>, attribute).
_LINKS = (("link", "name"), ("joint/parent", "link"), ("joint/child", "link"), ("freefloat/wheel", "link"))
_JOINTS = (("joint", "name"), ("joint/mimic", "joint"), ("freefloat/keep", "joint"), ("freefloat/rotor", "joint"))


def take_subtree(robot: ET.Element, root: str, findings: Findings) -> None:
    """Leave out everything that is not carried by the link `root`."""
    links = [_name(link) for link in robot.findall("link")]
    if root not in links:
        findings.error("robot", f"there is no link '{root}' to be the root. Links: {name_list(links)}.")
        return
    carried, reached = defaultdict(list), {root}
    for joint in robot.findall("joint"):
        carried[_end(joint, "parent")].append(_end(joint, "child"))
    waiting = [root]
    while waiting:
        for child in carried[waiting.pop()]:
            if child not in reached:
                reached.add(child)
                waiting.append(child)
    left_out = [link for link in links if link not in reached]
    for link in robot.findall("link"):
        if _name(link) not in reached:
            robot.remove(link)
    for joint in robot.findall("joint"):
        if _end(joint, "parent") not in reached or _end(joint, "child") == root:
            robot.remove(joint)
    if left_out:
        findings.note(f"link '{root}'", f"it is the root, as asked for; left out: {name_list(left_out)}.")


def rename_parts(robot: ET.Element, names: Mapping[str, str], findings: Findings) -> None:
    """Give links and joints other names; both, where a link and a joint share one."""
    known = [*_values(robot, _LINKS[:1]), *_values(robot, _JOINTS[:1])]
    for name, new in names.items():
        if name not in known:
            findings.error("names", f"there is no link or joint '{name}'. There are: {name_list(known)}.")
        elif not isinstance(new, str) or not new.strip():
            findings.error("names", f"'{name}' cannot be called {new!r}. Give a name that is text.")
            return
    _rename(robot, (*_LINKS, *_JOINTS), dict(names))


def free_base_name(robot: ET.Element, findings: Findings) -> None:
    """The root is called `base` here: a link of that name further out, or a joint, is called `base_2`."""
    links, joints = _values(robot, _LINKS[:1]), _values(robot, _JOINTS[:1])
    carrier = next((j for j in robot.findall("joint") if _end(j, "child") == "base"), None)
    # The idiom `world --floating--> base`: that link is the root.
    if "base" in links and carrier is not None and carrier.get("type") != "floating":
        new = _unused("base", links)
        _rename(robot, _LINKS, {"base": new})
        findings.note("link 'base'", f"it is called '{new}' here, because the root is called 'base'.")
    if "base" in joints:
        new = _unused("base", joints)
        _rename(robot, _JOINTS, {"base": new})
        findings.note("joint 'base'", f"it is called '{new}' here, because the motion of the root is called 'base'.")


def _name(element: ET.Element) -> str:
    return (element.get("name") or "").strip()


def _end(joint: ET.Element, tag: str) -> str:
    end = joint.find(tag)
    return "" if end is None else (end.get("link") or "").strip()


def _places(robot: ET.Element, places: tuple[tuple[str, str], ...]) -> Iterator[tuple[ET.Element, str]]:
    for path, attribute in places:
        for element in robot.findall(path):
            yield element, attribute


def _values(robot: ET.Element, places: tuple[tuple[str, str], ...]) -> list[str]:
    return [(element.get(attribute) or "").strip() for element, attribute in _places(robot, places)]


def _rename(robot: ET.Element, places: tuple[tuple[str, str], ...], names: dict[str, str]) -> None:
    for element, attribute in _places(robot, places):
        old = (element.get(attribute) or "").strip()
        if old in names:
            element.set(attribute, names[old])


def _unused(name: str, taken: list[str]) -> str:
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"

"""Changes to a document before it becomes a tree: another root, other names, and `base` kept free for the root."""

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Mapping

from freefloat.readers.findings import Findings, name_list
from freefloat.readers.parsed import Document, StatedJoint, unused_name


def take_subtree(document: Document, root: str, findings: Findings) -> Document:
    """The part of a document that the link `root` carries; findings about the rest are removed."""
    if root not in document.links:
        known = name_list(document.links)
        findings.error("robot", f"there is no link '{root}' to be the root. Links: {known}.")
        return document
    carried, reached = defaultdict(list), {root}
    for joint in document.joints:
        carried[joint.parent].append(joint.child)
    waiting = [root]
    while waiting:
        for child in carried[waiting.pop()]:
            if child not in reached:
                reached.add(child)
                waiting.append(child)
    links = {name: link for name, link in document.links.items() if name in reached}
    joints = tuple(joint for joint in document.joints if joint.parent in reached and joint.child != root)
    left_out = [name for name in document.links if name not in reached]
    gone = {joint.name for joint in document.joints} - {joint.name for joint in joints}
    parts = {f"link '{name}'" for name in left_out} | {f"joint '{name}'" for name in gone}
    findings.items = [finding for finding in findings.items if finding.part not in parts]
    if left_out:
        findings.note(f"link '{root}'", f"it is the root, as asked for; left out: {name_list(left_out)}.")
    return dataclasses.replace(document, links=links, joints=joints)


def rename_parts(document: Document, names: Mapping[str, str], findings: Findings) -> Document:
    """Document with other names of links and joints; a link and a joint of the same name are both renamed."""
    known = [*document.links, *(joint.name for joint in document.joints)]
    for name, new in names.items():
        if name not in known:
            findings.error("names", f"there is no link or joint '{name}'. There are: {name_list(known)}.")
        elif not isinstance(new, str) or not new.strip():
            findings.error("names", f"'{name}' cannot be called {new!r}. Give a name that is text.")
            return document
    for tag, old in (("link", list(document.links)), ("joint", [joint.name for joint in document.joints])):
        for name, count in Counter(names.get(name, name) for name in old).items():
            if count > 1:
                findings.error(f"{tag} '{name}'", f"there are two {tag}s of this name. Rename one of them.")
                return document
    return _rename_joints(_rename_links(document, names), names)


def free_base_name(document: Document, findings: Findings) -> Document:
    """Document in which only the root may be named `base`: another link or joint of that name becomes `base_2`."""
    carrier = next((joint for joint in document.joints if joint.child == "base"), None)
    # The idiom `world --floating--> base`: that link is the root.
    if "base" in document.links and carrier is not None and carrier.kind != "floating":
        new = unused_name("base", document.links)
        document = _rename_links(document, {"base": new})
        findings.note("link 'base'", f"it is called '{new}' here, because the root is called 'base'.")
    joints = [joint.name for joint in document.joints]
    if "base" in joints:
        new = unused_name("base", joints)
        document = _rename_joints(document, {"base": new})
        findings.note("joint 'base'", f"it is called '{new}' here, because the motion of the root is called 'base'.")
    return document


def _rename_links(document: Document, names: Mapping[str, str]) -> Document:
    links = [dataclasses.replace(link, name=names.get(link.name, link.name)) for link in document.links.values()]

    def rename(joint: StatedJoint) -> StatedJoint:
        ends = (names.get(joint.parent, joint.parent), names.get(joint.child, joint.child))
        return dataclasses.replace(joint, parent=ends[0], child=ends[1])

    return dataclasses.replace(
        document,
        links={link.name: link for link in links},
        joints=tuple(rename(joint) for joint in document.joints),
        wheels=tuple(dataclasses.replace(w, link=names.get(w.link, w.link)) for w in document.wheels),
    )


def _rename_joints(document: Document, names: Mapping[str, str]) -> Document:
    def rename(joint: StatedJoint) -> StatedJoint:
        mimic = joint.mimic
        if mimic is not None:
            mimic = dataclasses.replace(mimic, leader=names.get(mimic.leader, mimic.leader))
        return dataclasses.replace(joint, name=names.get(joint.name, joint.name), mimic=mimic)

    return dataclasses.replace(
        document,
        joints=tuple(rename(joint) for joint in document.joints),
        rotors={names.get(name, name): inertia for name, inertia in document.rotors.items()},
        kept=tuple(names.get(name, name) for name in document.kept),
    )

"""Warnings about numbers that are possible but probably wrong: wrong units, a centre of mass in another frame."""

import numpy as np

from freefloat.readers.body_checks import Cluster
from freefloat.readers.findings import Findings
from freefloat.readers.parsed import Document, MassPoint
from freefloat.readers.tree import Tree

# A slip of units (mm for m, g for kg) changes the radius of gyration by 1e3 or 30; real bodies stay inside.
_MUCH_LARGER = 10.0
_MUCH_SMALLER = 0.01
_SMALLEST, _LARGEST = 1e-3, 10.0  # radius of gyration of a link whose size is unknown [m]
_MASS_SPAN = 1e7  # a 5 t bus with fingers of 1 g still fits
_LENGTH_SPAN, _LONG = 300.0, 30.0  # of a joint's offset over the usual one, and in metres


def warn_of_suspicions(document: Document, tree: Tree, clusters: list[Cluster], findings: Findings) -> None:
    """Warn of masses, inertias, lengths and centres of mass that do not fit together."""
    _warn_of_centres(clusters, findings)
    _warn_of_masses(clusters, findings)
    _warn_of_lengths(tree, findings)
    reach = dict.fromkeys(document.links, 0.0)  # distance of the farthest joint a link carries [m]
    for joint in tree.joints:
        reach[joint.parent] = max(reach[joint.parent], float(np.linalg.norm(joint.X_PJ.p)))
    for name, link in document.links.items():
        if link.inertial is not None and link.inertial.mass > 0.0:
            _warn_of_inertia(f"link '{name}'", link.inertial, reach[name], findings)
    for cluster in clusters:
        with_mass = [n for n in cluster.placements if document.links[n].inertial is not None]
        points = [n for n in with_mass if len(with_mass) > 1 and _is_point(document.links[n].inertial)]
        for name in points:
            findings.warn(f"link '{name}'", "its inertia is zero: it is merged as a point mass.", minor=True)


def _warn_of_centres(clusters: list[Cluster], findings: Findings) -> None:
    """Warn if every centre of mass is at its joint, as from exporters that forget `<origin>` of `<inertial>`."""
    moving = [
        c.inertial for c in clusters if c.joint is not None and c.joint.kind != "fixed" and c.inertial is not None
    ]
    if len(moving) > 2 and not any(np.any(m.com) for m in moving):
        findings.warn(
            "robot",
            f"the centres of mass of all {len(moving)} moving bodies are at their joints. "
            "Is <origin> missing in <inertial>?",
        )


def _warn_of_masses(clusters: list[Cluster], findings: Findings) -> None:
    masses = {c.head: c.inertial.mass for c in clusters if c.inertial is not None and c.inertial.mass > 0.0}
    if not masses:
        return
    least, most = min(masses, key=lambda n: masses[n]), max(masses, key=lambda n: masses[n])
    if masses[most] > _MASS_SPAN * masses[least]:
        findings.warn(
            "robot",
            f"its masses span {np.log10(masses[most] / masses[least]):.0f} decades, from {masses[least]:g} kg (link "
            f"'{least}') to {masses[most]:g} kg (link '{most}'). Are both in kg?",
        )


def _warn_of_lengths(tree: Tree, findings: Findings) -> None:
    offsets = {joint.name: float(np.linalg.norm(joint.X_PJ.p)) for joint in tree.joints}
    usual = float(np.median([x for x in offsets.values() if x > 0.0] or [0.0]))
    for name, offset in offsets.items():
        if offset > max(_LENGTH_SPAN * usual, _LONG) or offset > _LENGTH_SPAN * _LONG:
            findings.warn(
                f"joint '{name}'",
                f"it sits {offset:.3g} m from its parent, the others about {usual:.3g} m. Is it in mm?",
            )


def _is_point(inertial: MassPoint | None) -> bool:
    return inertial is not None and not np.any(inertial.inertia)


def _warn_of_inertia(owner: str, inertial: MassPoint, reach: float, findings: Findings) -> None:
    gyration = float(np.sqrt(abs(np.trace(inertial.inertia)) / (2.0 * inertial.mass)))
    offset = float(np.linalg.norm(inertial.com))
    size = max(reach, offset)
    low, high = max(_MUCH_SMALLER * size, _SMALLEST), max(_MUCH_LARGER * size, _LARGEST)
    numbers = f"the radius of gyration is {gyration:.3g} m, the joints and the centre of mass span {size:.3g} m"
    if gyration > high:
        findings.warn(owner, f"its inertia looks too large for its mass: {numbers}. Is it in kg m2?")
    elif 0.0 < gyration < low:
        findings.warn(owner, f"its inertia looks too small for its mass: {numbers}. Is it in kg m2?")
    if offset > _MUCH_LARGER * max(reach, gyration) and gyration > 0.0:
        findings.warn(
            owner,
            f"its centre of mass is {offset:.3g} m from the link frame, far beyond its size. "
            "Is it given in the link frame?",
        )

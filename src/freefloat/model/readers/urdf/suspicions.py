"""Numbers of a URDF that can be but are probably wrong: slips of units, a centre of mass in another frame."""

import numpy as np

from freefloat.model.readers.urdf.parts import Document, MassPoint
from freefloat.model.readers.urdf.tree import Cluster, Tree
from freefloat.model.readers.urdf.xml import Findings

# A slip of units (mm for m, g for kg) changes the radius of gyration by 1e3 or 30; real bodies stay inside.
_MUCH_LARGER = 10.0
_MUCH_SMALLER = 0.01
_SMALLEST, _LARGEST = 1e-3, 10.0  # radius of gyration of a link whose size nothing tells [m]


def warn_of_suspicions(document: Document, tree: Tree, clusters: list[Cluster], findings: Findings) -> None:
    """Warn of inertias and centres of mass that do not fit the size of their link."""
    reach = dict.fromkeys(document.links, 0.0)  # distance of the farthest joint a link carries [m]
    for joint in tree.joints:
        reach[joint.parent] = max(reach[joint.parent], float(np.linalg.norm(joint.X_PJ.p)))
    for name, link in document.links.items():
        if link.inertial is not None and link.inertial.mass > 0.0:
            _warn_of_inertia(f"link '{name}'", link.inertial, reach[name], findings)
    for cluster in clusters:
        points = [n for n in cluster.placements if _is_point(document.links[n].inertial)]
        for name in points:
            findings.warn(f"link '{name}'", "its inertia is zero: it is merged as a point mass.")


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

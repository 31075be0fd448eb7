"""The rigid model of a spacecraft, which its flight software uses because modal coordinates are not measured."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from freefloat.model.modal import ModalBody, Node, Rail

if TYPE_CHECKING:
    from freefloat.model.spacecraft import Spacecraft


def rigid_model(craft: Spacecraft) -> Spacecraft:
    """Spacecraft without flexibility: bodies keep mass, inertia, nodes and rails but have no modes, gears are stiff.

    Names of bodies, joints, wheels and frames stay; motors of flexible joints become rotor inertia of their joints.
    """
    bodies = tuple(_without_modes(body) if isinstance(body, ModalBody) else body for body in craft.bodies)
    return dataclasses.replace(craft.with_stiff_joints(), bodies=bodies)


def _without_modes(body: ModalBody) -> ModalBody:
    return dataclasses.replace(
        body,
        modal_moment=np.zeros((3, 0)),
        mixed_moment=np.zeros((0, 3, 3)),
        pair_moment=np.zeros((0, 0, 3, 3)),
        modal_mass=np.zeros((0, 0)),
        stiffness=np.zeros((0, 0)),
        damping=np.zeros((0, 0)),
        short_moment=np.zeros((0, 0, 3)),
        short_mixed_moment=np.zeros((0, 0, 3, 3)),
        nodes=tuple(map(_still_node, body.nodes)),
        rail=None if body.rail is None else _still_rail(body.rail),
        mode_names=(),
        skin=None,  # its picture has one column for each mode
    )


def _still_node(node: Node) -> Node:
    return dataclasses.replace(
        node, translation=np.zeros((3, 0)), rotation=np.zeros((3, 0)), foreshortening=np.zeros((3, 0, 0))
    )


def _still_rail(rail: Rail) -> Rail:
    still = np.zeros((len(rail.position), 3, 0))
    return dataclasses.replace(rail, translation=still, translation_slope=still, rotation=still, rotation_slope=still)

"""A gripper in the physics of a cell: hand and ring are sites, and forces act on their bodies while it holds.

The compliance is a force between two bodies, in N/m and N m/rad: MuJoCo's own constraints are normalised by mass.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from freefloat.hil.cell.gripper import Gripper, HeldFrame, Hold
from freefloat.hil.cell.rotations import cross
from freefloat.spatial.sixvectors import angular, linear

_GRASP = ".grasp"  # end of the names of sites that a gripper closes on


class PlantGripper:
    """The gripper of one robot. It closes when commanded; after a miss it must open before the next attempt."""

    def __init__(self, mujoco: Any, model: Any, data: Any, robot: str, gripper: Gripper) -> None:
        self._mujoco, self._model, self._data, self._gripper = mujoco, model, data, gripper
        self._hand, self._tip = model.site(f"{robot}.hand").id, model.geom(f"{robot}.tip").id
        self._touches = int(model.geom_contype[self._tip]), int(model.geom_conaffinity[self._tip])
        names = [model.site(k).name for k in range(model.nsite)]
        self._rings = [k for k, name in enumerate(names) if name.endswith(_GRASP) and not name.startswith(f"{robot}.")]
        self._closed, self._ring, self._hold = False, -1, None

    @property
    def holds(self) -> bool:
        """Whether it has closed on a grasp frame."""
        return self._hold is not None

    @property
    def bodies(self) -> list[int]:
        """Bodies of the hand and of the held ring; empty while it holds nothing."""
        return [int(self._model.site_bodyid[site]) for site in (self._hand, self._ring)] if self.holds else []

    def set_closed(self, *, closed: bool) -> None:
        """Close on a grasp frame within the envelope, or open; while it holds, contact of the tip is switched off."""
        if closed and not self._closed:
            hand = self._frame(self._hand)
            near = [site for site in self._rings if self._gripper.reaches(hand, self._frame(site))]
            if near:
                self._ring, self._hold = near[0], Hold(self._gripper, hand, self._frame(near[0]))
        elif not closed and self.holds:
            self._data.xfrc_applied[self.bodies] = 0.0
            self._hold = None
        self._closed = closed
        touches = (0, 0) if self.holds else self._touches
        self._model.geom_contype[self._tip], self._model.geom_conaffinity[self._tip] = touches

    def apply_wrench(self) -> None:
        """Add the present wrench of the hold to both bodies."""
        if self._hold is not None:
            hand, bodies = self._frame(self._hand), self.bodies
            wrench = self._hold.wrench(hand, self._frame(self._ring))
            force, torque = np.asarray(linear(wrench)), np.asarray(angular(wrench))
            for body, sign in zip(bodies, (1.0, -1.0), strict=True):
                lever = hand.p - self._data.xipos[body]
                self._data.xfrc_applied[body] += sign * np.concatenate([force, torque + cross(lever, force)])

    def _frame(self, site: int) -> HeldFrame:
        data, spin_first = self._data, np.zeros(6)
        self._mujoco.mj_objectVelocity(self._model, data, self._mujoco.mjtObj.mjOBJ_SITE, site, spin_first, 0)
        return HeldFrame(
            data.site_xpos[site].copy(), data.site_xmat[site].reshape(3, 3).copy(), spin_first[3:], spin_first[:3]
        )

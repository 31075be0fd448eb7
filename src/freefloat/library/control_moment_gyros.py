"""Control-moment gyros as parts of a spacecraft: a gimbal, which is a link on a revolute joint, and a wheel on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from freefloat.model import JointLimits, Spacecraft
from freefloat.model.physical_checks import unit_axis
from freefloat.spatial import Pose
from freefloat.values import ModelError
from freefloat.values.arrays import ArrayLike

# Angle between the faces of a pyramid of four and its base: with it the momentum envelope is nearly a sphere.
PYRAMID_SKEW = float(np.arctan(np.sqrt(2.0)))  # 54.74 deg [rad]
_SQUARE = 1e-9  # cosine between spin and gimbal axis


def with_control_moment_gyro(
    craft: Spacecraft,
    name: str,
    *,
    gimbal_axis: ArrayLike,
    spin_axis: ArrayLike,
    spin_inertia: float,
    mass: float,
    inertia: ArrayLike,
    at: ArrayLike = (0.0, 0.0, 0.0),
    parent: str = "base",
    max_gimbal_rate: float = np.inf,
    max_torque: float = np.inf,
    max_momentum: float = np.inf,
) -> Spacecraft:
    """Copy with a new gyro: joint and body `name`, wheel `name.wheel`. Axes are in the parent, at gimbal angle 0.

    Mass [kg] and inertia [kg m2] are of gimbal and wheel together, locked; the moments are about spin axis, axis across
    and gimbal axis, through their centre of mass at `at` [m]. Of them `spin_inertia` is that of the wheel.
    """
    gimbal = unit_axis(f"Gyro '{name}': gimbal_axis", gimbal_axis)
    spin = unit_axis(f"Gyro '{name}': spin_axis", spin_axis)
    if abs(float(gimbal @ spin)) > _SQUARE:
        raise ModelError(
            f"Gyro '{name}': gimbal axis and spin axis must be at a right angle, the cosine between them is "
            f"{float(gimbal @ spin):g}. Give a spin axis across the gimbal axis."
        )
    craft = craft.with_link(
        name,
        parent=parent,
        joint="revolute",
        at=Pose(
            position=np.asarray(at, dtype=float), rotation=np.stack([spin, np.cross(gimbal, spin), gimbal], axis=1)
        ),
        axis=(0.0, 0.0, 1.0),
        mass=mass,
        inertia=inertia,
        limits=JointLimits(rate=max_gimbal_rate),
    )
    return craft.with_wheel(
        f"{name}.wheel",
        body=name,
        axis=(1.0, 0.0, 0.0),
        inertia=spin_inertia,
        max_torque=max_torque,
        max_momentum=max_momentum,
    )


def with_gyro_pyramid(
    craft: Spacecraft, name: str = "gyro", *, skew: float = PYRAMID_SKEW, radius: float = 0.0, **gyro: Any
) -> Spacecraft:
    """Copy with four gyros `gyro.1` to `gyro.4` in a pyramid about z of the base.

    Each gimbal axis leans by `skew` [rad] from z to x, y, -x, -y; at gimbal angle 0 the spins run round the pyramid, so
    that their momenta cancel. The gyros sit `radius` [m] from the z axis. `gyro`: as `with_control_moment_gyro`.
    """
    for number in range(4):
        quarter = np.pi / 2.0 * number
        out = np.round([np.cos(quarter), np.sin(quarter), 0.0])
        craft = with_control_moment_gyro(
            craft,
            f"{name}.{number + 1}",
            gimbal_axis=np.sin(skew) * out + np.cos(skew) * np.array([0.0, 0.0, 1.0]),
            spin_axis=np.cross((0.0, 0.0, 1.0), out),
            at=radius * out,
            **gyro,
        )
    return craft

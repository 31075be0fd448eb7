"""Rotor inertia and largest torque of joints from `<actuator>`. Its control law is left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from freefloat.readers.findings import Findings

_ON_JOINT = (0, 1)  # of mjtTrn: in joint and in parent axes


def _joint_actuators(model: Any, joint: int) -> list[int]:
    """Indices of the actuators that act on one joint."""
    return [
        a
        for a in range(model.nu)
        if int(model.actuator_trntype[a]) in _ON_JOINT and model.actuator_trnid[a, 0] == joint
    ]


def motor_inertia(model: Any, joint: int) -> float:
    """Armature of a joint and of its motors together, referred to the joint [kg m2 or kg]."""
    if int(model.jnt_type[joint]) < 2:
        return 0.0  # free or ball
    armatures = getattr(model, "actuator_armature", np.zeros(model.nu))
    of_motors = sum(float(armatures[a]) * float(model.actuator_gear[a, 0]) ** 2 for a in _joint_actuators(model, joint))
    return float(model.dof_armature[model.jnt_dofadr[joint]]) + of_motors


def motor_limit(model: Any, joint: int) -> float:
    """Largest torque or force at a joint [N m or N]; infinite if not given."""
    efforts = [_effort(model, a) for a in _joint_actuators(model, joint)]
    stated = [np.inf if not efforts else sum(efforts)]
    if model.jnt_actfrclimited[joint]:
        stated.append(float(np.max(np.abs(model.jnt_actfrcrange[joint]))))
    return float(min(stated))


def _effort(model: Any, actuator: int) -> float:
    gear = abs(float(model.actuator_gear[actuator, 0]))
    if model.actuator_forcelimited[actuator]:
        return gear * float(np.max(np.abs(model.actuator_forcerange[actuator])))
    plain = int(model.actuator_gaintype[actuator]) == 0 and int(model.actuator_biastype[actuator]) == 0
    if plain and model.actuator_ctrllimited[actuator] and int(model.actuator_dyntype[actuator]) == 0:
        gain = abs(float(model.actuator_gainprm[actuator, 0]))
        return gear * gain * float(np.max(np.abs(model.actuator_ctrlrange[actuator])))
    return np.inf


def note_motors(model: Any, findings: Findings) -> None:
    """Note once that control laws of actuators are left out."""
    if model.nu:
        findings.note("<actuator>", f"its {model.nu} laws are left out: software commands torques; their limits stay.")

"""Regulator of the linear model as software of the nonlinear one: state feedback, or behind a filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.scenarios.station.model import StationModel

if TYPE_CHECKING:
    from freefloat.control import OrbitAttitude
    from freefloat.control.lqr import LinearController, Regulator, SecondOrderModel, StateSpace
    from freefloat.model import Spacecraft

WHEELS = {"yaw torque": "-wheels.x", "roll torque": "-wheels.y", "pitch torque": "-wheels.z"}


def state_feedback(
    station: StationModel,
    regulator: Regulator,
    period: float,
    *,
    wheels_of: Spacecraft | None = None,
    largest: Any = np.inf,
    off: bool = False,
) -> tuple[OrbitAttitude, LinearController]:
    """Software u = trim - F x with x from attitude, gyro, joints and all modes, every period [s]; `off`: trim alone.

    `wheels_of`: the station with wheels, which then make the attitude torques.
    """
    from freefloat.control.lqr import LinearController, StateSpace

    reads, places, reference = measured_state(station)
    n = len(station.structure.M)
    columns = [int(np.flatnonzero(station.order == k)[0]) for k in places]
    columns += [n + k for k in columns]
    gain, names = (0.0 if off else 1.0) * regulator.gain[:, columns], tuple(regulator.model.states[k] for k in columns)
    nothing = np.zeros((0, 0)), np.zeros((0, 2 * n)), np.zeros((len(gain), 0))
    controller = StateSpace(*nothing, -gain, (), names, regulator.model.inputs, period)
    ports, craft = station.reference.inputs | (WHEELS if wheels_of else {}), wheels_of or station.craft
    options = {"reference": reference, "trim": trim_commands(station), "ports": ports, "largest": largest}
    return _attitude(station, period), LinearController.of(controller, craft, reads, **options)


def _attitude(station: StationModel, period: float) -> OrbitAttitude:
    from freefloat.control import OrbitAttitude

    return OrbitAttitude(station.orbit, station.reference.attitude, period=period)


def measured_state(station: StationModel) -> tuple[list[str], list[int], np.ndarray]:
    """Measurements that make up the state, the indices of their numbers in (psi, q), and their values at rest."""
    layout = station.craft.layout
    modes = [name.removesuffix(".modes") for name in layout.modes]
    reads = ["orbit.rotation", "joints.position", *(f"{name}.modes" for name in modes)]
    reads += ["orbit.rate", "joints.rate", *(f"{name}.modal_rates" for name in modes)]
    inner = [*layout.joint_positions, *(k for name in layout.modes for k in range(layout.nq)[layout.positions[name]])]
    at_rest = np.concatenate([np.zeros(3), station.reference.q[inner], np.zeros(3 + len(inner))])
    return reads, [0, 1, 2, *(3 + k for k in inner)], at_rest


def trim_commands(station: StationModel) -> np.ndarray:
    """Commands that hold the joints at the reference against the tide."""
    structure, trim = station.structure, station.model.trim
    held = {"theta1 torque": "theta1", "theta2 torque": "theta2", "zeta force": "zeta"}
    return np.array(
        [trim[structure.coordinates.index(held[name])] if name in held else 0.0 for name in structure.inputs]
    )


# ---- sensors and a filter

TIP_FRAMES = ("base.left.tip", "base.right.tip", "array.1.corner", "array.2.corner")


def sensed_structure(station: StationModel) -> SecondOrderModel:
    """Linear model whose outputs are the sensors: attitude and gyro in orbit, joints, deflections of four tips."""
    from freefloat.analysis.orbit_names import frame_motion
    from freefloat.dynamics.displacement_moments import displacement_moments

    craft, q, n = station.craft, station.reference.q, len(station.structure.M)
    each, moments = np.eye(n), displacement_moments(craft, q)
    joints = [int(np.flatnonzero(station.order == 3 + k)[0]) for k in craft.layout.joint_positions]
    tips = []
    for frame in TIP_FRAMES:
        along_z = np.concatenate([np.zeros(3), frame_motion(craft, q, moments, frame)[2][2]])
        tips.append(along_z[station.order])
    Cp = np.vstack([each[:3], each[joints], tips, np.zeros((3, n))])
    Cv = np.vstack([np.zeros((3 + len(joints) + len(tips), n)), each[:3]])
    angles = ("yaw", "roll", "pitch")
    names = (*angles, *craft.layout.moving_joints, *TIP_FRAMES, *(f"{axis} gyro" for axis in angles))
    return station.structure.with_outputs(Cp, Cv, names)


SENSED = ("orbit.rotation", "joints.position", "frames.deflection", "orbit.rate")


def filter_feedback(
    station: StationModel, compensator: StateSpace, *, largest: Any = np.inf
) -> tuple[OrbitAttitude, LinearController]:
    """Software that applies a sampled compensator to the outputs of `sensed_structure`."""
    from freefloat.control.lqr import LinearController

    layout, q = station.craft.layout, station.reference.q
    at_rest = np.concatenate([np.zeros(3), q[list(layout.joint_positions)], np.zeros(len(TIP_FRAMES) + 3)])
    assert compensator.period is not None
    trim = dict(zip(station.structure.inputs, trim_commands(station), strict=True))
    options = {
        "reference": at_rest,
        "trim": np.array([trim[name] for name in compensator.outputs]),
        "ports": station.reference.inputs,
        "largest": largest,
    }
    return _attitude(station, compensator.period), LinearController.of(compensator, station.craft, SENSED, **options)


ATTITUDE_AND_ARM = ("yaw torque", "roll torque", "pitch torque", "theta1 torque", "theta2 torque", "zeta force")
_ANGLE, _RATE = 1e2, 1e4  # weights of attitude [1/rad2] and its rates [s2/rad2]; the arm's a hundredth, modes' less
_EFFORT = (1e-2, 1e-4, 1e-4, 1.0, 1.0, 1.0)  # weights of the commands [1/(N m)2, 1/N2]
_PUSHES = (1.0, 10.0, 10.0, 1e-3, 1e-3, 1e-3)  # disturbances that the filter expects [N m, N]
_ERRORS = (*(1e-5,) * 3, *(1e-4,) * 3, *(1e-3,) * 4, *(1e-5,) * 3)  # of angles, joints, tips, gyros [rad, m, rad/s]


def compensator(structure: SecondOrderModel, period: float, *, bold: float = 1.0) -> StateSpace:
    """Sampled regulator and filter that control attitude and arm by torques alone; `bold` multiplies the weights.

    `structure` comes from `sensed_structure`, perhaps with some of its modes left out (`keep_modes`).
    """
    from freefloat.control.lqr import design_kalman, design_lqg, design_lqr, sample

    plant = sample(structure.with_inputs(ATTITUDE_AND_ARM).state_space, period)
    n = len(structure.M)
    share = np.concatenate([np.ones(3), np.full(3, 1e-2), np.full(n - 6, 1e-3)])[:n]
    regulator = design_lqr(plant, bold * np.concatenate([_ANGLE * share, _RATE * share]), np.array(_EFFORT))
    kalman = design_kalman(plant, bold * 1e-2 * period * np.square(_PUSHES), np.square(_ERRORS))
    return design_lqg(regulator, kalman)

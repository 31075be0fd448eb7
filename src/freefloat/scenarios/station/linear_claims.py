"""Claims of the linear station: libration, modes, the regulator, its recovery, the arm's travel.

All come from two independent computations of our own (the paper prints curves only); the paper's model is nodal, with
132 states, gravity gradient on the attitude alone, no damping.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from freefloat.scenarios.station.model import TIPS, StationModel, bent_coordinates, station_model, tip_deflection
from freefloat.values.claims import Claim, Source

REFERENCE = Source("prototype", "two independent computations of the 132-state model; the paper prints curves only")
EXACT = Source("exact", "rigid body in a circular orbit")
AXES = ("yaw", "roll", "pitch")
FIVE = np.deg2rad(5.0)


def about(what: str, reference: float, ours: float, unit: str, tolerance: float, source: Source = REFERENCE) -> Claim:
    """Claim that a number equals the reference to an absolute tolerance, its printed digits."""
    return Claim(what, "about", float(reference), float(ours), unit, source, tolerance)


def within(what: str, reference: float, ours: float, unit: str, relative: float = 2e-3) -> Claim:
    """Claim that a number equals the reference to a relative tolerance."""
    return Claim(what, "within", reference, float(ours), unit, REFERENCE, relative)


# ---- at rest


def rest_claims() -> Iterator[Claim]:
    """Claims of mass, inertia, librations and modes of the station without control."""
    station = station_model()
    model, n = station.model, station.model.rate
    J = model.inertia
    yield about("mass of the station", 9398.7276, model.mass, "kg", 6e-5)
    yield about("centre of mass along the bus", -5.64237, model.com[0], "m", 6e-6)
    for axis, reference, digit in zip(AXES, (1.20657e5, 9.33743e6, 9.40597e6), (0.6, 6.0, 6.0), strict=True):
        yield about(f"moment of inertia, {axis}", reference, J[AXES.index(axis), AXES.index(axis)], "kg m2", digit)
    yield about("product of inertia Jxz", -112.935, J[0, 2], "kg m2", 6e-4)
    k1, k2 = (J[2, 2] - J[0, 0]) / J[1, 1], (J[2, 2] - J[1, 1]) / J[0, 0]
    yield about("inertia ratio k1", 0.9944187, k1, "1", 6e-8)
    yield about("inertia ratio k2", 0.5680713, k2, "1", 6e-8)
    half = 0.5 * (1.0 + 3.0 * k1 + k1 * k2)
    root = np.sqrt(half**2 - 4.0 * k1 * k2)
    exact = np.sqrt([half - root, half + root, 3.0 * (J[1, 1] - J[0, 0]) / J[2, 2]])
    for axis, reference, seconds, ours in zip(
        AXES, (0.753439, 1.995116, 1.714542), (7371.0, 2783.6, 3239.1), exact, strict=True
    ):
        yield about(f"libration, {axis}, of a rigid body", reference, ours, "orbits", 6e-7, EXACT)
        yield about(f"period of that libration, {axis}", seconds, 2 * np.pi / (n * ours), "s", 0.06, EXACT)
    yield from _flexible_librations(station, n * exact)
    yield from _open_modes(station)
    yield from _tidal_modes()


def _frequencies(A: np.ndarray) -> np.ndarray:
    poles = np.linalg.eigvals(A)
    return np.sort(np.imag(poles)[np.imag(poles) > 1e-6])


def _flexible_librations(station: StationModel, rigid: np.ndarray) -> Iterator[Claim]:
    """Claims of the change of the librations by flexibility and free joints."""
    s, keep = station.structure, [k for k in range(len(station.structure.M)) if k not in (3, 4, 5)]
    from freefloat.control.lqr import SecondOrderModel

    each = np.ix_(keep, keep)
    locked = SecondOrderModel(s.M[each], s.K[each], s.Bf[keep], s.G[each])
    for words, model, references, digit in (
        ("joints locked", locked, (-4.5e-6, -8.5e-6, -4e-10), (6e-8, 6e-8, 1.5e-10)),
        ("joints free", s, (2.0e-4, 8.4e-5, 1.3e-4), (6e-6, 6e-7, 6e-6)),
    ):
        found = _frequencies(model.state_space.scaled_model().A)[:3]  # yaw, pitch, roll
        for axis, reference, tolerance, ours, before in zip(
            AXES, references, digit, found[[0, 2, 1]], rigid, strict=True
        ):
            change = ours / before - 1.0
            yield about(f"change of the {axis} libration, {words}", reference, change, "1", tolerance)


def _open_modes(station: StationModel) -> Iterator[Claim]:
    found = _frequencies(station.structure.state_space.scaled_model().A)[3:]
    references = (0.22814, 0.29124, 0.49990, 0.50010, 1.2981, 1.3003, 1.6046, 1.6058, 1.8398, 1.8400, 2.922, 3.256)
    for k, reference in enumerate(references):
        digit = 0.51 * 10.0 ** -(5 if reference < 1.0 else 4 if reference < 2.0 else 3)
        yield about(f"elastic mode {k + 1}", reference, found[k], "rad/s", digit)
    yield about("highest elastic mode", 1027.9, found[-1], "rad/s", 0.06)
    yield about("elastic modes", 60.0, len(found), "1", 0.0)
    largest = np.max(np.real(station.structure.state_space.poles))
    yield Claim("largest real part of the open loop", "below", 1e-10, float(largest), "1/s", REFERENCE)


def _tidal_modes() -> Iterator[Claim]:
    """Claims of slow modes if the tide also acts on joints and modes; the carriage then falls along the vertical."""
    station = station_model(gradient="full")
    n, w = station.model.rate, np.linalg.eigvals(station.structure.state_space.scaled_model().A)
    yield about("tide: growth of the carriage's travel", np.sqrt(3.0), np.max(w.real) / n, "orbits", 2e-3)
    slow = np.sort(w.imag[(w.imag > 0.5 * n) & (w.imag < 1.2 * n)]) / n
    for reference, what in ((0.9997, "first"), (1.0, "second")):
        nearest = slow[np.argmin(np.abs(slow - reference))]
        yield about(f"tide: {what} cross-track mode of the arm", reference, nearest, "orbits", 1e-4)


def libration_claims() -> Iterator[Claim]:
    """Claims of three orbits from +5 deg on all axes, without control."""
    from freefloat.control.lqr import mean_period, simulate_linear

    station = station_model()
    start = station.linear_state((FIVE, FIVE, FIVE))
    motion = simulate_linear(station.structure.state_space.submodel(outputs=AXES), start, 5.0, 3 * 5553.62)
    for axis, reference in zip(AXES, (7.332, 5.003, 5.000), strict=True):
        largest = np.rad2deg(np.max(np.abs(motion[axis])))
        yield about(f"linear: largest {axis} in three orbits", reference, largest, "deg", 6e-4)
    yield about("linear: period of pitch", 3238.70, mean_period(motion.times, motion["pitch"]), "s", 6e-3)


# ---- the regulator


def regulator_claims() -> Iterator[Claim]:
    """Claims of the Riccati equation, poles and gains."""
    regulator = station_model().regulator
    poles = regulator.poles
    yield Claim("relative residual of the Riccati equation", "below", 1e-12, regulator.residual, "1", REFERENCE)
    yield about("fastest real part", -214.1, np.min(np.real(poles)), "1/s", 0.06)
    yield about("slowest real part", -3.458e-3, np.max(np.real(poles)), "1/s", 6e-7)
    yield about("real poles", 6.0, float(np.sum(np.abs(np.imag(poles)) < 1e-9)), "1", 0.0)
    swinging = poles[np.imag(poles) > 1e-9]
    ratio = -np.real(swinging) / np.abs(swinging)
    yield about("least damping, a plate mode", 1.96e-4, np.min(ratio), "1", 6e-7)
    yield about("frequency of that mode", 17.67, swinging[np.argmin(ratio)].imag, "rad/s", 6e-3)
    yield about("most damping of a swinging mode", 0.851, np.max(ratio), "1", 6e-4)
    for axis, pole in zip(AXES, (-8.438e-3 + 8.455e-3j, -5.936e-2 + 5.948e-2j, -1.289e-2 + 1.304e-2j), strict=True):
        nearest = swinging[np.argmin(np.abs(swinging - pole))]
        for part, reference, ours in (("real", pole.real, nearest.real), ("imaginary", pole.imag, nearest.imag)):
            yield about(f"{axis} pole, {part} part", reference, ours, "1/s", 6e-6)
    for name, frequency, reference in (
        ("first elastic", 0.2930, 0.099),
        ("arm", 0.2270, 0.706),
        ("second elastic", 0.5007, 0.059),
        ("third elastic", 0.5108, 0.319),
    ):
        nearest = int(np.argmin(np.abs(np.imag(swinging) - frequency)))
        yield about(f"damping of the {name} pole", reference, ratio[nearest], "1", 6e-4)
    for command, state, reference, digit in (
        ("pitch torque", "pitch", 3127.083, 6e-4),
        ("pitch torque", "pitch rate", 242562.56, 6e-3),
        ("yaw torque", "yaw", 0.0593, 6e-5),
        ("yaw torque", "yaw rate", 6.992, 6e-4),
        ("roll torque", "roll", 28.25, 6e-3),
        ("roll torque", "roll rate", 497.1, 0.06),
    ):
        yield about(f"gain from {state} to {command}", reference, regulator.entry(command, state), "SI", digit)


def start_of_recovery(station: StationModel) -> np.ndarray:
    """Linear start state of the recovery: +5 deg on all axes, every tip 10 mm towards z."""
    return station.linear_state((FIVE, FIVE, FIVE), bent_coordinates(station.craft, dict.fromkeys(TIPS, 0.01)))


def recovery_claims() -> Iterator[Claim]:
    """Claims of cost, times and efforts of the recovery."""
    from freefloat.control.lqr import lyapunov_cost, overshoot, settling_time, simulate_linear

    station = station_model()
    regulator, start = station.regulator, start_of_recovery(station)
    yield about("cost of the recovery", 1.665862e7, regulator.cost(start), "1", 10.0)
    by_lyapunov = lyapunov_cost(regulator.model, regulator.gain, regulator.Q, regulator.R, start)
    share = abs(by_lyapunov / regulator.cost(start) - 1.0)
    yield Claim("cost against Lyapunov's equation", "below", 1e-6, share, "1", Source("exact", "cost identity"))
    motion = simulate_linear(_with_outputs(station, regulator.closed_loop), start, 0.01, 600.0)
    for axis, wide, narrow, over in zip(
        AXES, (497.1, 90.8, 325.6), (548.8, 117.8, 358.7), (4.40, 7.95, 4.48), strict=True
    ):
        values = motion[axis]
        yield about(f"{axis} within 2 %", wide, settling_time(motion.times, values, 0.02 * FIVE), "s", 0.06)
        yield about(f"{axis} within 0.05 deg", narrow, settling_time(motion.times, values, np.deg2rad(0.05)), "s", 0.06)
        yield about(f"overshoot of {axis}", over, 100.0 * overshoot(values), "%", 6e-3)
    for name, reference, tolerance in zip(
        TIPS, (7.42, 9.39, 58.6, 61.6, 412.7, 412.7), (0.011, 0.011, 0.08, 0.08, 0.08, 0.08), strict=True
    ):
        yield about(
            f"{name} tip below 0.2 mm", reference, settling_time(motion.times, motion[name], 2e-4), "s", tolerance
        )
    yield within("peak of array 1 at its corner", 2.80e-2, np.max(np.abs(motion["array 1"])), "m")
    for name, reference in (("theta1", 5.06e-3), ("theta2", 3.19e-3), ("zeta", 8.64e-4)):
        yield within(f"largest {name}", reference, np.max(np.abs(motion[name])), "SI")
    yield from _effort_claims(station, start)


def _effort_claims(station: StationModel, start: np.ndarray) -> Iterator[Claim]:
    from freefloat.control.lqr import simulate_linear

    regulator = station.regulator
    peaks = np.max(np.abs(simulate_linear(regulator.commands, start, 2e-4, 1.0).values), axis=0)
    references = (None, 47.95, 273.06, 0.064, 0.022, 2.5e-3, 1697.0, 1707.0, 0.036, 0.052, 0.087, 0.081)
    digits = (None, 6e-3, 6e-3, 6e-4, 6e-4, 6e-5, 0.6, 0.6, 6e-4, 6e-4, 6e-4, 6e-4)
    for name, reference, digit, ours in zip(station.structure.inputs, references, digits, peaks, strict=True):
        if reference is not None and digit is not None:
            yield about(f"peak of {name}", reference, ours, "SI", digit)
    slow = simulate_linear(regulator.commands.submodel(outputs=("yaw torque command",)), start, 0.05, 600.0)
    yield about("peak of yaw torque", 5.2e-3, np.max(np.abs(slow.values)), "N m", 6e-5)


# ---- the arm travels


def _with_outputs(station: StationModel, plain: Any) -> Any:
    """Model whose outputs are attitude, joints, tips of components and the arm's tip (in body axes)."""
    from freefloat.analysis.orbit_names import frame_motion
    from freefloat.control.lqr import StateSpace
    from freefloat.dynamics.displacement_moments import displacement_moments

    craft, n = station.craft, len(station.structure.M)
    rows = {name: np.concatenate([np.zeros(3), tip_deflection(craft, name)])[station.order] for name in TIPS}
    hand = frame_motion(craft, station.reference.q, displacement_moments(craft, station.reference.q), "hand")[2][2]
    rows["hand"] = np.concatenate([np.zeros(3), hand])[station.order]
    own = [station.structure.coordinates.index(name) for name in (*AXES, "theta1", "theta2", "zeta")]
    C = np.hstack([np.vstack([np.eye(n)[own], *rows.values()]), np.zeros((6 + len(rows), n))])
    names = (*AXES, "theta1", "theta2", "zeta", *rows)
    return StateSpace(plain.A, plain.B, C, None, plain.states, plain.inputs, names, scaling=plain.scaling)


def travelling_start(station: StationModel, speed: float = 0.1) -> np.ndarray:
    """Linear start state with moving carriage [m/s], +0.05 deg on all axes, bus and arrays bent by 1 mm."""
    tips = {name: 1e-3 for name in TIPS if not name.startswith("arm")}
    rates = np.zeros(3 + station.craft.layout.nq)
    rates[3 + station.craft.layout.position("rail").start] = speed
    return station.linear_state(np.full(3, np.deg2rad(0.05)), bent_coordinates(station.craft, tips), rates)


def _attitude_change_deg(motion: Any, start: Sequence[float] | None = None) -> list[float]:
    return [float(np.rad2deg(motion[axis][6000] - (motion[axis][0] if start is None else 0.0))) for axis in AXES]


def travel_claims() -> Iterator[Claim]:
    """Claims of one minute of the arm's travel without control, with control, and started from rest."""
    from freefloat.control.lqr import simulate_linear

    station = station_model()
    free = simulate_linear(_with_outputs(station, station.structure.state_space), travelling_start(station), 0.01, 60.0)
    yield about("no control: travel of the arm's base in a minute", 6.000, free["zeta"][-1], "m", 6e-4)
    for axis, reference, ours in zip(AXES, (4.8e-4, -2.9e-4, -4.5e-4), _attitude_change_deg(free), strict=True):
        yield about(f"no control: change of {axis}", reference, ours, "deg", 6e-6)
    roll = np.rad2deg(np.max(np.abs(free["roll"] - free["roll"][0])))
    yield about("no control: largest change of roll", 5.7e-4, roll, "deg", 6e-6)
    still = simulate_linear(
        _with_outputs(station, station.structure.state_space), travelling_start(station, 0.0), 0.01, 60.0
    )
    caused = np.subtract(_attitude_change_deg(free), _attitude_change_deg(still))
    for axis, reference, digit, ours in zip(AXES, (5.4e-4, -7e-8, -1.1e-4), (6e-6, 6e-9, 6e-6), caused, strict=True):
        yield about(f"no control: change of {axis} by the travel alone", reference, ours, "deg", digit)
    for name, reference, digit in (("hand", 1.02e-3, 6e-6), ("arm 1", 7.6e-4, 6e-6), ("arm 2", 5.8e-4, 6e-6)):
        yield about(f"no control: largest deflection, {name}", reference, np.max(np.abs(free[name])), "m", digit)
    yield from _controlled_travel(station)
    yield from _travel_from_rest(station)


def _controlled_travel(station: StationModel) -> Iterator[Claim]:
    from freefloat.control.lqr import settling_time, simulate_linear

    held = simulate_linear(
        _with_outputs(station, station.regulator.closed_loop), travelling_start(station), 0.01, 300.0
    )
    for axis, reference, ours in zip(AXES, (-0.0094, -0.0534, -0.0176), _attitude_change_deg(held), strict=True):
        yield about(f"control: change of {axis}", reference, ours, "deg", 6e-5)
    yield about("control: largest travel", 0.0430, np.max(np.abs(held["zeta"])), "m", 6e-5)
    yield about("control: travel below 10 mm", 3.68, settling_time(held.times, held["zeta"], 0.01), "s", 0.011)
    for axis, reference in zip(AXES, (219.2, 27.9, 144.0), strict=True):
        ours = settling_time(held.times, held[axis], np.deg2rad(0.005))
        yield about(f"control: {axis} within 0.005 deg", reference, ours, "s", 0.06)
    for name, reference, digit in (("hand", 3.4e-3, 6e-5), ("arm 1", 2.2e-4, 6e-6), ("arm 2", 2.6e-4, 6e-6)):
        yield about(f"control: largest deflection, {name}", reference, np.max(np.abs(held[name])), "m", digit)


def state_from_rest(station: StationModel, speed: float = 0.1) -> np.ndarray:
    """Linear state after the carriage's motor has set it in motion [m/s]; momentum does not change."""
    return station.linear_state(rates=station.rates_from_rest(speed))


def _travel_from_rest(station: StationModel) -> Iterator[Claim]:
    from freefloat.control.lqr import simulate_linear

    plain = station.structure.state_space.submodel(outputs=(*AXES, "zeta"))
    motion = simulate_linear(plain, state_from_rest(station), 0.01, 60.0)
    for axis, reference, ours in zip(
        AXES, (5.38e-4, -1.03e-4, -1.12e-4), _attitude_change_deg(motion, [0.0] * 3), strict=True
    ):
        yield about(f"from rest: change of {axis}", reference, ours, "deg", 6e-7)
    yield about("from rest: travel in a minute", 5.9967, motion["zeta"][-1], "m", 6e-5)

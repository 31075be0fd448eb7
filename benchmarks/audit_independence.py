"""The same run described otherwise: other records, units, sizes of the motion, speeds of the wheels, drift."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from audit_faults import Fault, compiled_once, planted

import freefloat as ff
from freefloat.spatial import Pose
from freefloat.values import record

DT, DURATION = 0.01, 2.0  # [s]
WRONG = 1e-7  # relative error of the arm's inertia in the run that must be refused


@record
class Shaking(ff.Effect):
    """A motor and a wheel that swing, and a push on the base."""

    torque: Any  # [N m, or in other units]
    push: Any

    def force(self, craft: ff.Spacecraft, state: ff.State, clock: ff.Clock) -> Any:
        wave = jnp.sin(2.0 * clock.t)
        return (
            jnp.zeros(8).at[1].set(self.push * wave).at[6].set(0.1 * self.torque * wave).at[7].set(self.torque * wave)
        )


def craft_in(kilogram: float, metre: float) -> ff.Spacecraft:
    """Hub, wheel and arm, in units of which a kilogram and a metre have so many."""
    inertia = kilogram * metre**2
    hub = ff.Spacecraft.from_base(
        "small", mass=20.0 * kilogram, inertia=np.array([3.0, 4.0, 5.0]) * inertia, com=(0.0, 0.1 * metre, 0.0)
    )
    hub = hub.with_wheel("wheel", axis=(0.0, 0.0, 1.0), inertia=0.05 * inertia)
    return hub.with_link(
        "arm",
        parent="base",
        joint="revolute",
        at=Pose(position=(0.5 * metre, 0.0, 0.0)),
        mass=4.0 * kilogram,
        com=(0.5 * metre, 0.0, 0.0),
        inertia=np.array([0.1, 0.4, 0.4]) * inertia,
        damping=0.1 * inertia,
    )


def judged(
    error: float, *, kilogram: float = 1.0, metre: float = 1.0, size: float = 1.0, wheel: float = 5.0,
    record_dt: float = DT, drift: float = 0.0,
) -> ff.Run:  # fmt: skip
    """The run with a relative error of the arm's inertia in its equations of motion; `size` scales the whole motion."""
    craft = craft_in(kilogram, metre)
    v = size * np.array([0.1 * metre, -0.2 * metre, 0.05 * metre, 0.3, -0.1, 0.2, 0.0, 0.4])
    v[:3] += drift * metre
    v[6] = wheel
    work = kilogram * metre**2 * size**2
    parts = (Shaking(torque=0.3 * work, push=work / metre), Fault(np.array([0.0, error])))
    with planted():
        return ff.simulate(
            craft,
            *parts,
            state=replace(craft.at_rest(), v=v),
            duration=DURATION,
            dt=DT,
            record_dt=record_dt,
            check=False,
        )


def others() -> Iterator[tuple[str, str, dict[str, float]]]:
    """What is changed, in words, and how."""
    yield "as it is", "", {}
    for record_dt in (0.02, 0.1, 0.5, 2.0):
        yield "record_dt", f"{record_dt:g} s", {"record_dt": record_dt}
    yield "units", "g, mm", {"kilogram": 1e3, "metre": 1e3}
    yield "units", "t, km", {"kilogram": 1e-3, "metre": 1e-3}
    for size in (1e-3, 1e-6, 1e-9):
        yield "size of the motion", f"{size:g} of it, forces by its square", {"size": size, "wheel": 0.0}
    for wheel in (0.0, 100.0, 2000.0):
        yield "wheel", f"{wheel:g} rad/s", {"wheel": wheel}
    for drift in (10.0, 7500.0):
        yield "drift", f"{drift:g} m/s", {"drift": drift}


def right_and_wrong(options: dict[str, float]) -> tuple[ff.Run, ff.Run]:
    """The run as it must be and with a wrong inertia, compiled once."""
    made: dict[str, Any] = {}
    with compiled_once(made):
        return judged(0.0, **options), judged(WRONG, **options)


def verdicts() -> list[dict[str, Any]]:
    """Verdicts on the right run and on a wrong one, in every description."""
    rows = []
    for case, otherwise, options in others():
        right, wrong = right_and_wrong(options)
        row = {"case": case, "otherwise": otherwise, "error": WRONG}
        row |= {"right": _word(right), "wrong": _word(wrong), "violated": [e.name for e in wrong.audit.violations]}
        rows.append(row | {"refused_right": [str(e) for e in right.audit.violations]})
    return rows


def _word(run: ff.Run) -> str:
    return "holds" if run.audit.holds else "refused"

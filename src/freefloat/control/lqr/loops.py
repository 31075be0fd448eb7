"""Closed loops of a plant and a controller by names, and loops broken at the plant's inputs."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from freefloat.control.lqr.regulator import Regulator
from freefloat.control.lqr.state_space import Scaling, StateSpace, name_indices
from freefloat.values.errors import ModelError


def loop_gain(plant: StateSpace, controller: StateSpace | Regulator) -> StateSpace:
    """Loop gain L broken at the commands: from the input of the plant to minus the output of the controller."""
    if isinstance(controller, Regulator):
        wanted = name_indices("input", plant.inputs, controller.model.inputs)
        if plant.states != controller.model.states:
            raise ModelError("A regulator's gain needs the states that it was designed on; give a compensator.")
        B, names = plant.B[:, wanted], controller.model.inputs
        return StateSpace(plant.A, B, controller.gain, None, plant.states, names, names, plant.period, plant.scaling)
    plant = _matched_plant(plant, controller)
    n, k = len(plant.A), len(controller.A)
    A = np.block([[plant.A, np.zeros((n, k))], [controller.B @ plant.C, controller.A]])
    B = np.vstack([plant.B, controller.B @ plant.D])
    C = -np.hstack([controller.D @ plant.C, controller.C])
    own = (f"controller {name}" if name in plant.states else name for name in controller.states)
    scaling = _combined_scaling(plant, controller)
    names = plant.inputs
    return StateSpace(A, B, C, -controller.D @ plant.D, (*plant.states, *own), names, names, plant.period, scaling)


def close_loop(plant: StateSpace, controller: StateSpace | Regulator) -> StateSpace:
    """Plant and controller as one model; inputs are added to the commands, outputs are the plant's and the commands."""
    loop = loop_gain(plant, controller)
    if np.any(loop.D):
        raise ModelError("The loop answers at once to itself (D of plant and controller): put a delay into it.")
    whole = plant if isinstance(controller, Regulator) else _matched_plant(plant, controller, keep_outputs=True)
    A = loop.A - loop.B @ loop.C
    extra = len(A) - len(plant.A)
    C = np.vstack([np.hstack([whole.C, np.zeros((len(whole.C), extra))]), -loop.C])
    outputs = (*whole.outputs, *(f"{name} command" for name in loop.inputs))
    return StateSpace(A, loop.B, C, None, loop.states, loop.inputs, outputs, plant.period, loop.scaling)


def closed_poles(loop: StateSpace) -> tuple[np.ndarray, np.ndarray]:
    """Poles [1/s] of a loop gain with its loop closed, and their vectors in scaled coordinates."""
    s, one = loop.scaling, np.eye(len(loop.inputs))
    A = s.T_inverse @ (loop.A - loop.B @ np.linalg.solve(one + loop.D, loop.C)) @ s.T
    poles, vectors = linalg.eig(A)  # pyright: ignore[reportAssignmentType]
    return (poles if loop.period is None else np.log(poles + 0j) / loop.period), vectors


def controller_period(controller: StateSpace | Regulator) -> float | None:
    """Period of a controller [s]; None for a continuous one."""
    return controller.model.period if isinstance(controller, Regulator) else controller.period


def _matched_plant(plant: StateSpace, controller: StateSpace, keep_outputs: bool = False) -> StateSpace:
    """Plant with the controller's commands as inputs and its measurements as outputs, in its order."""
    if plant.period != controller.period:
        given = [("continuous" if p is None else f"{p:g} s") for p in (plant.period, controller.period)]
        raise ModelError(f"Plant ({given[0]}) and controller ({given[1]}) differ in period. Use `sample` on the plant.")
    return plant.submodel(inputs=controller.outputs, outputs=None if keep_outputs else controller.inputs)


def _combined_scaling(a: StateSpace, b: StateSpace) -> Scaling:
    T, back = (linalg.block_diag(getattr(a.scaling, name), getattr(b.scaling, name)) for name in ("T", "T_inverse"))
    return Scaling(np.asarray(T), np.asarray(back))

"""Which bodies are physically possible, and the metric that keeps a search away from impossible ones.

A rigid body is possible where its mass m and its second moment about the centre of mass, S = 1/2 tr(I) - I, are
positive: the same as positive principal moments within the triangle inequality, and as a positive pseudo-inertia
P = [S + m c c^T, m c; m c^T, m] with its centre of mass c (Wensing, Kim, Slotine, IEEE RA-L 3 (2018)). Changes are
measured by tr(P^-1 dP P^-1 dP), the curvature of -log det P: where P is linear in the parameters, as in the ten of
`inertial`, a change of length below one always leads to a possible body.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.analysis.identification.inertial_numbers import second_moment
from freefloat.analysis.identification.parameters import Parameters
from freefloat.model import ModalBody, RigidBody
from freefloat.sim.experiment import Experiment

# Of the largest second moment: a thin rod or a point mass is itself at the edge, and checked only at the end.
_FLAT = 1e-6
EDGE = 1e-3  # of the largest second moment: a body so flat is called one at the edge


@dataclass(frozen=True)
class _EstimatedBody:
    """A body some of whose numbers are estimated."""

    name: str
    craft: int
    index: int
    solid: bool  # whether its second moments are positive, and must stay so


class PossibleBodies:
    """The bodies whose mass, centre of mass or inertia is estimated."""

    def __init__(self, experiment: Experiment, parameters: Parameters) -> None:
        self._experiment, self._placement = experiment, parameters.placement
        self.members = tuple(_estimated_bodies(experiment, parameters))

    def metric(self, values: np.ndarray, scale: np.ndarray) -> np.ndarray | None:
        """Matrix of the squared length of a change of scaled parameters; None where a body is impossible."""
        found = np.zeros((len(values), len(values)))
        if not self.members:
            return found
        whole, slopes = self._pseudo_inertias(values), jax.jacfwd(self._pseudo_inertias)(jnp.asarray(values))
        for member, pseudo, change in zip(self.members, whole, slopes, strict=True):
            block = slice(None) if member.solid else slice(3, 4)  # of a flat body the mass alone
            pseudo, change = np.asarray(pseudo)[block, block], np.asarray(change)[block, block]
            if not _is_possible(pseudo):
                return None
            inverse = np.linalg.inv(np.linalg.cholesky(pseudo))
            rows = np.einsum("ai,ijk,bj->abk", inverse, change, inverse).reshape(-1, len(values)) * scale
            found += rows.T @ rows
        return found

    def at_edge(self, experiment: Experiment) -> tuple[str, ...]:
        """Descriptions of the bodies of an experiment that are almost too flat or too light to be possible."""
        found = []
        for member in self.members:
            nominal = float(self._body(self._experiment.system, member).mass)
            pseudo = np.asarray(_pseudo_inertia(self._body(experiment.system, member)))
            if pseudo[3, 3] < EDGE * nominal:
                found.append(f"'{member.name}' has a mass of {pseudo[3, 3]:.3g} kg")
            elif member.solid and (moments := _central(pseudo))[0] < EDGE * moments[-1]:
                principal = sorted(float(np.sum(moments) - moment) for moment in moments)
                listed = ", ".join(f"{moment:.4g}" for moment in principal)
                found.append(f"'{member.name}' has principal moments {listed} kg m2, the largest the sum of the others")
        return tuple(found)

    def _pseudo_inertias(self, values: Any) -> list[Any]:
        """Pseudo-inertia of each body: second moment about the origin, first moment and mass in one matrix."""
        system, _ = self._placement.insert_values(self._experiment.system, self._experiment.start, jnp.asarray(values))
        return [_pseudo_inertia(self._body(system, member)) for member in self.members]

    @staticmethod
    def _body(system: Any, member: _EstimatedBody) -> Any:
        return system.world.crafts[member.craft].bodies[member.index]


def _estimated_bodies(experiment: Experiment, parameters: Parameters) -> Any:
    count = len(jax.tree.leaves((experiment.system, experiment.start)))
    touched = {leaf for _, place in parameters.placement.places for leaf in place.leaves}
    numbers = jax.tree.unflatten(jax.tree.structure((experiment.system, experiment.start)), range(count))[0]
    world = experiment.world
    for c, (craft, own) in enumerate(zip(world.crafts, numbers.world.crafts, strict=True)):
        for b, (body, places) in enumerate(zip(craft.bodies, own.bodies, strict=True)):
            if touched & _inertial_leaves(body, places):
                yield _EstimatedBody(world.prefix(c) + body.name, c, b, _is_possible(np.asarray(_pseudo_inertia(body))))


def _inertial_leaves(body: RigidBody | ModalBody, places: Any) -> set[int]:
    fields = ("mass", "com", "inertia") if isinstance(body, RigidBody) else ("mass", "moment", "second_moment")
    return {getattr(places, field) for field in fields}


def _pseudo_inertia(body: Any) -> Any:
    if isinstance(body, ModalBody):
        mass, moment, second = body.mass, jnp.asarray(body.moment), jnp.asarray(body.second_moment)
    else:
        mass, moment = body.mass, body.mass * jnp.asarray(body.com)
        second = second_moment(jnp.asarray(body.inertia)) + jnp.outer(moment, jnp.asarray(body.com))
    return jnp.block([[second, moment[:, None]], [moment[None], jnp.asarray(mass)[None, None]]])


def _central(pseudo: np.ndarray) -> np.ndarray:
    """Principal second moments about the centre of mass, ascending [kg m2]."""
    return np.linalg.eigvalsh(pseudo[:3, :3] - np.outer(pseudo[:3, 3], pseudo[:3, 3]) / pseudo[3, 3])


def _is_possible(pseudo: np.ndarray) -> bool:
    """Whether mass, and second moments where they are given, are positive by more than rounding."""
    if not np.all(np.isfinite(pseudo)) or not pseudo[-1, -1] > 0.0:
        return False
    return len(pseudo) == 1 or bool((moments := _central(pseudo))[0] > _FLAT * moments[-1])

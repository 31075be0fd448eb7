"""A linear elastic structure in its body frame: mass points, stiffness and the places where other things attach.

Beams, plates and joined or reduced structures all are one of these; `body()` turns it into a `ModalBody`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from freefloat.flex.bending import Bending, turn_arm
from freefloat.flex.points import MassPoints, dense, drop_rounding, integrals, match_storage, rigid_points
from freefloat.flex.surface import Surface
from freefloat.flex.track import BeamTrack
from freefloat.model.modal import ModalBody, Node, modal_faults
from freefloat.spatial import Pose
from freefloat.values.errors import ModelError

Damping = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (mass matrix, stiffness) -> damping matrix
_MOST_COORDINATES = 300  # of a modal body: its pair integrals grow with the square


@dataclass(frozen=True)
class StructurePlace:
    """A named place of a structure: how it moves and turns with each coordinate."""

    name: str
    position: np.ndarray  # at rest [m]
    translation: np.ndarray  # (3, coordinates)
    rotation: np.ndarray  # (3, coordinates) [rad]
    station: float | None = None  # along a beam's axis [m]

    @property
    def motion(self) -> np.ndarray:
        """Translation over rotation, (6, coordinates)."""
        return np.vstack([self.translation, self.rotation])


@dataclass(frozen=True)
class Rider:
    """A rigid body fixed to a place: a tip mass, an instrument."""

    place: str
    mass: float  # [kg]
    com: np.ndarray  # from the place, body axes [m]
    inertia: np.ndarray  # about its centre of mass, body axes [kg m2]


@dataclass(frozen=True)
class Structure:
    """A structure with linear coordinates q; zero q is rest. Its supports are fixed in its body frame."""

    name: str
    coordinates: tuple[str, ...]
    points: MassPoints
    stiffness: Any  # dense or sparse
    places: tuple[StructurePlace, ...]
    riders: tuple[Rider, ...] = ()
    bending: Bending | None = None  # what geometric stiffening needs; beams have it
    track: BeamTrack | None = None  # for a carriage; beams may have one
    surface: Surface | None = None  # what it looks like; plates have one

    @property
    def all_points(self) -> MassPoints:
        """Mass points of the structure and of everything that rides on it."""
        parts = [self.points, *(self._rider_points(rider) for rider in self.riders)]
        if len(parts) == 1:
            return self.points
        return MassPoints(
            np.concatenate([p.mass for p in parts]),
            np.vstack([p.position for p in parts]),
            np.vstack([dense(p.shapes) for p in parts]),
        )

    def mass_matrix(self) -> Any:
        """The mass matrix of the coordinates, with the frame held."""
        matrix = self.points.mass_matrix()
        for rider in self.riders:
            matrix = matrix + match_storage(matrix, self._rider_points(rider).mass_matrix())
        return matrix

    def place(self, name: str) -> StructurePlace:
        """The place with a name."""
        for place in self.places:
            if place.name == name:
                return place
        known = ", ".join(p.name for p in self.places) or "none"
        raise ModelError(f"Structure '{self.name}' has no place '{name}'. Places: {known}.")

    def project(self, basis: np.ndarray, coordinates: tuple[str, ...]) -> Structure:
        """The structure restricted to q = basis @ new coordinates."""
        places = tuple(replace(p, translation=p.translation @ basis, rotation=p.rotation @ basis) for p in self.places)
        return replace(
            self,
            coordinates=coordinates,
            points=self.points.project(basis),
            stiffness=basis.T @ (self.stiffness @ basis),
            places=places,
            bending=self.bending.project(basis) if self.bending else None,
            track=self.track.project(basis) if self.track else None,
            surface=self.surface.project(basis) if self.surface else None,
        )

    def place_at(self, pose: Pose) -> Structure:
        """This structure in another body frame: `pose` is where its present frame sits (a root offset)."""
        R, p = np.asarray(pose.R), np.asarray(pose.p)
        places = tuple(
            replace(s, position=R @ s.position + p, translation=R @ s.translation, rotation=R @ s.rotation)
            for s in self.places
        )
        riders = tuple(replace(r, com=R @ r.com, inertia=R @ r.inertia @ R.T) for r in self.riders)
        bending = self.bending.place_at(R) if self.bending else None
        track = self.track.place_at(R, p) if self.track else None
        surface = self.surface.place_at(R, p) if self.surface else None
        moved = {"places": places, "riders": riders, "bending": bending, "track": track, "surface": surface}
        return replace(self, points=self.points.place_at(R, p), **moved)

    def with_rider(
        self, place: str, *, mass: float | int, com: Any = (0.0, 0.0, 0.0), inertia: Any = (0.0, 0.0, 0.0)
    ) -> Structure:
        """The structure with a rigid body fixed to a place; inertia about its centre of mass: moments or a matrix."""
        self.place(place)
        inertia = np.asarray(inertia, float)
        inertia = np.diag(inertia) if inertia.ndim == 1 else inertia
        rigid_points(float(mass), np.asarray(com, float), inertia)  # raises an error if it is impossible
        return replace(self, riders=(*self.riders, Rider(place, float(mass), np.asarray(com, dtype=float), inertia)))

    def with_spring(
        self, place: str, *, translation: Any = (0.0, 0.0, 0.0), rotation: Any = (0.0, 0.0, 0.0)
    ) -> Structure:
        """The structure with springs from a place to the body frame, along and about body axes [N/m, N m/rad]."""
        at = self.place(place)
        rates = np.concatenate([np.broadcast_to(translation, 3), np.broadcast_to(rotation, 3)]).astype(float)
        if np.min(rates) < 0.0:
            raise ModelError(f"A spring at place '{place}' of '{self.name}' has a negative rate. Give zero or more.")
        spring = at.motion.T @ (rates[:, None] * at.motion)
        return replace(self, stiffness=self.stiffness + match_storage(self.stiffness, spring))

    def _rider_points(self, rider: Rider) -> MassPoints:
        place = self.place(rider.place)
        masses, arms = rigid_points(rider.mass, rider.com, rider.inertia)
        shapes = [place.translation + np.cross(place.rotation.T, arm).T for arm in arms]
        return MassPoints(masses, place.position + arms, np.vstack(shapes))

    def _foreshortening(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Second-order field chi of every mass point, in the order of `all_points`, and of every place."""
        if self.bending is None or self.points.station is None:
            raise ModelError(
                f"'{self.name}' cannot have geometric stiffening: only single straight beams carry what it needs. "
                "Leave stiffening=False, or model it as a beam."
            )
        chi = [self.bending.foreshortening(self.points.station)]
        at = {p.name: self.bending.foreshortening(np.array([p.station]))[0] for p in self.places}
        for rider in self.riders:
            arms = rigid_points(rider.mass, rider.com, rider.inertia)[1]
            turns = [turn_arm(self.place(rider.place).rotation, arm) for arm in arms]
            chi.append(at[rider.place] + np.array(turns))
        return np.concatenate(chi), at

    def body(self, name: str = "", *, damping: Damping | None = None, stiffening: bool = False) -> ModalBody:
        """The flexible body of this structure with its present coordinates as modes; truncate a fine mesh first."""
        name, n = name or self.name, len(self.coordinates)
        if n > _MOST_COORDINATES:
            raise ModelError(
                f"'{name}' has {n} coordinates, more than a modal body takes ({_MOST_COORDINATES}). "
                "Reduce it first: truncate_modes(...) or craig_bampton(...)."
            )
        points = self.all_points
        sums = integrals(points)
        stiffness = dense(self.stiffness)
        size = np.sqrt(np.abs(np.diag(stiffness)))
        stiffness = drop_rounding(0.5 * (stiffness + stiffness.T), np.multiply.outer(size, size))
        _require_held(name, sums.modal_mass, stiffness)
        chi, at = self._foreshortening() if stiffening else (np.zeros((len(points.mass), 3, n, n)), {})
        flat = np.zeros((3, n, n))
        body = ModalBody(
            name=name,
            mass=sums.mass,
            moment=sums.moment,
            second_moment=sums.second_moment,
            modal_moment=sums.modal_moment,
            mixed_moment=sums.mixed_moment,
            pair_moment=sums.pair_moment,
            modal_mass=sums.modal_mass,
            stiffness=stiffness,
            damping=damping(sums.modal_mass, stiffness) if damping else np.zeros((n, n)),
            short_moment=np.einsum("k,kaij->ija", points.mass, chi, optimize=True),
            short_mixed_moment=np.einsum("k,ka,kbij->ijab", points.mass, points.position, chi, optimize=True),
            nodes=tuple(Node(p.name, p.position, p.translation, p.rotation, at.get(p.name, flat)) for p in self.places),
            rail=self.track.rail() if self.track else None,
            skin=self.surface.skin() if self.surface else None,
            mode_names=self.coordinates,
        )
        return check_modal_body(body)


def check_modal_body(body: ModalBody, source: str = "") -> ModalBody:
    """The body, or an error that lists everything impossible about its numbers."""
    if faults := modal_faults(body):
        origin = f" from {source}" if source else ""
        raise ModelError(f"Flexible body '{body.name}'{origin} cannot be: {'; '.join(faults)}. Correct its matrices.")
    return body


def _require_held(name: str, mass: np.ndarray, stiffness: np.ndarray) -> None:
    if not len(mass) or not (np.all(np.isfinite(stiffness)) and np.all(np.isfinite(mass))):
        return
    scale = np.sqrt(np.maximum(np.diag(stiffness), 1e-300))
    softest = np.linalg.eigvalsh(stiffness / np.multiply.outer(scale, scale))[0]
    if abs(softest) < 1e-12:
        raise ModelError(
            f"'{name}' can move in its body frame without strain: nothing holds it there. "
            "Clamp an end or an edge, hold it by springs, or fix a place with hold_places(...)."
        )

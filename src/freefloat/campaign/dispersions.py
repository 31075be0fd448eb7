"""Which numbers of an experiment differ from run to run, and how."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from freefloat.campaign.distributions import Distribution, distribution_of
from freefloat.campaign.errors import CampaignError
from freefloat.campaign.places import Place, Places

How = Literal["set", "add", "scale"]
_HOWS = ("set", "add", "scale")


@dataclass(frozen=True)
class Dispersion:
    """One number, or the entries of an array, with a distribution.

    What is drawn becomes the number (`set`), is added to it, or multiplies it (`scale`). `each`: every entry of an
    array has a draw of its own; where it is left out, a scale is one factor for all and anything else one for each.
    """

    path: str
    distribution: Distribution
    how: How = "set"
    each: bool | None = None

    def bind(self, places: Places) -> Bound:
        """Where it acts in an experiment."""
        place = places.find(self.path)
        _require_how(self.path, self.how, place)
        each = self.how != "scale" if self.each is None else self.each
        if place.turns and not each:
            raise CampaignError(f"'{self.path}' turns about three axes: leave each out, or name one of them.")
        count = len(place.groups) if each else 1
        names = _column_names(place) if each else (self.path,)
        groups = place.groups if each else (tuple(k for group in place.groups for k in group),)
        targets = tuple((place, group) for group in groups)
        return Bound(names, targets, self.how, lambda shares, runs: self.distribution.value(shares), count)

    def as_dict(self) -> dict[str, Any]:
        """As a file has it."""
        fields = dataclasses.fields(self.distribution)
        numbers = {f.name: getattr(self.distribution, f.name) for f in fields}
        numbers = {f.name: numbers[f.name] for f in fields if numbers[f.name] != f.default}
        own: dict[str, Any] = {"path": self.path, "distribution": self.distribution.kind, **numbers, "how": self.how}
        return own if self.each is None else own | {"each": self.each}

    @staticmethod
    def from_dict(given: Mapping[str, Any]) -> Dispersion:
        """From a file: path, distribution and its numbers, how, each."""
        rest = dict(given)
        if "path" not in rest or "distribution" not in rest:
            raise CampaignError(f"A dispersion needs path and distribution, got {', '.join(rest) or 'nothing'}.")
        path, kind = rest.pop("path"), rest.pop("distribution")
        how, each = rest.pop("how", "set"), rest.pop("each", None)
        try:
            return Dispersion(path, distribution_of(kind, rest), how, each)
        except CampaignError as error:
            raise CampaignError(f"'{path}': {error}") from None


@dataclass(frozen=True)
class Correlated:
    """Several numbers, jointly Gaussian, by their covariance; the mean is zero where none is given."""

    paths: tuple[str, ...]
    covariance: Any  # (entries, entries), in the order of the paths and of the entries of each
    mean: Any = None
    how: How = "add"

    def bind(self, places: Places) -> Bound:
        """Where it acts in an experiment."""
        found = [places.find(path) for path in self.paths]
        for place in found:
            _require_how(place.path, self.how, place)
        names = tuple(name for place in found for name in _column_names(place))
        targets = tuple((place, group) for place in found for group in place.groups)
        factor, mean = _cholesky(self, len(names)), np.zeros(len(names)) if self.mean is None else np.asarray(self.mean)
        if mean.shape != (len(names),):
            raise CampaignError(f"Correlated {', '.join(self.paths)}: mean must have {len(names)} numbers.")

        def draw(shares: np.ndarray, runs: np.ndarray) -> np.ndarray:
            from scipy.special import ndtri

            # Products of each run by itself: the last digit must not depend on how many runs are drawn together.
            return mean + np.sum(factor * ndtri(shares)[:, None, :], axis=-1)

        return Bound(names, targets, self.how, draw, len(names))

    def as_dict(self) -> dict[str, Any]:
        """As a file has it."""
        own = {"paths": list(self.paths), "covariance": np.asarray(self.covariance).tolist(), "how": self.how}
        return own if self.mean is None else own | {"mean": np.asarray(self.mean).tolist()}

    @staticmethod
    def from_dict(given: Mapping[str, Any]) -> Correlated:
        """From a file."""
        if unknown := [name for name in given if name not in ("paths", "covariance", "mean", "how")]:
            raise CampaignError(f"A correlated group has no '{unknown[0]}'. It has: paths, covariance, mean, how.")
        if "paths" not in given or "covariance" not in given:
            raise CampaignError("A correlated group needs paths and covariance.")
        return Correlated(**{**given, "paths": tuple(given["paths"])})


@dataclass(frozen=True)
class Listed:
    """Values that are given run by run, as a search or a table has them: (runs,) or (runs, entries)."""

    path: str
    values: Any
    how: How = "set"

    def bind(self, places: Places) -> Bound:
        """Where it acts in an experiment."""
        place, values = places.find(self.path), np.asarray(self.values, dtype=float)
        _require_how(self.path, self.how, place)
        rows = values.reshape(len(values), -1)
        if rows.shape[1] != len(place.groups) or not np.all(np.isfinite(rows)):
            raise CampaignError(
                f"'{self.path}' takes {len(place.groups)} finite numbers in each run, got an array of {values.shape}."
            )
        targets = tuple((place, group) for group in place.groups)

        def draw(shares: np.ndarray, runs: np.ndarray) -> np.ndarray:
            if np.max(runs, initial=0) >= len(rows):
                raise CampaignError(f"'{self.path}' lists {len(rows)} runs; run {np.max(runs)} is not among them.")
            return rows[runs]

        return Bound(_column_names(place), targets, self.how, draw, len(place.groups))

    def as_dict(self) -> dict[str, Any]:
        """As a file has it."""
        return {"path": self.path, "listed": np.asarray(self.values).tolist(), "how": self.how}

    @staticmethod
    def from_dict(given: Mapping[str, Any]) -> Listed:
        """From a file."""
        if unknown := [name for name in given if name not in ("path", "listed", "how")]:
            raise CampaignError(f"A list of values has no '{unknown[0]}'. It has: path, listed, how.")
        return Listed(given["path"], given["listed"], given.get("how", "set"))


Spread = Dispersion | Correlated | Listed


@dataclass(frozen=True)
class Bound:
    """A dispersion that knows where it acts: what its draws are called, and what each of them changes."""

    names: tuple[str, ...]
    targets: tuple[tuple[Place, tuple[int, ...]], ...]  # of each draw
    how: How
    draw: Callable[[np.ndarray, np.ndarray], np.ndarray]  # shares (runs, draws) and numbers of the runs -> draws
    count: int


def _column_names(place: Place) -> tuple[str, ...]:
    if len(place.groups) == 1:
        return (place.path,)
    return tuple(f"{place.path}.{name}" for name in place.names)


def _require_how(path: str, how: Any, place: Place) -> None:
    if how not in _HOWS:
        raise CampaignError(f"'{path}': how must be one of {', '.join(_HOWS)}, got {how!r}.")
    if place.turns and how != "add":
        raise CampaignError(f"'{path}' is turned by a rotation vector [rad] from where it is: write how = 'add'.")


def _cholesky(group: Correlated, size: int) -> np.ndarray:
    said, covariance = f"Correlated {', '.join(group.paths)}", np.asarray(group.covariance, dtype=float)
    if covariance.shape != (size, size):
        raise CampaignError(f"{said}: covariance must be {size} x {size}, got {covariance.shape}.")
    if not np.allclose(covariance, covariance.T, rtol=1e-12, atol=0.0):
        raise CampaignError(f"{said}: covariance is not symmetric.")
    values, vectors = np.linalg.eigh(covariance)
    if values[0] < -1e-12 * max(float(values[-1]), 1e-300):
        raise CampaignError(f"{said}: covariance has the negative eigenvalue {values[0]:g}: no numbers vary like that.")
    return vectors * np.sqrt(np.clip(values, 0.0, None))


def bind_all(dispersions: Sequence[Spread], places: Places) -> tuple[Bound, ...]:
    """Every dispersion where it acts; two that set the same entry are refused."""
    bound = tuple(one.bind(places) for one in dispersions)
    taken: dict[tuple[int, int, bool], str] = {}
    for one in bound:
        for name, (place, group) in zip(one.names, one.targets, strict=True):
            for entry in group:
                key = place.leaf, entry, place.turns
                if key in taken:
                    raise CampaignError(f"'{taken[key]}' and '{name}' change the same number. Keep one of them.")
                taken[key] = name
    return bound


def spread_of(given: Mapping[str, Any]) -> Spread:
    """A dispersion of any kind from a file."""
    if "paths" in given:
        return Correlated.from_dict(given)
    return Listed.from_dict(given) if "listed" in given else Dispersion.from_dict(given)

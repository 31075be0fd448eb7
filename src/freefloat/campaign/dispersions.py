"""Dispersions: which numbers of an experiment differ from run to run, and how."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from freefloat.campaign.distributions import Distribution, distribution_of
from freefloat.campaign.errors import CampaignError, require_known
from freefloat.campaign.places import NumberCatalogue, NumberLocation

How = Literal["set", "add", "scale"]
_HOWS = ("set", "add", "scale")


@dataclass(frozen=True)
class Dispersion:
    """One number, or the entries of an array, with a distribution.

    The draw replaces the number (`set`), is added to it (`add`), or multiplies it (`scale`). `each`: every entry of an
    array has its own draw; by default a scale is one factor for all entries, and anything else one draw for each.
    """

    path: str
    distribution: Distribution
    how: How = "set"
    each: bool | None = None

    def bind(self, places: NumberCatalogue) -> BoundDispersion:
        """The dispersion with the numbers of an experiment that it changes."""
        place = places.find(self.path)
        _require_how(self.path, self.how, place)
        each = self.how != "scale" if self.each is None else self.each
        if place.turns and not each:
            raise CampaignError(f"'{self.path}' turns about three axes: leave each out, or name one of them.")
        count = len(place.groups) if each else 1
        names = _column_names(place) if each else (self.path,)
        groups = place.groups if each else (tuple(k for group in place.groups for k in group),)
        targets = tuple((place, group) for group in groups)
        return BoundDispersion(names, targets, self.how, lambda shares, runs: self.distribution.value(shares), count)

    def as_dict(self) -> dict[str, Any]:
        """The dispersion as plain data, as a campaign file contains it."""
        fields = dataclasses.fields(self.distribution)
        numbers = {f.name: getattr(self.distribution, f.name) for f in fields}
        numbers = {f.name: numbers[f.name] for f in fields if numbers[f.name] != f.default}
        own: dict[str, Any] = {"path": self.path, "distribution": self.distribution.kind, **numbers, "how": self.how}
        return own if self.each is None else own | {"each": self.each}

    @staticmethod
    def from_dict(given: Mapping[str, Any]) -> Dispersion:
        """Read a dispersion from a file: path, distribution and its numbers, how, each."""
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
class CorrelatedDispersion:
    """Several jointly Gaussian numbers with their covariance; the mean is zero by default."""

    paths: tuple[str, ...]
    covariance: Any  # (entries, entries), in the order of the paths and of the entries of each
    mean: Any = None
    how: How = "add"

    def bind(self, places: NumberCatalogue) -> BoundDispersion:
        """The dispersion with the numbers of an experiment that it changes."""
        located = [places.find(path) for path in self.paths]
        for place in located:
            _require_how(place.path, self.how, place)
        names = tuple(name for place in located for name in _column_names(place))
        targets = tuple((place, group) for place in located for group in place.groups)
        factor, mean = _cholesky(self, len(names)), np.zeros(len(names)) if self.mean is None else np.asarray(self.mean)
        if mean.shape != (len(names),):
            raise CampaignError(f"Correlated {', '.join(self.paths)}: mean must have {len(names)} numbers.")

        def draw(shares: np.ndarray, runs: np.ndarray) -> np.ndarray:
            from scipy.special import ndtri

            # Products of each run by itself: the last digit must not depend on how many runs are drawn together.
            return mean + np.sum(factor * ndtri(shares)[:, None, :], axis=-1)

        return BoundDispersion(names, targets, self.how, draw, len(names))

    def as_dict(self) -> dict[str, Any]:
        """The dispersion as plain data, as a campaign file contains it."""
        own = {"paths": list(self.paths), "covariance": np.asarray(self.covariance).tolist(), "how": self.how}
        return own if self.mean is None else own | {"mean": np.asarray(self.mean).tolist()}

    @staticmethod
    def from_dict(given: Mapping[str, Any]) -> CorrelatedDispersion:
        """Read a correlated group from a file."""
        require_known("A correlated group", given, ("paths", "covariance", "mean", "how"))
        if "paths" not in given or "covariance" not in given:
            raise CampaignError("A correlated group needs paths and covariance.")
        return CorrelatedDispersion(**{**given, "paths": tuple(given["paths"])})


@dataclass(frozen=True)
class ListedDispersion:
    """Values listed run by run, such as those of a search or a table: (runs,) or (runs, entries)."""

    path: str
    values: Any
    how: How = "set"

    def bind(self, places: NumberCatalogue) -> BoundDispersion:
        """The dispersion with the numbers of an experiment that it changes."""
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

        return BoundDispersion(_column_names(place), targets, self.how, draw, len(place.groups))

    def as_dict(self) -> dict[str, Any]:
        """The dispersion as plain data, as a campaign file contains it."""
        return {"path": self.path, "listed": np.asarray(self.values).tolist(), "how": self.how}

    @staticmethod
    def from_dict(given: Mapping[str, Any]) -> ListedDispersion:
        """Read a list of values from a file."""
        require_known("A list of values", given, ("path", "listed", "how"))
        return ListedDispersion(given["path"], given["listed"], given.get("how", "set"))


AnyDispersion = Dispersion | CorrelatedDispersion | ListedDispersion


@dataclass(frozen=True)
class BoundDispersion:
    """A dispersion in an experiment: the names of its draws, and the entries that each draw changes."""

    names: tuple[str, ...]
    targets: tuple[tuple[NumberLocation, tuple[int, ...]], ...]  # of each draw
    how: How
    draw: Callable[[np.ndarray, np.ndarray], np.ndarray]  # shares (runs, draws) and numbers of the runs -> draws
    count: int


def _column_names(place: NumberLocation) -> tuple[str, ...]:
    if len(place.groups) == 1:
        return (place.path,)
    return tuple(f"{place.path}.{name}" for name in place.names)


def _require_how(path: str, how: Any, place: NumberLocation) -> None:
    if how not in _HOWS:
        raise CampaignError(f"'{path}': how must be one of {', '.join(_HOWS)}, got {how!r}.")
    if place.turns and how != "add":
        raise CampaignError(f"'{path}' is turned by a rotation vector [rad] from where it is: write how = 'add'.")


def _cholesky(group: CorrelatedDispersion, size: int) -> np.ndarray:
    name, covariance = f"Correlated {', '.join(group.paths)}", np.asarray(group.covariance, dtype=float)
    if covariance.shape != (size, size):
        raise CampaignError(f"{name}: covariance must be {size} x {size}, got {covariance.shape}.")
    if not np.allclose(covariance, covariance.T, rtol=1e-12, atol=0.0):
        raise CampaignError(f"{name}: covariance is not symmetric.")
    values, vectors = np.linalg.eigh(covariance)
    if values[0] < -1e-12 * max(float(values[-1]), 1e-300):
        raise CampaignError(f"{name}: covariance has the negative eigenvalue {values[0]:g}: no numbers vary like that.")
    return vectors * np.sqrt(np.clip(values, 0.0, None))


def bind_all(dispersions: Sequence[AnyDispersion], places: NumberCatalogue) -> tuple[BoundDispersion, ...]:
    """Every dispersion with the entries that it changes; two that change the same entry raise an error."""
    bound = tuple(spread.bind(places) for spread in dispersions)
    taken: dict[tuple[int, int, bool], str] = {}
    for spread in bound:
        for name, (place, group) in zip(spread.names, spread.targets, strict=True):
            for entry in group:
                key = place.leaf, entry, place.turns
                if key in taken:
                    raise CampaignError(f"'{taken[key]}' and '{name}' change the same number. Keep one of them.")
                taken[key] = name
    return bound


def dispersion_from_dict(given: Mapping[str, Any]) -> AnyDispersion:
    """Read a dispersion of any kind from a file."""
    if "paths" in given:
        return CorrelatedDispersion.from_dict(given)
    return ListedDispersion.from_dict(given) if "listed" in given else Dispersion.from_dict(given)

"""Parameters from measured channels: weighted least squares with exact derivatives, and what stays undetermined."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from freefloat.analysis.identification.fit_quality import judge_fit
from freefloat.analysis.identification.identifiability import find_unidentifiable
from freefloat.analysis.identification.levenberg_marquardt import LARGEST, Decomposition, Minimum, minimise
from freefloat.analysis.identification.measured_data import Data, MeasuredChannel, require_measured, require_noise
from freefloat.analysis.identification.parameters import Parameters
from freefloat.analysis.identification.possible_bodies import PossibleBodies
from freefloat.analysis.identification.result import CovarianceSource, Fit, Identification, IdentificationError
from freefloat.analysis.identification.sensitivities import Sensitivities
from freefloat.model.craft_checks import require_possible_craft
from freefloat.sim.experiment import Experiment, require_choice
from freefloat.values.checks import require_number
from freefloat.values.errors import ModelError

Prior = Mapping[str, float] | float | None
_REMEDY_IMPOSSIBLE = (
    "The data ask for what no body is: give noise that is not too small, a prior, more or livelier data, or look for "
    "what the experiment leaves out. The best point is in the exception's .best."
)
_REMEDY_SEARCH = (
    "Begin nearer, estimate fewer parameters, or give a prior; simulate the experiment and compare it with the data. "
    "The best point is in the exception's .best; its numbers are no estimates."
)
_IMPROBABLE = 1e-6  # of residuals: model or noise are wrong, not unlucky
_STAGES = (0.125, 0.25, 0.5, 1.0)  # of the data
_BY_PRIOR = 0.9  # of the prior's deviation: the data have added next to nothing


def identify(
    experiment: Experiment,
    data: Data,
    parameters: Sequence[str],
    *,
    noise: Mapping[str, Any],
    prior: Prior = None,
    covariance_from: CovarianceSource = "noise",
) -> Identification:
    """Estimate parameters of an experiment from what was measured in a run of it.

    `parameters`: dotted paths (`base.mass`, `elbow.damping`, `Gyro.bias`), one entry of an array (`base.com.x`,
    `arm.2.inertia.xy`), the ten inertial numbers of a body (`payload.inertial`), modes of a flexible one
    (`panel.frequencies`, `panel.damping_ratios`), speeds at the start (`start.base.rate`). `noise`: one sigma of each
    channel to be used, white in time. `prior`: one sigma of parameters about the experiment's own values, or of all of
    them as a share of their size. The experiment defines the commands, and records at the instants of the data.

    A search that does not end at a minimum, or ends at a body that cannot exist, raises `IdentificationError` with the
    best point in `.best`.
    """
    return Identifier(experiment, parameters, require_noise(data, noise)).fit(
        data, noise=noise, prior=prior, covariance_from=covariance_from
    )


class Identifier:
    """An experiment with its parameters and measured channels, compiled once for many sets of data."""

    def __init__(self, experiment: Experiment, parameters: Sequence[str], channels: Sequence[str]) -> None:
        self.sensitivities = Sensitivities(experiment, parameters, channels)
        self.experiment, self.parameters = experiment, self.sensitivities.parameters

    def fit(
        self, data: Data, *, noise: Mapping[str, Any], prior: Prior = None, covariance_from: CovarianceSource = "noise"
    ) -> Identification:
        """Estimates from one set of data."""
        require_choice("covariance_from", covariance_from, ("noise", "residuals"))
        if tuple(require_noise(data, noise)) != self.sensitivities.channels:
            raise ModelError(f"noise must be of the channels {', '.join(self.sensitivities.channels)}.")
        measured = require_measured(data, noise, self.sensitivities.time, self.sensitivities.shapes)
        problem = _Problem(self, measured, _prior_rows(self.parameters, prior))
        best = problem.judge(problem.search(), covariance_from)
        if objections := problem.objections(best):
            raise IdentificationError(" ".join(objections), best)
        return best


class _Problem:
    """The least-squares problem of one set of data."""

    def __init__(self, owner: Identifier, measured: tuple[MeasuredChannel, ...], prior: np.ndarray) -> None:
        self.owner, self.measured, self.prior = owner, measured, prior
        self.parameters = owner.parameters
        self.bodies = PossibleBodies(owner.experiment, owner.parameters)

    def metric(self, z: np.ndarray) -> np.ndarray | None:
        """Matrix that measures changes of scaled parameters near impossible bodies; None at an impossible body."""
        scale = self.parameters.scale
        return self.bodies.metric(self.parameters.nominal + scale * z, scale)

    def objections(self, best: Identification) -> tuple[str, ...]:
        """Reasons why the best point is not accepted, each with a remedy; empty if it is accepted."""
        impossible = _impossible_crafts(best.experiment)
        if best.converged:
            return tuple(f"{reason} {_REMEDY_IMPOSSIBLE}" for reason in impossible)
        ended = f"The fit did not converge in {best.iterations} iterations"
        if edge := self.bodies.at_edge(best.experiment):
            return (f"{ended}: it ended at the edge of possible bodies, where {'; '.join(edge)}. {_REMEDY_IMPOSSIBLE}",)
        return f"{ended}. {_REMEDY_SEARCH}", *impossible

    def search(self) -> Minimum:
        """Minimum near the nominal parameters, or else the minimum reached by fitting a growing share of the data.

        A phase error of more than half a turn misleads the search; early in the data it is still small.
        """
        z, metric = np.zeros(len(self.parameters.names)), self.metric
        found = minimise(self.evaluate, z, metric)
        if found.converged and self._fit(found).probability > _IMPROBABLE:
            return found
        stage, iterations = found, found.iterations
        for share in _STAGES:
            stage = minimise(partial(self.evaluate, share=share), z, metric)
            z, iterations = stage.z, iterations + stage.iterations
        best = min((found, stage), key=lambda end: (not end.converged, float(end.residuals @ end.residuals)))
        return dataclasses.replace(best, iterations=iterations)

    def evaluate(self, z: np.ndarray, share: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """Residuals and slopes at scaled parameters, the prior's last; only the first `share` of the data counts."""
        values = self.parameters.nominal + self.parameters.scale * z
        predicted, changes = self.owner.sensitivities(values)
        residuals, slopes = [], []
        with np.errstate(over="ignore", invalid="ignore"):  # a step too far may diverge; it is not taken then
            for channel, seen, change in zip(self.measured, predicted, changes, strict=True):
                residuals.append(channel.residuals(seen).ravel())
                slopes.append(np.stack([channel.slopes(seen, column).ravel() for column in change], axis=1))
        used = np.concatenate([_first_rows(channel, share) for channel in self.measured])
        rows = np.where(used[:, None], np.vstack(slopes) * self.parameters.scale, 0.0)
        found = np.where(used, np.concatenate(residuals), 0.0)
        return np.concatenate([found, -self.prior @ z]), np.vstack([rows, self.prior])

    def judge(self, found: Minimum, covariance_from: CovarianceSource) -> Identification:
        """Identification at a minimum: estimates, covariance, quality of the fit and notes."""
        parameters, scale = self.parameters, self.parameters.scale
        values, parts = parameters.nominal + scale * found.z, Decomposition.of(found.slopes)
        fit = self._fit(found)
        factor = fit.reduced_chi_square if covariance_from == "residuals" else 1.0
        covariance = factor * parts.covariance()
        relative = np.sqrt(np.diag(covariance))
        known = relative <= LARGEST
        return Identification(
            names=parameters.names,
            units=parameters.units,
            values=np.where(known, values, np.nan),
            deviations=np.where(known, scale * relative, np.inf),
            covariance=covariance * np.outer(scale, scale),
            covariance_from=covariance_from,
            nominal=parameters.nominal,
            scale=scale,
            singular_values=parts.values,
            untold=find_unidentifiable(parts, parameters.names, parameters.units, values, scale),
            shares=self._information_shares(found.slopes),
            fit=fit,
            experiment=self._estimated_experiment(values),
            iterations=found.iterations,
            converged=found.converged,
            notes=(*self._prior_notes(relative), *_poor_fit_notes(fit)),
        )

    def _fit(self, found: Minimum) -> Fit:
        parts = Decomposition.of(found.slopes)
        shaped = {channel.name: found.residuals[rows].reshape(-1, len(channel.noise)) for channel, rows in self._rows()}
        # Without the share of the prior.
        fitted = np.sum(parts.left[: len(found.residuals) - len(self.prior), parts.identifiable] ** 2)
        return judge_fit(shaped, round(float(fitted)))

    def _rows(self) -> Iterator[tuple[MeasuredChannel, slice]]:
        """Each channel with its rows in the residuals."""
        first = 0
        for channel in self.measured:
            size = len(channel.values) * len(channel.noise)
            yield channel, slice(first, first + size)
            first += size

    def _information_shares(self, slopes: np.ndarray) -> dict[str, np.ndarray]:
        """Share of each channel in the information about each parameter, all other parameters known."""
        total = np.maximum(np.sum(slopes**2, axis=0), 1e-300)
        found = {channel.name: np.sum(slopes[rows] ** 2, axis=0) / total for channel, rows in self._rows()}
        return found | ({"prior": np.sum(self.prior**2, axis=0) / total} if self.prior.size else {})

    def _prior_notes(self, relative: np.ndarray) -> list[str]:
        weights = np.max(self.prior, axis=0, initial=0.0)
        return [
            f"{name} is as the prior has it: the data add next to nothing."
            for name, deviation, weight in zip(self.parameters.names, relative, weights, strict=True)
            if weight > 0.0 and deviation * weight > _BY_PRIOR
        ]

    def _estimated_experiment(self, values: np.ndarray) -> Experiment:
        experiment = self.owner.experiment
        system, start = self.parameters.placement.insert_values(experiment.system, experiment.start, np.asarray(values))
        system, start = jax.tree.map(lambda x: np.asarray(x) if isinstance(x, jax.Array) else x, (system, start))
        return dataclasses.replace(experiment, system=system, start=start)


def _first_rows(channel: MeasuredChannel, share: float) -> np.ndarray:
    """Mask of the residuals of a channel that belong to the first `share` of its instants."""
    instants = len(channel.values)
    return np.repeat(np.arange(instants) < share * instants, len(channel.noise))


def _prior_rows(parameters: Parameters, prior: Prior) -> np.ndarray:
    """One row for each parameter with a prior: scaled parameters in units of its deviation."""
    if prior is None:
        return np.zeros((0, len(parameters.names)))
    if not isinstance(prior, Mapping):
        share = require_number("prior, a share of each parameter's size,", prior, "", above=0.0)
        return np.eye(len(parameters.names)) / share
    rows = []
    for name, sigma in prior.items():
        meant = [k for k, own in enumerate(parameters.names) if own == name or own.startswith(f"{name}.")]
        for group in parameters.groups:
            meant = [parameters.names.index(own) for own in group.names] if group.path == name else meant
        if not meant:
            raise ModelError(f"prior: '{name}' is not estimated. Parameters: {', '.join(parameters.names)}.")
        sigma = require_number(f"The prior of '{name}', its standard deviation,", sigma, "", above=0.0)
        rows += [np.eye(len(parameters.names))[k] * parameters.scale[k] / sigma for k in meant]
    return np.array(rows).reshape(-1, len(parameters.names))


def _impossible_crafts(experiment: Experiment) -> list[str]:
    """Error texts of spacecraft that are not physically possible with these estimates."""
    found = []
    for craft in experiment.world.crafts:
        try:
            require_possible_craft(craft)
        except ModelError as error:
            found.append(f"The estimates are not those of a possible body. {error}")
    return found


def _poor_fit_notes(fit: Fit) -> list[str]:
    """Note about residuals that the noise cannot explain; empty if it can."""
    if fit.probability > _IMPROBABLE:
        return []
    return [
        "The residuals are larger than the noise explains: the model misses something, the noise is larger, or the "
        "search ended at another minimum. Begin elsewhere and compare."
    ]

"""Which samples of a channel are valid: a measurement or an estimate may have no value yet, and a plot leaves a gap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from freefloat.values.channels import NOT_SEEN_YET

if TYPE_CHECKING:
    from freefloat.sim import Run
    from freefloat.values.labelled import LabelledArray

_VALID, _CONDITION = "valid", "condition"  # of the channels that say so for those with the same prefix


def valid_samples(run: Run, name: str) -> np.ndarray:
    """Whether each sample of a channel is valid: (samples,) booleans.

    `camera.valid` is 0 where `camera.position` and its like are not valid, as for messages. The flag `target.condition`
    says where `target.position_error` and its like have no value yet. Flags themselves are always valid.
    """
    array = run.recorded[name]
    valid = np.ones(array.shape[0], dtype=bool)
    if "flags" in array.attrs or name.rpartition(".")[2] == _VALID:
        return valid
    owner = name.rpartition(".")[0]
    for samples in (_valid_by_flag(run, f"{owner}.{_VALID}"), _seen_by_condition(run, f"{owner}.{_CONDITION}")):
        if samples is not None and samples.shape == valid.shape:
            valid &= samples
    return valid


def _valid_by_flag(run: Run, name: str) -> np.ndarray | None:
    """Where a channel of ones and zeros is not zero; None if there is no such channel."""
    array = _scalar_channel(run, name)
    return None if array is None else np.asarray(array.values) != 0


def _seen_by_condition(run: Run, name: str) -> np.ndarray | None:
    """Where a flag is not the one for 'no value yet'; None if there is no channel with this flag."""
    array = _scalar_channel(run, name)
    meanings = [] if array is None else [str(meaning) for meaning in np.atleast_1d(array.attrs.get("flags", ()))]
    if array is None or NOT_SEEN_YET not in meanings:
        return None
    return np.rint(np.asarray(array.values, dtype=float)) != meanings.index(NOT_SEEN_YET)


def _scalar_channel(run: Run, name: str) -> LabelledArray | None:
    """A channel with one number at every record; None if there is no such channel."""
    if name not in run.recorded or run.recorded[name].dims != ("time",):
        return None
    array = run.recorded[name]
    return array if array.dtype.kind in "bfiu" else None

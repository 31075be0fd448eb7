"""Errors about what a caller gives: one for the description of a spacecraft, one for on-board software."""

from collections.abc import Iterable, Sequence

from freefloat.values.suggestions import did_you_mean


class _Objection(ValueError):
    """Base class of errors about an input that the caller must change."""

    @classmethod
    def from_several(cls, errors: Sequence[ValueError]) -> ValueError:
        """One error with the messages of several, one per line."""
        return cls("\n".join(map(str, errors)))


class ModelError(_Objection):
    """Error about a spacecraft, or its file, that cannot exist: the message names the part and the remedy."""


class SoftwareError(_Objection):
    """Error about software that cannot act: the message names its class, its method and the remedy."""


def unknown_name(owner: str, kind: str, name: str, known: Iterable[str]) -> ModelError:
    """Error for an unknown name: `Spacecraft 'ets7' has no frame 'hnd'. Frames: base, hand. Did you mean 'hand'?`"""
    names = tuple(known)
    listed, meant = ", ".join(names) or "none", did_you_mean(name, names)
    plural = kind.removesuffix("y") + "ies" if kind.endswith("y") else kind + "s"
    return ModelError(f"Spacecraft '{owner}' has no {kind} '{name}'. {plural.capitalize()}: {listed}.{meant}")


def require_name(what: str, name: object) -> None:
    """Raise an error unless a name is a text that can be used as a name."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"{what} needs a name that is text, got {name!r}.")
    if fault := name_fault(name):
        raise ModelError(f"{what} cannot be called {name!r:.80}: {fault}. Choose another name.")


def name_fault(name: str) -> str:
    """Why a name cannot stand in a file of channels, where it is part of a path; an empty text if it can."""
    if "/" in name:
        return "a slash separates folders in the files that runs are kept in"
    return "" if name.isprintable() and name != "." else "it has signs that cannot be printed"

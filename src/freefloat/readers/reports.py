"""What a reader tells: a refusal with all faults, or a spacecraft and one warning with what was unusual."""

import warnings

from freefloat.model.spacecraft import Spacecraft
from freefloat.readers.findings import Finding, Findings, summary_lines
from freefloat.values.errors import ModelError


class ReadingNote(UserWarning):
    """What was unusual about a file that was read, and every number that was repaired."""


def hand_over(craft: Spacecraft | None, language: str, label: str, findings: Findings) -> Spacecraft:
    """The spacecraft, after the remarks were told; without one, a ModelError with every fault."""
    if craft is None:
        raise ModelError(_refusal(language, label, findings.errors))
    told = [finding for finding in findings.sorted if finding.severity in ("repair", "note")]
    if told:
        lines = [f"  {severity}: {line}" for severity, line in summary_lines(told)]
        text = "\n".join([f"{language} '{label}' is read, with these remarks:", *lines])
        warnings.warn(text, ReadingNote, stacklevel=4)
    return craft


def _refusal(language: str, label: str, errors: list[Finding]) -> str:
    start = f"{language} '{label}': "
    if len(errors) == 1:
        return start + str(errors[0])
    text = start + f"{len(errors)} faults:\n" + "\n".join(f"  {fault}" for fault in errors)
    reader = f"read_{language.lower()}"
    return text + f"\n{reader}(..., repair=True) removes all of them." * all(fault.repairable for fault in errors)

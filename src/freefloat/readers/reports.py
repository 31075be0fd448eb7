"""Result of a reader: an error with all faults, or a spacecraft and one warning with all remarks."""

import warnings

from freefloat.model.spacecraft import Spacecraft
from freefloat.readers.findings import Finding, Findings, summary_lines
from freefloat.values.errors import ModelError


class ReadingNote(UserWarning):
    """Warning that lists unusual contents of a file that was read, and every number that was repaired."""


def report_findings(craft: Spacecraft | None, language: str, label: str, findings: Findings) -> Spacecraft:
    """The spacecraft, after a warning with all remarks; without a spacecraft raises a ModelError with all faults."""
    if craft is None:
        raise ModelError(_error_text(language, label, findings.errors))
    remarks = [finding for finding in findings.by_importance if finding.severity in ("repair", "note")]
    if remarks:
        lines = [f"  {severity}: {line}" for severity, line in summary_lines(remarks)]
        text = "\n".join([f"{language} '{label}' is read, with these remarks:", *lines])
        warnings.warn(text, ReadingNote, stacklevel=4)
    return craft


def _error_text(language: str, label: str, errors: list[Finding]) -> str:
    start = f"{language} '{label}': "
    if len(errors) == 1:
        return start + str(errors[0])
    text = start + f"{len(errors)} faults:\n" + "\n".join(f"  {fault}" for fault in errors)
    reader = f"read_{language.lower()}"
    return text + f"\n{reader}(..., repair=True) removes all of them." * all(fault.repairable for fault in errors)

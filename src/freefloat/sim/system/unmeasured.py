"""What software reads and no sensor measures, in one sentence for each piece of software, with what to do."""

from __future__ import annotations

from collections.abc import Iterable

from freefloat.sim.system.system import System

_MODAL = (".modes", ".modal_rates")


def unmeasured(system: System, k: int, names: Iterable[str]) -> str:
    """Everything that software number k reads and nobody measures, what is measured, and the remedy."""
    names, law = sorted(names), system.software[k]
    own = system.on(law)
    given = sorted({n for s in system.wiring.sensors if s.craft == own for n in s.gives})
    given += [n for part in system.ideal if system.on(part) == own for n in part.names]
    listed = ", ".join(f"'{name}'" for name in names)
    return (
        f"{law.title} reads {listed}, which no sensor of '{system.world.names[own]}' measures. "
        f"Measured: {', '.join(given) or 'nothing'}. {_remedy(names)}"
    )


def _remedy(names: list[str]) -> str:
    plain, found = [name for name in names if not name.endswith(_MODAL)], []
    if len(plain) < len(names):
        found.append(
            "Nobody measures modal coordinates: give the software a rigid model of the spacecraft, craft.rigid(), in "
            "place of the flexible one."
        )
    if plain:
        found.append(f"Add a sensor for {'it' if len(plain) == 1 else 'them'}, or ff.sensors.Ideal() for the truth.")
    return " ".join(found)

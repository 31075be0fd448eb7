"""Message about quantities that software reads and no sensor measures, with the remedy."""

from __future__ import annotations

from collections.abc import Iterable

from freefloat.sim.system.system import System

_MODAL = (".modes", ".modal_rates")


def unmeasured_message(system: System, k: int, names: Iterable[str]) -> str:
    """Error message for names that software number k reads and no sensor measures, with what is measured instead."""
    names, software = sorted(names), system.software[k]
    own = system.craft_index(software)
    given = sorted({n for s in system.wiring.sensors if s.craft == own for n in s.gives})
    given += [n for part in system.ideal if system.craft_index(part) == own for n in part.names]
    listed = ", ".join(f"'{name}'" for name in names)
    return (
        f"{software.title} reads {listed}, which no sensor of '{system.world.names[own]}' measures. "
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

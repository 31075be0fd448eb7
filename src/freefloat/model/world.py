"""The world: named spacecraft that share one run. A target is a spacecraft like any other."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from freefloat.model.spacecraft import Spacecraft
from freefloat.model.state import State
from freefloat.values import record, static
from freefloat.values.arrays import Scalar
from freefloat.values.checks import set_fields
from freefloat.values.errors import ModelError

_TAKEN = ("base", "bodies", "com", "command", "energy", "impulse", "joints", "momentum", "state", "wheels", "world")


@record
class World:
    """Spacecraft by name: `World(servicer=chaser, client=envisat)`.

    Frames and channels are called `client.ring`; where there is one spacecraft the prefix is left out.
    """

    names: tuple[str, ...] = static()
    crafts: tuple[Spacecraft, ...]
    held: tuple[str, ...] = static(default=())  # spacecraft whose base a test stand holds still

    def __init__(self, **spacecraft: Spacecraft) -> None:
        if not spacecraft:
            raise ModelError("A world needs at least one spacecraft: World(servicer=craft).")
        for name, craft in spacecraft.items():
            if not isinstance(craft, Spacecraft):
                raise ModelError(f"World: '{name}' must be a Spacecraft, got {craft!r}.")
            if name in _TAKEN or not name.isidentifier():
                raise ModelError(
                    f"World: a spacecraft cannot be called '{name}': names are words, and not those of channels. "
                    "Choose another name."
                )
        for name in spacecraft:
            if owners := [
                o for o, craft in spacecraft.items() if name in {f.partition(".")[0] for f in craft.frame_names}
            ]:
                raise ModelError(
                    f"World: '{owners[0]}' has a frame or body that is called like the spacecraft '{name}', so "
                    f"'{name}.position' could be either. Choose another name."
                )
        set_fields(self, names=tuple(spacecraft), crafts=tuple(spacecraft.values()), held=())

    @staticmethod
    def of(craft: Spacecraft | World) -> World:
        """The world in which a spacecraft is alone."""
        if isinstance(craft, World):
            return craft
        if not isinstance(craft, Spacecraft):
            raise ModelError(f"A Spacecraft or a World is needed, got {craft!r}.")
        world = World(alone=craft)
        set_fields(world, names=(craft.name,))
        return world

    def hold_base(self, name: str = "") -> World:
        """The same world with the base of a spacecraft held still, as on a test stand."""
        known = self.names[self.index(name)]
        world = object.__new__(World)
        set_fields(world, names=self.names, crafts=self.crafts, held=tuple(dict.fromkeys((*self.held, known))))
        return world

    # ---- names

    @property
    def single(self) -> bool:
        """True where there is one spacecraft, whose name need not be said."""
        return len(self.names) == 1

    def index(self, name: str = "") -> int:
        """Number of a spacecraft; the empty name is the only one's."""
        if not name and self.single:
            return 0
        if name not in self.names:
            said = f"no spacecraft '{name}'" if name else "several spacecraft: say which one with on=..."
            raise ModelError(f"The world has {said}. Spacecraft: {', '.join(self.names)}.")
        return self.names.index(name)

    def craft(self, name: str = "") -> Spacecraft:
        """The spacecraft of that name."""
        return self.crafts[self.index(name)]

    def prefix(self, index: int) -> str:
        """What the names of a spacecraft's frames and channels begin with."""
        return "" if self.single else f"{self.names[index]}."

    def is_held(self, index: int) -> bool:
        """True if a test stand holds the base of that spacecraft."""
        return self.names[index] in self.held

    def locate(self, name: str, own: int = 0) -> tuple[int, str]:
        """Spacecraft and name in it of what is called `client.ring`; without a prefix it belongs to `own`."""
        first, _, rest = name.partition(".")
        return (self.names.index(first), rest) if rest and first in self.names and not self.single else (own, name)

    # ---- states

    @property
    def mass(self) -> Scalar | float:
        """Of all spacecraft together [kg]."""
        return sum(craft.mass for craft in self.crafts)

    def require_states(self, states: Iterable[State]) -> tuple[State, ...]:
        """One sound state for each spacecraft."""
        given = tuple(states)
        if len(given) != len(self.crafts):
            raise ModelError(
                f"The world has {len(self.crafts)} spacecraft ({', '.join(self.names)}), got {len(given)}."
            )
        return tuple(craft.require_state(state) for craft, state in zip(self.crafts, given, strict=True))

    def at_rest(self) -> tuple[State, ...]:
        """Every spacecraft at the inertial origin, nothing moving."""
        return tuple(craft.at_rest(np.zeros(craft.layout.nq)) for craft in self.crafts)

"""Latches and brakes: what they are told to do at a tick. The impact that follows is in `sim.events`."""

from __future__ import annotations

from freefloat.model import Actuator, Clock, Command, CommandPort, PortCommands, Spacecraft, Switches
from freefloat.model.world import World
from freefloat.values import ModelError, record, static

LATCH, RELEASE, BRAKE = "latch", "release", "brake"


@record
class Latches(Actuator):
    """Latches of all connections of the world; software on any spacecraft may command them."""

    connections: tuple[str, ...] = static(default=())

    def accepts(self, craft: Spacecraft) -> tuple[CommandPort, ...]:
        """The ports for latching and releasing: above zero asks for it."""
        return tuple(CommandPort(name, "1", self.connections, noun="connection") for name in (LATCH, RELEASE))

    def check_command(self, craft: Spacecraft, port: CommandPort, command: Command) -> None:
        """Raise an error for a connection that the world does not have."""
        for name in command.parts:
            if name not in self.connections:
                raise ModelError(
                    f"The world has no connection '{name}'. Connections: {', '.join(self.connections) or 'none'}. Make "
                    f"it: world.connection('{name}', ...)."
                )

    def switches(self, u: PortCommands, clock: Clock) -> Switches:
        """Connections that are latched and released."""
        latch, release = (
            {part: u.commanded_numbers(port)[place] > 0 for place, part in enumerate(u.commanded_parts(port))}
            for port in (LATCH, RELEASE)
        )
        return Switches(latch=latch, release=release)


@record
class Brakes(Actuator):
    """Brakes of joints of a spacecraft."""

    joints: tuple[str, ...] = static(default=())

    def accepts(self, craft: Spacecraft) -> tuple[CommandPort, ...]:
        """The port of the brakes: 1 holds, 0 lets go. Of several commands for one brake, one that holds is enough."""
        return (CommandPort(BRAKE, "1", self.joints, noun="brake"),)

    def check_command(self, craft: Spacecraft, port: CommandPort, command: Command) -> None:
        """Raise an error for a joint that has no brake."""
        for joint in command.parts:
            if joint not in self.joints:
                raise ModelError(
                    f"Joint '{joint}' of spacecraft '{craft.name}' has no brake. Brakes: "
                    f"{', '.join(self.joints) or 'none'}. Give it one: world.brake('{joint}')."
                )

    def switches(self, u: PortCommands, clock: Clock) -> Switches:
        """Joints that are braked and let go."""
        numbers = dict(zip(u.commanded_parts(BRAKE), u.commanded_numbers(BRAKE), strict=True))
        return Switches(
            brake={joint: number > 0.5 for joint, number in numbers.items()},
            free={joint: number <= 0.5 for joint, number in numbers.items()},
        )


def switches_of(world: World, c: int) -> tuple[Latches, Brakes]:
    """The latches and brakes that software on spacecraft number c may command."""
    brakes = tuple(brake.joint for brake in world.brakes if brake.craft == world.names[c])
    return Latches(tuple(connection.name for connection in world.connections)), Brakes(brakes)

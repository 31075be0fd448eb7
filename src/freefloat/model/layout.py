"""Places of all names in the coordinate vectors q and v."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from freefloat.model.modal import ModalBody
from freefloat.model.parts import Joint, RigidBody, Wheel, motor_name
from freefloat.values.errors import ModelError, unknown_name


@dataclass(frozen=True)
class Layout:
    """Slices of q (joint positions, modes) and v (base twist, joint rates, modal rates, wheel speeds), in tree order.

    The modes of a flexible body `panel` are called `panel.modes`, the motor of a flexible joint `elbow` is called
    `elbow.motor` and comes right after the joint. A wheel's speed comes right after the body that
    carries it; its angle is not a coordinate. Fixed joints, and joints that follow others, have an empty slice.
    """

    owner: str
    positions: dict[str, slice]  # joints and modes -> slice of q
    velocities: dict[str, slice]  # "base", joints, modes and wheels -> slice of v
    joints: tuple[str, ...]
    revolute: tuple[str, ...]  # those of the joints that turn
    wheels: tuple[str, ...]
    leaders: dict[str, str]  # joints that follow others -> those that they follow
    flexible_joints: tuple[str, ...]  # joints whose motors have coordinates of their own
    nq: int
    nv: int

    def position(self, joint: str) -> slice:
        """Slice of q that belongs to a joint."""
        if joint not in self.positions:
            raise unknown_name(self.owner, "joint", joint, self.positions)
        return self.positions[joint]

    def velocity(self, name: str) -> slice:
        """Slice of v that belongs to `base`, a joint or a wheel."""
        if name not in self.velocities:
            raise unknown_name(self.owner, "velocity", name, self.velocities)
        return self.velocities[name]

    def indices(self, names: Sequence[str]) -> tuple[int, ...]:
        """Indices into v of several joints or wheels, in the order given."""
        return tuple(i for name in names for i in range(self.velocity(name).start, self.velocity(name).stop))

    def reject_followers(self, names: Iterable[str]) -> None:
        """Raise an error for joints that share the coordinate of another; it names that other joint."""
        for name in names:
            if name in self.leaders:
                raise ModelError(
                    f"Joint '{name}' of spacecraft '{self.owner}' follows '{self.leaders[name]}' and has no coordinate "
                    f"of its own. Name '{self.leaders[name]}' instead."
                )

    def require_moving(self, names: Iterable[str]) -> None:
        """Raise an error for names that are not joints with a coordinate."""
        names = tuple(names)
        self.reject_followers(names)
        if unknown := [name for name in names if name not in self.moving_joints]:
            raise unknown_name(self.owner, "moving joint", "', '".join(map(str, unknown)), self.moving_joints)

    @property
    def moving_joints(self) -> tuple[str, ...]:
        """Joints that have a coordinate, in the order of q."""
        return tuple(name for name in self.joints if self.positions[name].stop > self.positions[name].start)

    @property
    def coordinates(self) -> tuple[int, ...]:
        """Indices into v of the rates of q, in the order of q."""
        return self.indices(tuple(self.positions))

    @property
    def joint_positions(self) -> tuple[int, ...]:
        """Indices into q of the joint positions."""
        return tuple(i for name in self.moving_joints for i in range(*self.positions[name].indices(self.nq)))

    @property
    def modes(self) -> tuple[str, ...]:
        """Names of the modal coordinates, one for each flexible body."""
        others = {*self.joints, *map(motor_name, self.flexible_joints)}
        return tuple(name for name in self.positions if name not in others)

    def motor_coordinate(self, joint: str) -> str:
        """Name of the coordinate that the motor of a joint moves: its own, or its motor's where it is flexible."""
        return motor_name(joint) if joint in self.flexible_joints else joint

    def motor_coordinates(self, joints: Iterable[str]) -> tuple[str, ...]:
        """Names of the coordinates that the motors of several joints move."""
        return tuple(map(self.motor_coordinate, joints))

    @property
    def motor_positions(self) -> tuple[int, ...]:
        """Indices into q of the motors of flexible joints."""
        return tuple(self.positions[motor_name(joint)].start for joint in self.flexible_joints)

    @property
    def motor_velocities(self) -> tuple[int, ...]:
        """Indices into v of the motors of flexible joints."""
        return self.indices(self.motor_coordinates(self.flexible_joints))

    @property
    def modal_velocities(self) -> tuple[int, ...]:
        """Indices into v of the modal rates, in the order of q."""
        return self.indices(self.modes)

    @property
    def joint_velocities(self) -> tuple[int, ...]:
        """Indices into v of the joint rates, in the order of `moving_joints`."""
        return self.indices(self.moving_joints)

    @property
    def wheel_velocities(self) -> tuple[int, ...]:
        """Indices into v of the wheel speeds."""
        return self.indices(self.wheels)

    def require_size(self, name: str, value: Any, order: Literal["q", "v"] = "v") -> Any:
        """The value as a vector of floats; raises an error if it is not an array of the length of q or v."""
        size, shape = self.nq if order == "q" else self.nv, getattr(value, "shape", None)
        if shape != (size,):
            place = "position" if order == "q" else "velocity"
            got = f"shape {shape}" if shape is not None else f"a {type(value).__name__}, which is no array"
            raise ModelError(
                f"Spacecraft '{self.owner}': {name} must have {size} numbers, got {got}. "
                f"Order: {', '.join(self.order(order)) or 'none'}{'; the base counts for six' * (order == 'v')}. "
                f"Start from np.zeros(craft.layout.n{order}) and set the entries at craft.layout.{place}(name)."
            )
        return value.astype(float) if value.dtype.kind in "iu" else value

    def order(self, field: str) -> tuple[str, ...]:
        """Names along q or v, for messages."""
        places = self.positions if field == "q" else self.velocities
        return tuple(name for name, s in places.items() if s.stop > s.start)


def layout_of(
    owner: str, bodies: Sequence[RigidBody | ModalBody], joints: Sequence[Joint], wheels: Sequence[Wheel]
) -> Layout:
    """Layout of a tree: numbers the base, then for each body its joint, its modes and its wheels, in tree order."""
    positions: dict[str, slice] = {}
    velocities = {"base": slice(0, 6)}
    nq, nv = 0, 6
    for body, joint in zip(bodies, (None, *joints), strict=True):
        if joint is not None:
            positions[joint.name] = slice(nq, nq + joint.dofs)
            velocities[joint.name] = slice(nv, nv + joint.dofs)
            nq, nv = nq + joint.dofs, nv + joint.dofs
            if joint.flexibility is not None:
                positions[joint.motor], velocities[joint.motor] = slice(nq, nq + 1), slice(nv, nv + 1)
                nq, nv = nq + 1, nv + 1
        if body.modes:
            positions[f"{body.name}.modes"] = slice(nq, nq + body.modes)
            velocities[f"{body.name}.modes"] = slice(nv, nv + body.modes)
            nq, nv = nq + body.modes, nv + body.modes
        for wheel in wheels:
            if wheel.body == body.name:
                velocities[wheel.name] = slice(nv, nv + 1)
                nv += 1
    return Layout(
        owner=owner,
        positions=positions,
        velocities=velocities,
        joints=tuple(j.name for j in joints),
        revolute=tuple(j.name for j in joints if j.kind == "revolute"),
        wheels=tuple(w.name for w in wheels),
        leaders={j.name: j.follows.leader for j in joints if j.follows is not None},
        flexible_joints=tuple(j.name for j in joints if j.flexibility is not None),
        nq=nq,
        nv=nv,
    )

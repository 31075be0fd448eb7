"""Description of a recorded quantity: name, label, unit and axes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Channel:
    """Static description of one recorded quantity."""

    name: str  # dotted: base.position
    label: str  # for plots: "Base position"
    unit: str  # SI: "m", "rad", "N m s"; "1" for pure numbers
    frame: str = ""  # whose axes: "N", "B"; empty where it has none
    axis: str = ""  # name of its component axis; empty for a scalar
    components: tuple[str, ...] = ()  # names along that axis
    flags: tuple[str, ...] = ()  # what its values 0, 1, 2, ... mean
    normal: int = 1  # so many of the flags, from the first on, are normal conditions


XYZ = ("x", "y", "z")
NOT_SEEN_YET = "not seen yet"  # the flag of an estimate before its first measurement: plots leave out its values


def vector(name: str, label: str, unit: str, frame: str) -> Channel:
    """Channel of a three-vector."""
    return Channel(name, label, unit, frame, "xyz", XYZ)


def quaternion(name: str, label: str) -> Channel:
    """Channel of a scalar-first unit quaternion."""
    return Channel(name, label, "1", "N", "wxyz", ("w", "x", "y", "z"))


def flag(name: str, label: str, meanings: tuple[str, ...], axis: str = "", components: tuple[str, ...] = ()) -> Channel:
    """Channel of a condition: 0 is normal, every other value means a fault that `meanings` names."""
    return Channel(name, label, "1", "", axis, components, meanings)


def mode(name: str, label: str, normal: tuple[str, ...], abnormal: tuple[str, ...] = ()) -> Channel:
    """Channel of a mode of operation: the names of its normal values, then those of abnormal ones."""
    return Channel(name, label, "1", flags=(*normal, *abnormal), normal=len(normal))

"""Families of random runs for the audit: one file each."""

from importlib import import_module

from audit_families.family import Family

NAMES = (
    "prescribed_booms",
    "orbiting_groups",
    "contacts",
    "brief_contacts",
    "pulses",
    "full_wheels",
    "tiny_hubs",
    "near_rest",
    "latches",
    "trees",
)


def family(name: str) -> Family:
    """A family by its name."""
    return import_module(f"audit_families.{name}").FAMILY

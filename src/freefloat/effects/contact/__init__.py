"""Compliant contact: shapes, laws of the normal force, friction by bristles, and grasp mechanisms."""

from typing import TYPE_CHECKING

from freefloat.effects.contact.bristles import Bristles
from freefloat.effects.contact.compliant_contact import CompliantContact
from freefloat.effects.contact.contact_pair import ContactForces, ContactPair, ContactPoints
from freefloat.effects.contact.normal_laws import HuntCrossley, KelvinVoigt
from freefloat.lazy_names import renamed_names
from freefloat.model.contact_shapes import ContactBox, ContactCapsule, ContactCone, Plane, Probe, Ring, Sphere

__all__ = [
    "Bristles",
    "CompliantContact",
    "ContactBox",
    "ContactCapsule",
    "ContactCone",
    "ContactForces",
    "ContactPair",
    "ContactPoints",
    "HuntCrossley",
    "KelvinVoigt",
    "Plane",
    "Probe",
    "Ring",
    "Sphere",
]

if not TYPE_CHECKING:  # names of version 0.1
    __getattr__ = renamed_names(
        __name__,
        {
            "Box": "effects.contact.ContactBox",
            "Capsule": "effects.contact.ContactCapsule",
            "Cone": "effects.contact.ContactCone",
            "Touching": "effects.contact.ContactPoints",
        },
    )

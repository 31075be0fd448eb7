"""Compliant contact: shapes, laws of the normal force, friction by bristles, and grasp mechanisms."""

from typing import TYPE_CHECKING

from freefloat.effects.contact.bristles import Bristles
from freefloat.effects.contact.compliant_contact import CompliantContact
from freefloat.effects.contact.contact_pair import ContactForces, ContactPair, ContactPoints
from freefloat.effects.contact.normal_laws import HuntCrossley, KelvinVoigt
from freefloat.model.contact_shapes import ContactBox, ContactCapsule, ContactCone, Plane, Probe, Ring, Sphere
from freefloat.renamed import renamed_names

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

if not TYPE_CHECKING:
    __getattr__ = renamed_names(__name__)

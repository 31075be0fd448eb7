"""Compliant contact: shapes, laws of the normal force, friction by bristles, and grasp mechanisms."""

from freefloat.effects.contact.bristles import Bristles
from freefloat.effects.contact.compliant_contact import CompliantContact
from freefloat.effects.contact.contact_pair import ContactForces, ContactPair, Touching
from freefloat.effects.contact.normal_laws import HuntCrossley, KelvinVoigt
from freefloat.model.contact_shapes import Box, Capsule, Cone, Plane, Probe, Ring, Sphere

__all__ = [
    "Box",
    "Bristles",
    "Capsule",
    "CompliantContact",
    "Cone",
    "ContactForces",
    "ContactPair",
    "HuntCrossley",
    "KelvinVoigt",
    "Plane",
    "Probe",
    "Ring",
    "Sphere",
    "Touching",
]

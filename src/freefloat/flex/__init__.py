"""Offline structures: beams, plates, finite elements and reduced models, all made into `ModalBody`."""

from typing import TYPE_CHECKING

from freefloat.flex.archive import read_matrices, write_matrices
from freefloat.flex.assembly import hold_places, join_structures
from freefloat.flex.beam_mesh import meshed_beam
from freefloat.flex.beams import beam
from freefloat.flex.craig_bampton import craig_bampton
from freefloat.flex.damping import modal_damping, rayleigh_damping, rayleigh_factors, structural_damping
from freefloat.flex.dmig import read_dmig, write_dmig
from freefloat.flex.effective_mass import EffectiveMass, effective_mass
from freefloat.flex.end_conditions import BeamModes, RodModes
from freefloat.flex.labels import LabelledMatrix
from freefloat.flex.matrices import MatrixModel
from freefloat.flex.op4 import read_op4, write_op4
from freefloat.flex.plate_mesh import meshed_plate, plate
from freefloat.flex.reduced import ReducedModel, read_reduced, reduced_model, write_reduced
from freefloat.flex.spectrum import natural_modes
from freefloat.flex.structure import Structure, StructurePlace
from freefloat.flex.truncation import truncate_modes
from freefloat.renamed import renamed_names

__all__ = [
    "BeamModes",
    "EffectiveMass",
    "LabelledMatrix",
    "MatrixModel",
    "ReducedModel",
    "RodModes",
    "Structure",
    "StructurePlace",
    "beam",
    "craig_bampton",
    "effective_mass",
    "hold_places",
    "join_structures",
    "meshed_beam",
    "meshed_plate",
    "modal_damping",
    "natural_modes",
    "plate",
    "rayleigh_damping",
    "rayleigh_factors",
    "read_dmig",
    "read_matrices",
    "read_op4",
    "read_reduced",
    "reduced_model",
    "structural_damping",
    "truncate_modes",
    "write_dmig",
    "write_matrices",
    "write_op4",
    "write_reduced",
]

if not TYPE_CHECKING:
    __getattr__ = renamed_names(__name__)

"""The Shuttle arm grasps a payload: impacts on a flexible arm (Cyril, Jaar and Misra, 1993)."""

from freefloat.scenarios.srms.impact import SrmsNormal, SrmsTangential

__all__ = ["SrmsNormal", "SrmsTangential"]

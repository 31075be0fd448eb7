"""What on-board software and the world say to each other: a contract, its messages, a socket. NumPy is all it needs."""

from freefloat.onboard.contract import Contract, ContractError, Field
from freefloat.onboard.library import SharedLibrary
from freefloat.onboard.measurements import Measured
from freefloat.onboard.program import SoftwareFault
from freefloat.onboard.serve import serve

__all__ = ["Contract", "ContractError", "Field", "Measured", "SharedLibrary", "SoftwareFault", "serve"]

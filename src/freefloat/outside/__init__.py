"""Software that runs outside the compiled simulation, such as flight software: its contract and its messages.

Contract          what a piece of software reads, commands and sends to other software, and how often
ExternalSoftware  the software itself, and how it is connected to an experiment
Program           the software as the package calls it: InProcess, SharedLibrary, HostedSoftware, SoftwareLink
SoftwarePort      the part of the experiment that represents the software: its answers enter the simulation there
BoundSoftware     a program with its complete contract and its port; an ExternalSoftwareRunner calls all of them
"""

from freefloat.lazy_names import lazy_names

# A process of flight software needs the contract and NumPy alone; what binds software to an experiment is loaded later.
__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

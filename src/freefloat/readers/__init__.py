"""Spacecraft from files (URDF, MJCF, SDF), and back into them."""

from freefloat.lazy_names import lazy_names

# Files of robots are read by few: XML and its checks are loaded when they are.
__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

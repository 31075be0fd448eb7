"""Readers of spacecraft files (URDF, MJCF, SDF), and a writer of URDF."""

from freefloat.lazy_names import lazy_names

# Few programs read robot files: the XML modules are loaded when they are first used.
__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

"""Output of runs and maps for people: self-contained pages, figures for papers, files for other programs."""

from freefloat.report.maps import map_page
from freefloat.report.pages import compare, page
from freefloat.report.scene import Scene, scene_of

__all__ = ["Scene", "compare", "map_page", "page", "scene_of"]

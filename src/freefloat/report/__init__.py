"""What people see of a run: the self-contained page, comparisons, figures for papers, files for other programs."""

from freefloat.report.pages import compare, page
from freefloat.report.scene import Scene, scene_of

__all__ = ["Scene", "compare", "page", "scene_of"]

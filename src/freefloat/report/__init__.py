"""Output of runs and maps for people: self-contained pages, figures for papers, files for other programs."""

from freefloat.report.maps import map_page
from freefloat.report.notebook import run_html
from freefloat.report.pages import compare, page
from freefloat.report.paper import ChannelPlot, plot_channels
from freefloat.report.scene import Scene, scene_of

__all__ = ["ChannelPlot", "Scene", "compare", "map_page", "page", "plot_channels", "run_html", "scene_of"]

"""Pictures of a posterior, drawn on matplotlib's Axes; matplotlib is loaded when the first one is drawn."""

from privmix.plots.density import plot_density
from privmix.plots.files import save_figure
from privmix.plots.trace import plot_trace

__all__ = ["plot_density", "plot_trace", "save_figure"]

"""Pictures of a posterior, drawn on matplotlib's Axes; matplotlib is loaded when the first one is drawn."""

from privmix.plots.acceptance import plot_acceptance
from privmix.plots.clusters import plot_clusters
from privmix.plots.comparison import plot_comparison
from privmix.plots.density import plot_density
from privmix.plots.pairs import plot_pairs
from privmix.plots.plan import plot_plan
from privmix.plots.predictive import plot_predictive
from privmix.plots.similarity import plot_similarity
from privmix.plots.style import save_figure
from privmix.plots.trace import plot_trace

__all__ = [
    "plot_acceptance",
    "plot_clusters",
    "plot_comparison",
    "plot_density",
    "plot_pairs",
    "plot_plan",
    "plot_predictive",
    "plot_similarity",
    "plot_trace",
    "save_figure",
]

"""Run a study: a grid of cells, each one file of results, on this machine's processes or on a Dask cluster."""

from privmix.studies.runner.configuration import Configuration, configure, grid, product
from privmix.studies.runner.results import Result, Results
from privmix.studies.runner.run import Report, draw_figures, run_study
from privmix.studies.runner.seeds import derive_seed
from privmix.studies.runner.store import Store
from privmix.studies.runner.study import Study

__all__ = [
    "Configuration",
    "Report",
    "Result",
    "Results",
    "Store",
    "Study",
    "configure",
    "derive_seed",
    "draw_figures",
    "grid",
    "product",
    "run_study",
]

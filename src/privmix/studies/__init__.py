"""Simulation studies: those of the paper and more, each a file, and the runner that serves any.

``privmix study list`` names them.
"""

from privmix.studies.registry import find_study, study_names
from privmix.studies.runner import (
    Configuration,
    Results,
    Study,
    configure,
    derive_seed,
    draw_figures,
    grid,
    product,
    run_study,
)

__all__ = [
    "Configuration",
    "Results",
    "Study",
    "configure",
    "derive_seed",
    "draw_figures",
    "find_study",
    "grid",
    "product",
    "run_study",
    "study_names",
]

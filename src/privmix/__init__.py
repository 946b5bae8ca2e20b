"""Bayesian nonparametric mixtures for data released under differential privacy."""

import importlib
from typing import TYPE_CHECKING, Any

from privmix import kernels, mechanisms, priors, samplers
from privmix.counting import count
from privmix.model import PrivateMixture, default_model
from privmix.posterior import Posterior, load
from privmix.release import Release
from privmix.sampling.sample import fit

if TYPE_CHECKING:
    from privmix import baselines as baselines
    from privmix import plots as plots
    from privmix import report as report
    from privmix.estimator import PrivateMixtureEstimator as PrivateMixtureEstimator
    from privmix.planning import plan as plan

__version__ = "0.1.0"

__all__ = [
    "Posterior",
    "PrivateMixture",
    "Release",
    "baselines",
    "count",
    "default_model",
    "fit",
    "kernels",
    "load",
    "mechanisms",
    "plan",
    "plots",
    "priors",
    "report",
    "samplers",
]


def __dir__() -> list[str]:
    return sorted({*globals(), "PrivateMixtureEstimator", "baselines", "plan", "plots", "report"})


def __getattr__(name: str) -> Any:
    # Imported when asked for: slow to load and, for the estimator, an extra.
    if name in ("baselines", "plots", "report"):
        return importlib.import_module(f"privmix.{name}")
    if name == "PrivateMixtureEstimator":
        return importlib.import_module("privmix.estimator").PrivateMixtureEstimator
    if name == "plan":
        return importlib.import_module("privmix.planning").plan
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

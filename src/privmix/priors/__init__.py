"""Priors: the law of the mixing measure."""

from privmix.priors.base import Prior as Prior
from privmix.priors.dirichlet import Dirichlet as Dirichlet
from privmix.priors.dirichlet_process import DirichletProcess as DirichletProcess
from privmix.priors.finite_mixture import FiniteMixture as FiniteMixture
from privmix.priors.pitman_yor import PitmanYor as PitmanYor

# One line above exports a part: `X as X` says so to type checkers, and this to everything else.
__all__ = sorted(name for name, value in globals().items() if isinstance(value, type))

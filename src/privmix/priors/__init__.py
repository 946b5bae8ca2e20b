"""Priors: the law of the mixing measure."""

from privmix.priors.base import Prior
from privmix.priors.dirichlet_process import DirichletProcess

__all__ = ["DirichletProcess", "Prior"]

"""Checks of a fit: did the chains converge, does the model fit, does the release say anything beyond the prior."""

from privmix.checks.check import Finding
from privmix.checks.informativeness import Informativeness

__all__ = ["Finding", "Informativeness"]

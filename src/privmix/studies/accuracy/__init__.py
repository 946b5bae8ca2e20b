"""Ours against what people would use instead, on the same data."""

from privmix.studies.accuracy.cell import cell
from privmix.studies.accuracy.configuration import Configuration
from privmix.studies.accuracy.figures import figures
from privmix.studies.runner import Study

study = Study(
    "accuracy", "The error of privmix.fit against every baseline, on the same data", Configuration, cell, figures
)

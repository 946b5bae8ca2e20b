"""Appendix C of the paper: synthetic draws from a smoothed histogram of three betas."""

from privmix.studies.global_release.cell import cell
from privmix.studies.global_release.configuration import Configuration
from privmix.studies.global_release.figures import figures
from privmix.studies.runner import Study

study = Study(
    "global",
    "Appendix C: one release of all records, by sampling from a smoothed histogram",
    Configuration,
    cell,
    figures,
)

"""Section 4.3 of the paper: samplers that integrate the records out, under Gaussian noise."""

from privmix.studies.gaussian.cell import cell
from privmix.studies.gaussian.configuration import Configuration
from privmix.studies.gaussian.figures import figures
from privmix.studies.runner import Study

study = Study(
    "gaussian",
    "Section 4.3: Neal 2 and Neal 3 without records against private Neal 5, under Gaussian noise.",
    Configuration,
    cell,
    figures,
)
